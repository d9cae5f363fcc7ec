"""VRM animations as three-vrm, pixiv's player, plays them on avatars of VRM 0 and VRM 1."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from takt.benchmarks import three_vrm_player
from takt.core.clips.clip import Clip
from takt.core.clips.clip_file import ClipFile
from takt.core.formats import gltf
from takt.core.formats.format import Source
from takt.core.formats.vrma_write import bones_of, write
from takt.core.maths import rotations as rot
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.beside import missing
from takt.tests.core import test_vrm
from takt.tests.core.gltf_files import packed
from takt.tests.core.test_x3d_write import dance

TURNED_DEG, PLACED_M = 0.1, 1e-3
TIMES = tuple(float(time) for time in np.linspace(0.0, 1.2, 15))
MORE = {"neck": ("upperChest", (0.0, 0.2, 0.0)), "chest": ("spine", (0.0, 0.12, 0.01)),
        "upperChest": ("chest", (0.0, 0.12, -0.01))} | {
    f"{side}{bone}": (side + above if above != "upperChest" else above, (way[0] * sign, *way[1:]))
    for side, sign in (("left", 1.0), ("right", -1.0)) for bone, above, way in (
        ("Shoulder", "upperChest", (0.05, 0.15, 0.0)), ("Toes", "Foot", (0.0, -0.05, 0.12)),
        ("IndexProximal", "Hand", (0.08, 0.0, 0.02)), ("IndexIntermediate", "IndexProximal", (0.04, 0.0, 0.0)),
        ("ThumbProximal", "Hand", (0.03, -0.01, 0.03)))}
MOVED = {"head": ("neck", (0.0, 0.1, 0.0))} | {f"{side}UpperArm": (f"{side}Shoulder", (0.12 * sign, 0.0, 0.0))
                                               for side, sign in (("left", 1.0), ("right", -1.0))}


def avatar(version: int, seed: int = 0) -> bytes:
    """Return an avatar in a T-pose: of version 1 with bones that have axes of their own, of version 0 facing −Z.

    A node that is no bone lies between the left lower arm and its hand.
    """
    rng = np.random.default_rng(seed)
    bones = {bone: (test_vrm.ABOVE.get(bone), way) for bone, way in test_vrm.BONES.items()} | MORE | MOVED
    bones["leftHand"] = ("twist", bones["leftHand"][1])
    bones["twist"] = ("leftLowerArm", (0.0, 0.0, 0.0))
    names = list[str]()
    while len(names) < len(bones):
        names += [bone for bone, (above, _) in bones.items() if bone not in names and (above is None or above in names)]
    facing = rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), np.pi if version == 0 else 0.0)
    turns = {name: rot.IDENTITY if version == 0 else rot.from_axis_angle(axis / np.linalg.norm(axis), angle)
             for name, axis, angle in zip(names, rng.normal(size=(len(names), 3)), rng.uniform(0, 3, len(names)),
                                          strict=True)}
    nodes: list[dict[str, Any]] = []
    for name in names:
        above, way = bones[name]
        outer = turns[above] if above is not None else rot.IDENTITY
        back = rot.conjugate(outer)
        nodes.append({"name": f"N_{name}", "translation": rot.rotate(back, rot.rotate(facing, np.array(way))).tolist(),
                      "rotation": np.roll(rot.multiply(back, turns[name]), -1).tolist()})
        if above is not None:
            nodes[names.index(above)].setdefault("children", []).append(len(nodes) - 1)
    table = {name: {"node": number} for number, name in enumerate(names) if name != "twist"}
    if version == 0:
        for side in ("left", "right"):
            table[f"{side}ThumbIntermediate"] = table.pop(f"{side}ThumbProximal")
        said: dict[str, Any] = {"VRM": {"specVersion": "0.0", "meta": {"title": "A"}, "humanoid": {
            "humanBones": [{"bone": bone, **entry} for bone, entry in table.items()]}}}
    else:
        said = {"VRMC_vrm": {"specVersion": "1.0", "humanoid": {"humanBones": table}, "meta": {
            "name": "A", "authors": ["A"], "licenseUrl": "https://vrm.dev/licenses/1.0/"}}}
    document = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
                "extensionsUsed": list(said), "extensions": said}
    return packed(json.dumps(document).encode(), b"")


def body_of(data: bytes) -> Skeleton:
    return gltf.read(Source(data, Path("a.vrm"))).skeleton


def moving(skeleton: Skeleton, seed: int) -> Clip:
    """Return a clip in which all bones of a human turn, and the hips move."""
    clip = dance(seed, skeleton)
    bones = set(bones_of(find_map(skeleton)).values())
    kept = [joint for joint in range(len(skeleton)) if joint in bones]
    times = clip.rotations.times_s[:40]
    pose = clip.sample(times)
    pose.rotations[:, [joint for joint in range(len(skeleton)) if joint not in bones]] = rot.IDENTITY
    tracks = type(clip.rotations).uniform(np.array(kept), times, pose.rotations[:, kept])
    return Clip(clip.name, skeleton, clip.duration_s, tracks, clip.translations, clip.scales)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("version", [0, 1])
def test_three_vrm_plays_what_is_written(version: int, seed: int) -> None:
    """The avatar's own motion, written as .vrma, is the same motion when three-vrm plays it on that avatar."""
    if three_vrm_player.missing():
        missing(three_vrm_player.missing())
    data = avatar(version, seed)
    clip = moving(body_of(data), seed)
    found = three_vrm_player.played(data, write(ClipFile(clip.skeleton, (clip,))), TIMES)
    assert found["meta"] == str(version)
    turned, placed = three_vrm_player.farthest(clip, found, TIMES)
    assert turned < TURNED_DEG and placed < PLACED_M


@pytest.mark.slow
@pytest.mark.parametrize("version", [0, 1])
def test_takt_plays_a_motion_as_three_vrm_does(version: int) -> None:
    """One that was made on the avatar of the other version, read from its .vrma."""
    if three_vrm_player.missing():
        missing(three_vrm_player.missing())
    source, data = body_of(avatar(1 - version, 5)), avatar(version, 6)
    motion = write(ClipFile(source, (moving(source, 3),)))
    (read,) = gltf.read(Source(motion, Path("a.vrma"))).clips
    target = body_of(data)
    turn = find_map(target).turn
    assert turn is not None
    played = retarget(read, target, turn).clip
    turned, placed = three_vrm_player.farthest(played, three_vrm_player.played(data, motion, TIMES), TIMES)
    assert turned < TURNED_DEG and placed < PLACED_M


def test_the_avatars_are_understood() -> None:
    for version in (0, 1):
        found = find_map(body_of(avatar(version)))
        assert found.is_sure and {"leftThumbProximal" if version else "leftThumbMetacarpal", "upperChest",
                                  "rightToes"} - set(bones_of(found)) <= {"leftThumbProximal", "leftThumbMetacarpal"}
