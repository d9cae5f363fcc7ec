"""Humanoids of each level of articulation of H-Anim, in each encoding: written, read, and understood joint by joint."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.clip_file import ClipFile
from takt.core.formats import x3d
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons import hanim
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.skeleton import rest_positions
from takt.tests.beside import x3d_package
from takt.tests.core.x3d_files import clock, driven, humanoid, in_classic, in_vrml, in_xml, joint, turning

_FACE = re.compile(r"(eye|temporo)")
_FEW_VERTEBRAE = ("vl5", "vl3", "vl1", "vt10", "vt6", "vt1", "vc4", "vc2")
_LEVEL_1 = ("HumanoidRoot", "sacroiliac", "vl5", "skullbase", *(f"{side}_{name}" for side in "lr" for name in (
    "hip", "knee", "ankle", "metatarsal", "shoulder", "elbow", "wrist")))
LEVELS = {0: ("HumanoidRoot",), 1: _LEVEL_1,
          2: tuple(name for name in hanim.PARENTS if not _FACE.search(name)
                   and (name not in hanim.SPINE or name in _FEW_VERTEBRAE)),
          3: tuple(hanim.PARENTS)}
"""The joints of each level below 4, by the names of version 1: ISO/IEC 19774:2006, annex A."""
_FOOT = {1: ("cuneonavicular", "tarsometatarsal", "metatarsophalangeal", "tarsal_interphalangeal"),
         **dict.fromkeys((2, 3), ("cuneonavicular", "tarsometatarsal", "metatarsophalangeal",
                                  "tarsal_proximal_interphalangeal", "tarsal_distal_interphalangeal")),
         **dict.fromkeys((4, 5), ("tarsometatarsal", "metatarsophalangeal", "tarsal_proximal_interphalangeal",
                                  "tarsal_distal_interphalangeal"))}
"""The joints of each toe, of level 4; ISO/IEC 19774-1:2019, 4.8 and annex A."""


def version_2(level: int) -> dict[str, str]:
    """Return the parent of each joint of a level by its name in version 2, "" for none."""
    newer = {old: new for new, old in hanim.VERSION_2.items()}
    found: dict[str, str] = {}
    for name in LEVELS[min(level, 3)]:
        above = hanim.PARENTS[name]
        while above is not None and above not in LEVELS[min(level, 3)]:
            above = hanim.PARENTS[above]
        found[newer.get(name, name)] = newer.get(above, above) if above is not None else ""
    return found if level < 4 else _with_hands_and_feet(found)


def _with_hands_and_feet(found: dict[str, str]) -> dict[str, str]:
    """Give level 3 all joints of the tarsus and the carpus."""
    found = {name: above for name, above in found.items()
             if not re.search(r"subtalar|talocalcaneo|transversetarsal|metatarsophalangeal", name)}
    for side in "lr":
        found |= {f"{side}_talocalcaneonavicular": f"{side}_talocrural", f"{side}_calcaneocuboid": f"{side}_talocrural",
                  f"{side}_transversetarsal": f"{side}_calcaneocuboid"}
        for toe, chain in _FOOT.items():
            above = f"{side}_talocalcaneonavicular" if toe < 4 else f"{side}_transversetarsal"
            for step in chain:
                found[f"{side}_{step}_{toe}"] = above
                above = f"{side}_{step}_{toe}"
        for finger, carpal in ((1, "1"), (2, "2"), (3, "3"), (4, "4_5"), (5, "4_5")):
            found[f"{side}_midcarpal_{carpal}"] = f"{side}_radiocarpal"
            found[f"{side}_carpometacarpal_{finger}"] = f"{side}_midcarpal_{carpal}"
    return found


def places(parents: dict[str, str], seed: int) -> dict[str, FloatArray]:
    """Return where joints rest: those of the sample there, others near the joint above, as their names say."""
    known, rng = rest_positions(), np.random.default_rng(seed)
    scale = rng.uniform(0.7, 1.3)
    spine = dict(zip(hanim.SPINE, np.linspace((0, 1.01, -0.02), (0, 1.56, -0.01), len(hanim.SPINE)), strict=True))
    found: dict[str, FloatArray] = {}
    pending = list(parents)
    while pending:
        name = pending.pop(0)
        if parents[name] and parents[name] not in found:
            pending.append(name)
            continue
        meant = hanim.canonical(name) or name
        side = 1.0 if name.startswith("l_") else -1.0 if name.startswith("r_") else 0.0
        forward = (0.0, -0.01, 0.03) if "tars" in name or "navicular" in name or "cuboid" in name else (0.0, 0.04, 0.06)
        place = spine.get(meant, known.get(meant))
        found[name] = (scale * np.array(place, dtype=np.float64) if place is not None
                       else found[parents[name]] + np.array(forward) + np.array((0.01 * side, 0.0, 0.0)))
        found[name] = found[name] + rng.uniform(-1e-4, 1e-4, 3)
    return found


def nested(parents: dict[str, str], names: Callable[[str], str], seed: int) -> bytes | list[object]:
    """Return the humanoid as nodes."""
    at = places(parents, seed)
    made = {name: joint(names(name), at[name]) for name in parents}
    for name, above in parents.items():
        if above:
            made[above].inside.append(("children", made[name]))
    return [humanoid(made["humanoid_root"]), clock("c", 1.0),
            turning("t", (0, 1), [(1, 0, 0, 0.0), (1, 0, 0, 0.5)])]


def old_name(name: str) -> str:
    return hanim.VERSION_2.get(name, name)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("level", range(5))
@pytest.mark.parametrize("encoding", ["XML", "classic", "VRML 97"])
def test_each_level_is_read_and_understood(encoding: str, level: int, seed: int) -> None:
    parents = version_2(level)
    names = old_name if encoding == "VRML 97" else str
    nodes = nested(parents, names, seed)
    routes = driven("c", "t", f"h_{names('humanoid_root')}", "rotation")
    write, read = {"XML": (in_xml, x3d.read), "classic": (in_classic, x3d.read_classic),
                   "VRML 97": (in_vrml, x3d.read_classic)}[encoding]
    (clip,) = read(write(nodes, routes)).clips  # type: ignore[arg-type]
    skeleton, at = clip.skeleton, places(parents, seed)
    assert sorted(skeleton.names) == sorted(map(names, parents))
    for name, above in parents.items():
        own = skeleton.index_of[names(name)]
        assert int(skeleton.parents[own]) == (skeleton.index_of[names(above)] if above else -1)
        np.testing.assert_allclose(skeleton.rest_world[own, :, 3], at[name], atol=1e-9)
    assert_understood(skeleton)


def assert_understood(skeleton: Skeleton) -> None:
    """Check that every joint that version 1 knows is what its name says."""
    found = find_map(skeleton)
    wanted = {name: hanim.canonical(name) for name in skeleton.names if hanim.canonical(name)}
    meant = dict(zip(skeleton.names, found.meant, strict=True))
    assert found.is_humanoid and found.is_sure
    assert {name: meant[name] for name in wanted} == wanted


@pytest.mark.parametrize("as_frames", [False, True])
@pytest.mark.parametrize("level", range(5))
def test_each_level_comes_back_as_it_was_written(level: int, as_frames: bool) -> None:
    parents = version_2(level)
    at, order = places(parents, 3), list(places(parents, 3))
    above = [order.index(parents[name]) if parents[name] else -1 for name in order]
    offsets = [at[name] - (at[parents[name]] if parents[name] else 0.0) for name in order]
    body = Skeleton.from_arrays(order, above, rot.identities(len(order)), np.array(offsets), name="body")
    times = np.arange(10) / 30.0
    axes = np.random.default_rng(level).normal(size=(len(order), 3))
    angles = np.sin(times)[:, None] * np.ones(len(order))
    turns = rot.from_axis_angle(np.broadcast_to(axes, (*angles.shape, 3)), angles)
    clip = Clip("wave", body, float(times[-1]), Tracks.uniform(np.arange(len(order)), times, turns), Tracks.empty(3),
                Tracks.empty(3))
    file: ClipFile = x3d.X3dFile(body, (clip,), as_frames=as_frames)
    (found,) = x3d.read(x3d.write(file, 30.0)).clips
    assert sorted(found.skeleton.names) == sorted(order)
    own = [found.skeleton.index_of[name] for name in order]
    np.testing.assert_allclose(found.skeleton.rest_world[own, :, 3], [at[name] for name in order], atol=1e-6)
    assert rot.angle_between(found.sample(times).rotations[:, own], turns).max() < 1e-5


def test_the_levels_have_as_many_joints_as_the_standard_says() -> None:
    assert [len(version_2(level)) for level in range(5)] == [1, 18, 71, 94, 146]
    assert sorted(version_2(4)) == sorted(x3d_package().HANIMJOINTNAMEVALUES)
