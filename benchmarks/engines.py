"""A library of procedures exported for game engines, and where other programs have its joints: bench engines.

A library of 24 procedures is made of the sample's clips, and exported for the sample's character as glTF and FBX.
Blender's importers, three.js' AnimationMixer (in node) and assimp then play it; names, lengths and joints, at every
frame, are compared with Takt's own motion. Prints a row for each; exits with 1 where one differs by more than it may.
Needs node and three.js (npm ci --prefix benchmarks/three_vrm) and assimp (Debian: assimp-utils).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import bpy
import checkout
import numpy as np

import takt
from takt.benchmarks.timing import say
from takt.bridge import properties
from takt.bridge.actions import procedure_actions
from takt.bridge.scores import performing, texts
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples import dancer

JOINTS: Final = 1e-4
"""Of the height, at every frame."""
LENGTH_FRAMES: Final = 0.5
EXPORT_S: Final = 10.0
COUNT: Final = 24
FPS: Final = 24
THREE: Final = Path(__file__).resolve().parent / "three_vrm"
_CLIPS: Final = ("feet.Steps.left_step", "feet.Steps.right_step", "feet.Steps.side_step_left",
                 "feet.Steps.side_step_right", "dance.Moves.sway", "dance.Moves.kick_left", "dance.Moves.squat",
                 "dance.Moves.hip_circle", "dance.Moves.arms_up", "gestures.Greetings.wave", "gestures.Greetings.bow")
Played = Mapping[str, tuple[float, FloatArray]]
"""Seconds, and where joints are at each frame (F, J, 3), in metres and Blender's axes, of animations by name."""


def main() -> int:
    """Export, and compare."""
    if not shutil.which("node") or not shutil.which("assimp") or not (THREE / "node_modules").is_dir():
        say("node, assimp or three.js is missing: apt install nodejs assimp-utils; "
            "npm ci --prefix benchmarks/three_vrm")
        return 2
    bpy.ops.wm.read_factory_settings(use_empty=True)
    takt.register()
    armature, _ = dancer.bound_dancer()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        score = Path(folder) / "library.pha"
        score.write_text(library(), encoding="utf-8")
        bpy.ops.takt.import_pha(filepath=str(score), library=str(dancer.LIBRARY),  # type: ignore[attr-defined]
                                procedure="walk 01")
        bpy.context.scene.render.fps = FPS  # type: ignore[union-attr]
        names = tuple(bone.name for bone in armature.data.bones)
        ours = by_takt(armature, names)
        frames = sum(len(places) for _, places in ours.values())
        files = []
        for ending in (".glb", ".fbx"):
            files.append(Path(folder) / f"library{ending}")
            began_s, processor_s = time.perf_counter(), time.process_time()
            bpy.ops.takt.export_procedures(filepath=str(files[-1]))  # type: ignore[attr-defined]
            took_s, processor_s = time.perf_counter() - began_s, time.process_time() - processor_s
            say(f"{ending}: {len(ours)} procedures, {frames:,} frames, {len(names)} bones: {took_s:.1f} s "
                f"(≤ {EXPORT_S:g} s), of the processor {processor_s:.1f} s")
            failed |= took_s > EXPORT_S
        for path in files:
            for called, read in READERS.items():
                failed |= differs(f"{path.suffix} {called}", ours, read(path, names))
    return int(failed)


def library() -> str:
    """Return a score of procedures that each play three clips in two to four seconds."""
    random = np.random.default_rng(38)
    loads = "".join(f'<load src="{src}"/>' for src in ("feet.Steps", "dance.Moves", "gestures.Greetings"))
    written = []
    for number in range(COUNT):
        calls = "".join(f'<call name="{clip}" duration="{random.uniform(0.7, 1.3):.3f}"/>'
                        for clip in random.choice(_CLIPS, 3))
        written.append(f'<procedure name="walk {number + 1:02}">{calls}</procedure>')
    return f'<pha tickLength="1">{loads}{"".join(written)}</pha>'


def by_takt(armature: Any, names: tuple[str, ...]) -> Played:
    """Play the procedures as they are exported."""
    character, found = properties.character(armature), {}
    assert character.text is not None
    for name in procedure_actions.names_of(armature):
        motion = performing.perform_score(texts.said(character.text), properties.score_path(character), character,
                                          armature, {"procedure": name}).motion
        assert motion is not None
        last = round(motion.duration_s * FPS)
        world = world_from_pose(motion.skeleton, motion.sample(np.arange(last + 1) / last * motion.duration_s))
        order = [motion.skeleton.names.index(bone) for bone in names]
        found[name] = motion.duration_s, world[..., 3][:, order]
    return found


def by_blender(path: Path, names: tuple[str, ...]) -> Played:
    """Import a file into an empty Blender."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene: Any = bpy.context.scene
    scene.render.fps = FPS
    if path.suffix == ".glb":
        bpy.ops.import_scene.gltf(filepath=str(path))
    else:
        bpy.ops.import_scene.fbx(filepath=str(path))
    scene.render.fps = FPS
    rig: Any = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    for track in list(rig.animation_data.nla_tracks):
        rig.animation_data.nla_tracks.remove(track)
    found = {}
    actions: Any = bpy.data.actions
    for action in actions:
        rig.animation_data.action, rig.animation_data.action_slot = action, action.slots[0]
        first, last = action.frame_range
        places = []
        for frame in range(round(first), round(last) + 1):
            scene.frame_set(frame)
            places.append([tuple(rig.matrix_world @ rig.pose.bones[name].head) for name in names])
        # The importers call Actions after the armature, too.
        name = action.name.split("|")[1] if "|" in action.name else action.name.removesuffix(f"_{rig.name}")
        found[name] = (last - first) / FPS, np.array(places)
    return found


def by_three(path: Path, names: tuple[str, ...]) -> Played:
    """Let three.js play a file."""
    said = subprocess.run(["node", THREE / "joints.mjs", path, str(FPS)], capture_output=True, text=True, check=True)
    metres = 1.0 if path.suffix == ".glb" else 0.01  # it leaves FBX's centimetres
    return {each["name"]: (each["seconds"], metres * _from_y_up(np.array(
        [[frame[name] for name in names] for frame in each["frames"]]))) for each in json.loads(said.stdout)}


def by_assimp(path: Path, names: tuple[str, ...]) -> Played:
    """Let assimp read a file, and follow its tree of nodes at each frame."""
    dump = path.with_suffix(f"{path.suffix}.assxml")
    subprocess.run(["assimp", "dump", path, dump], check=True, capture_output=True)
    root = ET.parse(dump).getroot()  # written by assimp just now
    top = root.find("Scene/Node")
    assert top is not None
    metres = 1.0 if path.suffix == ".glb" else 0.01
    found = {}
    for animation in root.iter("Animation"):
        per_s = float(animation.attrib["tick_cnt"])
        seconds = float(animation.attrib["duration"]) / per_s
        times = np.arange(round(seconds * FPS) + 1) / FPS
        tracks = {each.attrib["node"]: _local(each, times * per_s) for each in animation.iter("NodeAnim")}
        places = _places(top, np.eye(4)[None], tracks)
        found[animation.attrib["name"]] = seconds, metres * _from_y_up(np.stack([np.broadcast_to(
            places[name], (len(times), 3)) for name in names], axis=1))
    return found


def _local(track: ET.Element, ticks: FloatArray) -> FloatArray:
    """Return a node's matrices (F, 4, 4) at times."""
    def keys(name: str) -> tuple[FloatArray, FloatArray]:
        found = list(track.iter(name))
        return (np.array([float(key.attrib["time"]) for key in found]),
                np.array([[float(number) for number in (key.text or "").split()] for key in found]))

    def linear(name: str) -> FloatArray:
        at, values = keys(name)
        return np.stack([np.interp(ticks, at, values[:, axis]) for axis in range(3)], axis=1)

    at, turns = keys("RotationKey")
    turns = np.roll(turns, 1, axis=1)  # written x, y, z, w
    before = np.clip(np.searchsorted(at, ticks, side="right") - 1, 0, max(len(at) - 2, 0))
    after = np.minimum(before + 1, len(at) - 1)
    share = np.clip((ticks - at[before]) / np.maximum(at[after] - at[before], 1e-9), 0.0, 1.0)
    matrices = np.zeros((len(ticks), 4, 4))
    matrices[:, :3, :3] = rot.to_matrix(rot.slerp(rot.normalized(turns[before]), rot.normalized(turns[after]), share))
    matrices[:, :3, :3] *= linear("ScalingKey")[:, None, :]
    matrices[:, :3, 3], matrices[:, 3, 3] = linear("PositionKey"), 1.0
    return matrices


def _places(node: ET.Element, above: FloatArray, tracks: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return where a node and all below it are, (F, 3) or (1, 3), by name."""
    matrix = node.find("Matrix4")
    assert matrix is not None
    own = np.array((matrix.text or "").split(), dtype=np.float64).reshape(1, 4, 4)
    world = above @ tracks.get(node.attrib["name"], own)
    found = {node.attrib["name"]: world[:, :3, 3]}
    for child in node.iterfind("NodeList/Node"):
        found |= _places(child, world, tracks)
    return found


def _from_y_up(points: FloatArray) -> FloatArray:
    return np.stack((points[..., 0], -points[..., 2], points[..., 1]), axis=-1)


READERS: Final[Mapping[str, Callable[[Path, tuple[str, ...]], Played]]] = {
    "three.js": by_three, "assimp": by_assimp, "Blender": by_blender}


def differs(what: str, ours: Played, theirs: Played) -> bool:
    """Compare, and print a row; return whether anything differs by more than it may."""
    shared = ours.keys() & theirs.keys()
    length = max((abs(ours[name][0] - theirs[name][0]) * FPS for name in shared), default=np.inf)
    height = max(float(np.ptp(places[0, :, 2])) for _, places in ours.values())
    apart = max((float(np.linalg.norm(ours[name][1] - theirs[name][1], axis=-1).max()) / height
                 if len(ours[name][1]) == len(theirs[name][1]) else np.inf for name in shared), default=np.inf)
    odd = ", ".join(sorted(ours.keys() ^ theirs.keys())) or "none"
    say(f"{what:14}: {len(shared)} names, others: {odd}; lengths {length:.2f} frames apart (≤ {LENGTH_FRAMES:g}), "
        f"joints {apart:.1e} of the height (≤ {JOINTS:g})")
    return odd != "none" or length > LENGTH_FRAMES + 1e-6 or apart > JOINTS


if __name__ == "__main__":
    checkout.run(main)
