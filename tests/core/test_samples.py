"""The project's own character, clips and scores."""

import re
import xml.etree.ElementTree as ET
from functools import cache

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.formats import ogre_binary, ogre_xml
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, perform
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples import clip_files, figure, helix
from takt.samples.body import MIRROR, Body, build_body, normals
from takt.samples.cage import build_cage, subdivide
from takt.samples.clips import MODULES, STEPS, build_clips
from takt.samples.posing import build_clip, eased, mirrored, trace
from takt.samples.skeleton import build_skeleton, ends, rest_positions

HANIM = re.compile(
    r"HumanoidRoot|sacroiliac|vl[1-5]|vt([1-9]|1[0-2])|vc[1-7]|skullbase|[lr]_(hip|knee|ankle|subtalar|midtarsal"
    r"|metatarsal|sternoclavicular|acromioclavicular|shoulder|elbow|wrist|thumb[1-3]|(index|middle|ring|pinky)[0-3])")
CLIPS = [clip for module in MODULES for clip in build_clips(module)]
NAMES = [clip.name for clip in CLIPS]
SINK_M = 0.01
SLIDE_M = 0.01
TOUCH_M = 0.002
FLOAT_M = 0.015
ON_SKIN_M = 2e-5
MIRROR_M = 1e-5
READ_BACK_RAD = 4e-5
FLAT_M = 1e-4
RATE_HZ = 60


@cache
def body() -> Body:
    return build_body()


def edges_of(quads: np.ndarray) -> np.ndarray:
    return np.stack((quads, np.roll(quads, -1, axis=1)), axis=-1).reshape(-1, 2)


def soles(clip: Clip, side: str) -> np.ndarray:
    """Return the paths of heel, ball and toes on the ground, (3, F, 3)."""
    times = np.linspace(0.0, clip.duration_s, round(clip.duration_s * RATE_HZ) + 1)
    points = (("ankle", (0.0, -0.080, -0.070)), ("metatarsal", (0.0, -0.024, 0.0)), ("metatarsal", (0.0, -0.024, 0.06)))
    return np.stack([trace(clip, times, f"{side}_{joint}", np.array(offset)) for joint, offset in points])


def test_joints_are_h_anim_and_at_rest_unturned() -> None:
    skeleton = build_skeleton()
    assert [name for name in skeleton.names if not HANIM.fullmatch(name)] == []
    assert (skeleton.rest_rotations == rot.IDENTITY).all()
    for finger in ("index", "middle", "ring", "pinky"):
        assert {f"l_{finger}{n}" for n in range(4)} <= set(skeleton.names)


def test_left_and_right_joints_mirror_each_other() -> None:
    at = rest_positions()
    for name in (n for n in at if n.startswith("l_")):
        np.testing.assert_array_equal(at["r_" + name[2:]], at[name] * MIRROR)
        assert at[name][0] > 0.0, "left is +X"
    assert all(at[n][0] == 0.0 for n in at if n[:2] not in ("l_", "r_"))


def test_joints_lie_inside_the_body() -> None:
    assert figure.distance(np.array(list(rest_positions().values()))).max() < 0.0
    assert figure.distance(np.array(list(ends().values()))).max() < 0.012


@pytest.mark.slow
def test_body_is_closed_and_of_the_right_size() -> None:
    points, quads = body().positions, body().quads
    directed = edges_of(quads)
    edges, count = np.unique(np.sort(directed, axis=1), axis=0, return_counts=True)
    assert (count == 2).all(), "every edge has two faces"
    assert len(np.unique(directed, axis=0)) == len(directed), "neighbouring faces turn the same way"
    assert 8_000 <= len(points) <= 12_000
    assert len(points) - len(edges) + len(quads) == 2 * 7, "seven closed pieces without handles"
    assert len(np.unique(points, axis=0)) == len(points)
    assert 1.70 < points[:, 1].max() < 1.80
    assert points[:, 1].min() == 0.0
    assert ((points[:, 1] < FLAT_M) & (points[:, 0] > 0.0)).sum() > 50, "flat soles"


def test_body_is_exactly_symmetric() -> None:
    points = body().positions
    left = {tuple(p) for p in points[points[:, 0] > 0.0].tolist()}
    right = {tuple(p) for p in (points[points[:, 0] < 0.0] * MIRROR).tolist()}
    assert left == right


def test_body_faces_outwards_and_lies_on_the_figure() -> None:
    skin = np.unique(body().quads[np.isin(body().materials, (0, 1, 2, 3))])
    points = body().positions[skin]
    outside = figure.distance(points + 1e-3 * normals(body().positions, body().quads)[skin])
    assert (outside > 0.0).mean() > 0.995
    assert np.abs(figure.distance(points)).max() < ON_SKIN_M


@pytest.mark.parametrize("height", np.linspace(0.76, 1.22, 12))
def test_arms_hang_clear_of_the_body(height: float) -> None:
    across = body().positions[np.abs(body().positions[:, 1] - height) < 0.016]
    wide = np.sort(across[across[:, 0] > 0.02, 0])
    assert np.diff(wide).max() > 0.015


def test_subdivision_of_a_cube_is_catmull_and_clarks() -> None:
    corners = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    quads = np.array(((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)))
    points, faces = subdivide(corners, quads)
    assert (len(points), len(faces)) == (26, 24)
    np.testing.assert_allclose(np.abs(points[:8]), 5.0 / 9.0)
    np.testing.assert_allclose(np.sort(np.abs(points[8:20]), axis=1), np.tile((0.0, 0.75, 0.75), (12, 1)))


def test_cage_uses_all_it_lays_but_what_limbs_grow_from() -> None:
    points, quads, materials = build_cage()
    assert len(quads) == len(materials)
    inside = np.setdiff1d(np.arange(len(points)), quads)
    assert len(inside) == 6, "two in each shoulder, one in each foot"


def test_there_are_clips_enough() -> None:
    assert len(CLIPS) >= 12
    assert len(set(NAMES)) == len(NAMES)
    for clip in CLIPS:
        assert np.diff(clip.rotations.starts).max() >= 10, f"{clip.name} has several keys"
        assert 0.5 <= clip.duration_s <= 3.0


@pytest.mark.parametrize("clip", CLIPS, ids=NAMES)
def test_feet_stay_on_the_ground_and_do_not_slide(clip: Clip) -> None:
    lowest = []
    for side in "lr":
        paths = soles(clip, side)
        assert paths[..., 1].min() >= -SINK_M
        lowest.append(paths[..., 1].min(axis=0))
        for path in paths[:2]:
            down = path[:, 1] < TOUCH_M
            runs = np.split(np.arange(len(down)), np.flatnonzero(np.diff(down.astype(int))) + 1)
            for run in runs:
                if down[run[0]]:
                    assert np.linalg.norm((path[run] - path[run[0]])[:, ::2], axis=1).max() < SLIDE_M
    if clip.name != "jump":
        assert np.minimum(*lowest).max() < FLOAT_M, "one foot is always on the ground"


def test_steps_go_one_stride_and_quarters_turn_one_quarter() -> None:
    clips = {clip.name: clip for clip in CLIPS}
    ends_of = {name: clips[name].sample(np.array((0.0, clips[name].duration_s))) for name in STEPS}
    for name, stride in (("left_step", 0.56), ("right_step", 0.56), ("left_run", 0.72), ("right_run", 0.72)):
        np.testing.assert_allclose(np.diff(ends_of[name].translations[:, 0, 2]), stride, atol=1e-9)
    for name, heading in (("quarter_left", 90.0), ("quarter_right", -90.0)):
        turned = rot.rotate(ends_of[name].rotations[1, 0], np.array((0.0, 0.0, 1.0)))
        np.testing.assert_allclose(np.degrees(np.arctan2(turned[0], turned[2])), heading, atol=1e-3)


@pytest.mark.parametrize("what", ["step", "run", "quarter", "side_step", "kick"])
def test_right_is_the_mirror_of_left(what: str) -> None:
    clips = {clip.name: clip for clip in CLIPS}
    left, right = ((clips[f"left_{what}"], clips[f"right_{what}"]) if what in ("step", "run")
                   else (clips[f"{what}_left"], clips[f"{what}_right"]))
    times = np.linspace(0.0, left.duration_s, 9)
    worlds = [world_from_pose(c.skeleton, c.sample(times))[..., 3] for c in (left, right)]
    names = left.skeleton.names
    swap = [names.index({"l_": "r_", "r_": "l_"}.get(n[:2], n[:2]) + n[2:]) for n in names]
    np.testing.assert_allclose(worlds[1], worlds[0][:, swap] * MIRROR, atol=MIRROR_M)


@pytest.mark.parametrize("what", ["step", "run"])
def test_a_second_step_begins_where_the_first_ends(what: str) -> None:
    clips = {clip.name: clip for clip in CLIPS}
    last = clips[f"left_{what}"].sample(np.array((clips[f"left_{what}"].duration_s,)))
    first = clips[f"right_{what}"].sample(np.array((0.0,)))
    assert rot.angle_between(last.rotations, first.rotations).max() < np.radians(1.0)


def test_eased_rows_hit_their_keys_and_never_overshoot() -> None:
    rows = ((0.0, 0.0, 1.0), (0.3, 2.0, 1.0), (1.0, 2.0, 4.0))
    times = np.linspace(0.0, 1.0, 101)
    values = eased(rows, times)
    np.testing.assert_allclose(values[[0, 30, 100]], [row[1:] for row in rows], atol=1e-12)
    assert values[:, 0].max() <= 2.0 + 1e-12
    np.testing.assert_allclose(values[30:, 0], 2.0, rtol=0, atol=1e-12, err_msg="what is planted stays")
    assert (np.diff(values, axis=0) >= -1e-12).all()


def test_mirroring_twice_changes_nothing() -> None:
    table = STEPS["left_step"][1]
    assert {k: [tuple(r) for r in v] for k, v in mirrored(mirrored(table)).items()} == {
        k: [tuple(r) for r in v] for k, v in table.items()}


def test_an_unknown_channel_is_refused() -> None:
    with pytest.raises(ValueError, match=r"clip 'x' moves the unknown channels \['tail'\]; there are \['chest'"):
        build_clip("x", 1.0, {"tail": ((0.0, 1.0),)})


def test_the_library_is_what_its_script_makes() -> None:
    made = clip_files.files()
    assert set(made) == {*MODULES, helix.MODULE}
    for path, data in made.items():
        assert (clip_files.LIBRARY / path).read_bytes() == data, f"{path} is stale: run samples/make.py"


@pytest.mark.parametrize("module", clip_files.modules())
def test_the_library_reads_back(module: str) -> None:
    read = ogre_xml.read if module.endswith(".xml") else ogre_binary.read
    ogre = read((clip_files.LIBRARY / module).read_bytes())
    for clip, again in zip(clip_files.modules()[module], ogre.clips, strict=True):
        times = np.linspace(0.0, clip.duration_s, 7)
        joints = [again.skeleton.index_of[n] for n in clip.skeleton.names]
        angle = rot.angle_between(clip.sample(times).rotations, again.sample(times).rotations[:, joints])
        assert angle.max() < READ_BACK_RAD


@pytest.mark.slow
@pytest.mark.parametrize(("score", "lasts_s"), [("walk.pha", 11.2), ("dance.pha", 72.0), ("variation.pha", 72.4),
                                              ("company.pha", 24.3)])
def test_scores_play_on_the_dancer_without_a_complaint(score: str, lasts_s: float) -> None:
    path = clip_files.LIBRARY / score
    up = np.array((0.0, 1.0, 0.0))
    motion = perform(path.read_bytes(), path, Library(), Performer(build_skeleton(), up))
    assert motion.problems == ()
    assert motion.duration_s == pytest.approx(lasts_s)


@pytest.mark.slow
def test_a_company_of_nine_dances_in_as_many_ways_and_all_end_together() -> None:
    path, up = clip_files.LIBRARY / "company.pha", np.array((0.0, 1.0, 0.0))
    nine = [perform(path.read_bytes(), path, Library(), Performer(build_skeleton(), up), Settings(seed=seed))
            for seed in range(9)]
    times = np.linspace(0.0, nine[0].duration_s, 50)
    poses = [motion.sample(times).rotations for motion in nine]
    differ = [rot.angle_between(poses[i], poses[j]).max() for i in range(9) for j in range(i)]
    assert np.mean(np.array(differ) > 0.2) > 0.9
    assert {motion.duration_s for motion in nine} == {nine[0].duration_s}


def test_every_figure_of_the_library_can_be_called() -> None:
    documents = [ET.parse(path).getroot() for path in clip_files.LIBRARY.rglob("*.pha")]
    clips = {f"{module.split('.')[0].replace('/', '.')}.{clip.name}" for module, found in clip_files.modules().items()
             for clip in found}
    procedures = {p.get("name") for d in documents for p in d.iter("procedure")}
    assert {c.get("name") for d in documents for c in d.iter("call")} <= clips | procedures


def test_the_helix_is_b_dna() -> None:
    low, high = helix.strand_at(np.array((0.0, helix.PAIRS_PER_TURN)), 0)
    np.testing.assert_allclose((high - low)[::2], 0.0, atol=1e-12)
    assert 2.0 * helix.RADIUS_M / (high - low)[1] == pytest.approx(20.0 / 35.7)
    pair = np.array((0.0, 1.0))
    one, other = helix.strand_at(pair, 0), helix.strand_at(pair, 1)
    assert np.linalg.norm(one[0] - other[0]) == pytest.approx(2.0 * helix.RADIUS_M * np.sin(np.radians(72.0)))
    assert np.cross(one[0] - (0.0, one[0, 1], 0.0), one[1] - one[0])[1] > 0.0, "right-handed"


def test_the_helix_is_closed_and_faces_outwards() -> None:
    body = helix.build_body()
    directed = edges_of(body.quads)
    _, count = np.unique(np.sort(directed, axis=1), axis=0, return_counts=True)
    assert (count == 2).all() and len(np.unique(directed, axis=0)) == len(directed)
    a, b, c, d = np.moveaxis(body.positions[body.quads], 1, 0)
    volume = (np.sum(a * np.cross(b, c), axis=-1) + np.sum(a * np.cross(c, d), axis=-1)).sum() / 6.0
    strands = 2.0 * np.hypot(helix.HEIGHT_M, 2.0 * np.pi * helix.RADIUS_M * 24.0 / 10.5) * helix.STRAND_M**2
    rungs = helix.PAIRS * 2.0 * helix.RADIUS_M * np.sin(np.radians(72.0)) * helix.RUNG_M**2
    assert volume == pytest.approx(2.0 * np.sqrt(2.0) * (strands + rungs), rel=0.02), "octagons along their ways"


@pytest.mark.parametrize("clip", helix.build_clips(), ids=lambda clip: clip.name)
def test_the_helix_moves_and_comes_back(clip: Clip) -> None:
    pose = clip.sample(np.array((0.0, clip.duration_s / 3.0, clip.duration_s)))
    angle = rot.angle_between(pose.rotations, rot.identities(*pose.rotations.shape[:-1]))
    assert angle[[0, 2]].max() < READ_BACK_RAD
    assert angle[1].max() > np.radians(3.0)


def test_the_helix_plays_its_score() -> None:
    path = clip_files.LIBRARY / "helix.pha"
    motion = perform(path.read_bytes(), path, Library(), Performer(helix.build_skeleton(), np.eye(3)[1]))
    assert motion.problems == ()
    assert motion.duration_s == pytest.approx(25.0)
