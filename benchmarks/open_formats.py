"""How long files of open formats take: bench open_formats writes and reads a dance of 72 s on 65 joints.

X3D has a skin besides. Prints, for each format and way of motion, seconds of the processor for writing and for reading,
best of three, and the size of the file; exits with 1 where a limit is passed. COLLADA is read alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from takt.benchmarks.timing import say, seconds
from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.clip_file import ClipFile
from takt.core.formats import FORMATS, collada, usd, x3d
from takt.core.formats.character import Look
from takt.core.formats.format import Source
from takt.core.formats.x3d_write import X3dFile, X3dSkin, write
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Skeleton
from takt.core.skinning.influences import Influences
from takt.samples.skeleton import build_skeleton
from takt.tests.core import collada_files, usd_files

SECONDS, FPS, JOINTS, VERTICES = 72, 30, 65, 12_000
WRITE_S, WRITE_TEXT_S, READ_S = 1.0, 3.0, 1.5


def dance(skeleton: Skeleton) -> Clip:
    """Turn every joint in every frame, and move the first."""
    times = np.arange(SECONDS * FPS + 1) / FPS
    axes = np.random.default_rng(0).normal(size=(len(skeleton), 3))
    angles = 0.5 * np.sin(times[:, None] * (1.0 + np.arange(len(skeleton)) / 20.0))
    turns = rot.from_axis_angle(np.broadcast_to(axes, (*angles.shape, 3)), angles)
    path = np.stack((np.sin(times), 0.0 * times, np.cos(times)), axis=1)[:, None]
    return Clip("dance", skeleton, float(times[-1]), Tracks.uniform(np.arange(len(skeleton)), times, turns),
                Tracks.uniform(np.zeros(1, np.int64), times, path), Tracks.empty(3))


def skin(joints: int) -> X3dSkin:
    """Return points in a cloud, each moved by four joints, with two triangles for each."""
    rng = np.random.default_rng(1)
    normals = rng.normal(size=(VERTICES, 3))
    weights = rng.dirichlet(np.ones(4), VERTICES)
    return X3dSkin(rng.normal(size=(VERTICES, 3)), normals / np.linalg.norm(normals, axis=1, keepdims=True),
                   rng.integers(0, VERTICES, (2 * VERTICES, 3)),
                   Influences(rng.integers(0, joints, (VERTICES, 4)), weights), np.zeros(2 * VERTICES, np.int64),
                   (Look("Skin"),))


def in_collada(clip: Clip) -> bytes:
    """Return a clip as COLLADA, a matrix for each joint and frame."""
    skeleton, times = clip.skeleton, clip.rotations.times_s[:SECONDS * FPS + 1]
    pose = clip.sample(times)
    matrices = np.tile(np.eye(4), (*pose.rotations.shape[:2], 1, 1))
    matrices[..., :3, :3] = rot.to_matrix(pose.rotations)
    matrices[..., :3, 3] = skeleton.rest_translations + pose.translations
    inner = [""] * len(skeleton)
    for joint in range(len(skeleton) - 1, -1, -1):
        inside = collada_files.as_matrix(skeleton.rest_translations[joint].tolist()) + inner[joint]
        made = collada_files.node(skeleton.names[joint], inside)
        if skeleton.parents[joint] >= 0:
            inner[skeleton.parents[joint]] += made
    moves = "".join(collada_files.animation(f"a{joint}", f"{name}_id/transform", times, matrices[:, joint])
                    for joint, name in enumerate(skeleton.names))
    return collada_files.document(made, moves)


def in_usd(clip: Clip) -> bytes:
    """Return a clip as text of USD, with rotations of all joints and translations at each frame."""
    skeleton, times = clip.skeleton, clip.rotations.times_s[:SECONDS * FPS + 1]
    pose = clip.sample(times)
    paths = list[str]()
    for joint, name in enumerate(skeleton.names):
        above = int(skeleton.parents[joint])
        paths.append(f"{paths[above]}/{name}" if above >= 0 else name)
    ways = skeleton.rest_translations + pose.translations

    def samples(values: FloatArray) -> str:
        row = "(" + ", ".join(["%.7g"] * values.shape[2]) + ")"
        whole = "[" + ", ".join([row] * values.shape[1]) + "]"
        return "".join(f"{number}: {whole % tuple(each.ravel().tolist())},\n" for number, each in enumerate(values))

    matrices = np.tile(np.eye(4), (len(paths), 1, 1))
    matrices[:, 3, :3] = skeleton.rest_world[:, :, 3]
    return (f'#usda 1.0\n(\n metersPerUnit = 1\n timeCodesPerSecond = {FPS}\n)\ndef Skeleton "Rig"\n{{\n'
            f"uniform token[] joints = {usd_files.names(paths)}\n"
            f"uniform matrix4d[] bindTransforms = {usd_files.array(matrices)}\n"
            'rel skel:animationSource = </Rig/Dance>\ndef SkelAnimation "Dance"\n{\n'
            f"uniform token[] joints = {usd_files.names(paths)}\nquatf[] rotations.timeSamples = {{\n"
            f"{samples(pose.rotations)}}}\nfloat3[] translations.timeSamples = {{\n{samples(ways)}}}\n}}\n}}\n"
            ).encode()


def main() -> int:
    """Measure."""
    body = build_skeleton().with_model_axes()
    body = body.part(np.arange(len(body))[:JOINTS])
    file = X3dFile(body, (dance(body),), skin=skin(len(body)))
    frames = X3dFile(file.skeleton, file.clips, skin=file.skin, as_frames=True)
    classic = FORMATS["X3D_CLASSIC"]
    assert classic.write is not None and classic.read is not None and x3d.FORMAT.read_characters is not None
    to_classic, of_classic, of_character = classic.write, classic.read, x3d.FORMAT.read_characters
    ways: dict[str, tuple[Callable[[], bytes], Callable[[bytes], object], float]] = {
        "X3D, interpolators": (lambda: write(file, FPS), lambda data: x3d.read(data, Path("a.x3d")), WRITE_TEXT_S),
        "X3D, HAnimMotion": (lambda: write(frames, FPS), lambda data: x3d.read(data, Path("a.x3d")), WRITE_TEXT_S)}
    moves, vrma = ClipFile(file.skeleton, file.clips), FORMATS["VRMA"]
    if vrma.write and vrma.read:
        to_vrma, of_vrma = vrma.write, vrma.read
        ways["VRMA"] = (lambda: to_vrma(moves, FPS), lambda data: of_vrma(Source(data, Path("a.vrma"))), WRITE_S)
    ways["X3D classic"] = (lambda: to_classic(file, FPS), lambda data: of_classic(Source(data, Path("a.x3dv"))),
                           WRITE_TEXT_S)
    ways["X3D, as a character"] = (lambda: write(file, FPS), lambda data: of_character(Source(data, Path("a.x3d"))),
                                   WRITE_TEXT_S)
    text = in_usd(file.clips[0])
    ways["USD, text"] = (lambda: text, lambda data: usd.read(data, Path("a.usda")), WRITE_S)
    dae = in_collada(file.clips[0])
    ways["COLLADA"] = (lambda: dae, lambda data: collada.read(data, Path("a.dae")), WRITE_S)
    failed = False
    for name, (make, read, limit) in ways.items():
        data = make()
        writing, reading = seconds(make, 3), seconds(lambda read=read, data=data: read(data), 3)  # type: ignore[misc]
        failed |= writing > limit or reading > READ_S
        say(f"{name:20} written in {writing:.2f} s (≤ {limit:g}), read in {reading:.2f} s (≤ {READ_S:g}), "
            f"{len(data) / 2**20:.1f} MiB")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
