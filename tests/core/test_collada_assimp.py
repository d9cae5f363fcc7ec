"""COLLADA as assimp reads it: joints of files made by hand, in all axes, by matrices and by channels."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.formats import collada, collada_character, gltf
from takt.core.formats.format import Source
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.beside import assimp
from takt.tests.core.collada_files import (
    JOINTS,
    animation,
    as_channels,
    as_matrix,
    document,
    dressed,
    leg,
    node,
    translated,
)
from takt.tests.core.test_characters import skinned

SAME = 1e-4
"""Of the height."""
FINGERS = "".join(node(f"Finger{i}", as_matrix((0.1 * i, 0.0, 0.1))) for i in range(6))
"""Our reader of glTF wants eight joints to take what has no skin for a body."""
TIMES = np.arange(25) / 24.0


def through_assimp(data: bytes, folder: Path) -> Clip:
    """Return what assimp makes of a file, by way of glTF."""
    source, target = folder / "a.dae", folder / "a.glb"
    source.write_bytes(data)
    command = [assimp(), "export", str(source), str(target), "-fglb2"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return gltf.read(Source(target.read_bytes(), target)).clips[0]


def file_of(kind: str, up: str, meter: float, seed: int) -> bytes:
    """Return a leg that turns and moves, with keys in each frame."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(-60, 60, (len(JOINTS), 3))[:, None] * np.sin(3.0 * TIMES)[:, None]
    ways = np.array(list(JOINTS.values()))[:, None] + 0.1 * np.sin(2.0 * TIMES)[:, None] * rng.normal(size=(5, 1, 3))
    moves, nodes = "", {}
    for joint, (name, way) in enumerate(JOINTS.items()):
        nodes[name] = as_matrix(way) if kind == "matrices" else as_channels(way)
        if kind == "matrices":
            turns = [rot.from_axis_angle(np.eye(3)[axis], np.radians(angles[joint, :, axis])) for axis in range(3)]
            matrices = np.array([translated(each) for each in ways[joint]])
            matrices[:, :3, :3] = rot.to_matrix(rot.multiply(rot.multiply(turns[2], turns[1]), turns[0]))
            moves += animation(name, f"{name}_id/transform", TIMES, matrices)
        else:
            moves += animation(f"{name}m", f"{name}_id/translate", TIMES, ways[joint])
            for axis, letter in enumerate("XYZ"):
                moves += animation(name + letter, f"{name}_id/rotate{letter}.ANGLE", TIMES, angles[joint, :, axis])
    nodes["Toes"] += FINGERS
    return document(node("Rig", leg(nodes), "NODE"), f'<animation id="all">{moves}</animation>', up=up, meter=meter)


def places(clip: Clip, times: FloatArray) -> dict[str, FloatArray]:
    world = world_from_pose(clip.skeleton, clip.sample(times))[..., 3]
    return {name.removesuffix("_id"): world[:, joint] for joint, name in enumerate(clip.skeleton.names)}


@pytest.mark.parametrize("kind", ["matrices", "channels"])
@pytest.mark.parametrize(("up", "meter"), [("Y_UP", 1.0), ("Z_UP", 1.0), ("X_UP", 1.0), ("Z_UP", 0.0254)])
def test_joints_are_where_assimp_has_them(kind: str, up: str, meter: float, tmp_path: Path) -> None:
    data = file_of(kind, up, meter, seed=3)
    ours, theirs = places(collada.read(data).clips[0], TIMES), places(through_assimp(data, tmp_path), TIMES)
    height = float(np.ptp(np.concatenate(list(ours.values())), axis=0).max())
    shared = [name for name in JOINTS if name in theirs]
    assert len(shared) == len(JOINTS)
    factor = np.linalg.norm(theirs["Leg"][0] - theirs["Hips"][0]) / np.linalg.norm(ours["Leg"][0] - ours["Hips"][0])
    for name in shared:  # assimp may leave the unit to whoever reads its result
        np.testing.assert_allclose(theirs[name] / factor, ours[name], atol=SAME * height, err_msg=name)


def assimp_skins(path: Path, times: FloatArray) -> list[FloatArray]:
    """Return where vertices (V, F, 3) of the skins of a file of glTF are, as its own accessors say."""
    data = path.read_bytes()
    length = int.from_bytes(data[12:16], "little")
    top, body = json.loads(data[20:20 + length]), data[28 + length:]

    def accessor(number: int) -> FloatArray:
        own = top["accessors"][number]
        view = top["bufferViews"][own["bufferView"]]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}[own["type"]]
        kind = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}[own["componentType"]]
        begin = view.get("byteOffset", 0) + own.get("byteOffset", 0)
        return np.frombuffer(body, kind, own["count"] * width, begin).reshape(-1, width).astype(np.float64)

    clip = gltf.read(Source(data, path)).clips[0]
    world = world_from_pose(clip.skeleton, clip.sample(times))
    found = []
    for entry in top["nodes"]:
        if "skin" in entry:
            skin = top["skins"][entry["skin"]]
            inverse = accessor(skin["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2)
            own = [clip.skeleton.index_of[top["nodes"][joint]["name"]] for joint in skin["joints"]]
            palette = world[:, own] @ inverse
            for part in top["meshes"][entry["mesh"]]["primitives"]:
                points = np.column_stack((accessor(part["attributes"]["POSITION"]), np.ones(
                    top["accessors"][part["attributes"]["POSITION"]]["count"])))
                joints = accessor(part["attributes"]["JOINTS_0"]).astype(int)
                weights = accessor(part["attributes"]["WEIGHTS_0"])
                found.append(np.einsum("vk,fvkab,vb->vfa", weights, palette[:, joints], points))
    return found


@pytest.mark.parametrize(("up", "meter"), [("Y_UP", 1.0), ("Z_UP", 1.0), ("X_UP", 1.0)])
def test_skins_are_where_assimp_has_them(up: str, meter: float, tmp_path: Path) -> None:
    """Several skins, over other joints in another order; assimp writes one inverse bind matrix for each joint."""
    data, times = dressed(up=up, meter=meter, shift=(0.0, 0.0, 0.0)), np.array((0.0, 0.5, 1.0))
    through_assimp(data, tmp_path)
    theirs = np.concatenate(assimp_skins(tmp_path / "a.glb", times))
    (character,) = collada_character.read(data).characters
    ours = np.concatenate([np.stack([skinned(character, number, time) for time in times.tolist()], axis=1)
                           for number in range(2)])
    # assimp doubles vertices where corners differ: each of ours is one of theirs, at all times
    distances = np.abs(ours[:, None] - theirs[None]).max(axis=(2, 3)).min(axis=1)
    assert len(ours) == 48 and distances.max() < SAME
