"""BVH files in any axes and unit: found from the body, told, and overruled by whoever knows better."""

from pathlib import Path

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.errors import TaktError
from takt.core.formats import bvh
from takt.core.library.library import Library
from takt.core.library.reading import Reading
from takt.core.maths import rotations as rot
from takt.core.playing.performer import Performer
from takt.core.playing.score import perform
from takt.core.retargeting.comparing.bvh_space import AXES, UNITS, BvhSpace, in_hanim_space
from takt.core.retargeting.comparing.upright import resting, scaled, turned
from takt.core.skeletons.maps import find_map, write_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.clips import build_clips
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rigs import RIGS, real, with_model_axes, worn
from takt.tests.core.test_retarget import random_clip, random_skeleton, swaying

PLACES_M = 1e-5
"""Files are written with nine digits, in millimetres too."""
STEP = next(clip for clip in build_clips("feet/Steps.skeleton.xml") if clip.name == "left_step")
Y_UP, Z_UP = rot.IDENTITY, rot.from_axis_angle(np.array((1.0, 0, 0)), np.pi / 2)
X_UP = rot.multiply(rot.from_axis_angle(np.array((0.0, 0, 1)), -np.pi / 2), Y_UP)
SCORE = '<pha tickLength="1"><load src="{0}"/><procedure name="main"><call name="{0}" duration="1"/></procedure></pha>'


def written(folder: Path, clip: Clip, turn: np.ndarray, unit: str, name: str = "step") -> Library:
    """Write a clip with our own writer in other axes and another unit; return the folder as a library."""
    (folder / f"{name}.bvh").write_bytes(
        bvh.write(with_model_axes(scaled(turned(clip, turn), 1.0 / UNITS[unit][1])), 1 / 60))
    return Library([folder])


def places(clip: Clip) -> np.ndarray:
    world = world_from_pose(clip.skeleton, clip.sample(np.linspace(0.0, clip.duration_s, 9)))[..., 3]
    return np.asarray(world[:, [clip.skeleton.index_of[name] for name in sorted(clip.skeleton.names)]])


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("turn", "said"), [(Y_UP, "+Y is up, facing +Z"), (Z_UP, "+Z is up, facing −Y"),
                                            (X_UP, "+X is up, facing +Z")])
def test_axes_and_unit_are_seen_and_told(tmp_path: Path, turn: np.ndarray, said: str, unit: str) -> None:
    (clip,), (note,) = written(tmp_path, STEP, turn, unit).clips("step")
    assert note.message == f"step.bvh: {said}, in {UNITS[unit][0]}: found from the body" and note.is_note
    np.testing.assert_allclose(places(clip), places(STEP), atol=PLACES_M)


def test_what_is_chosen_goes_before_what_is_seen(tmp_path: Path) -> None:
    """A file whose body stands along Y at rest, but along Z in every frame, as it moves: the motion is believed."""
    written(tmp_path, resting(turned(STEP, Z_UP), rot.conjugate(Z_UP)), Y_UP, "METRES")
    body, up = build_skeleton(), np.array((0.0, 1.0, 0.0))
    heights = {}
    for space in (BvhSpace(), BvhSpace(up="Y"), BvhSpace(up="Z", unit="METRES")):
        library = Library([tmp_path], reading=Reading(bvh=space))
        m = perform(SCORE.format("step"), None, library, Performer(body, up))
        world = world_from_pose(body, m.sample(np.zeros(1)))[0, :, 1, 3]
        heights[space.up] = world[body.index_of["skullbase"]] - world[body.index_of["l_ankle"]]
    assert "+Z is up, facing −Y, in metres: partly chosen, else found from the body" in m.problems[0].message
    np.testing.assert_allclose(places(library.clips("step")[0][0]), places(STEP), atol=PLACES_M)
    assert heights["Y"] < 0.2
    assert [heights["Z"], heights["AUTO"]] == pytest.approx([1.4, 1.4], abs=0.1)


def test_axes_that_are_chosen_go_before_how_the_body_stands_and_moves(tmp_path: Path) -> None:
    """One who lies, say somebody who knows it, lies."""
    written(tmp_path, STEP, Z_UP, "METRES")
    body, up = worn(RIGS["VRM"]), np.array((0.0, 1.0, 0.0))
    for space, is_lying in ((BvhSpace(), False), (BvhSpace(up="Y"), True)):
        library = Library([tmp_path], reading=Reading(bvh=space))
        m = perform(SCORE.format("step"), None, library, Performer(body, up))
        world = world_from_pose(body, m.sample(np.zeros(1)))[0, :, 1, 3]
        assert (abs(world[body.index_of["head"]] - world[body.index_of["leftFoot"]]) < 0.5) == is_lying


def test_a_rest_pose_that_is_turned_leaves_the_motion_as_it_is() -> None:
    rng = np.random.default_rng(3)
    skeleton = random_skeleton(rng, [f"j{i}" for i in range(6)])
    turn = rot.normalized(rng.normal(size=4))
    for clip in (random_clip(skeleton, rng), swaying(skeleton, "j2")):
        new = resting(clip, turn)
        np.testing.assert_allclose(places(new), places(clip), atol=1e-9)
        np.testing.assert_allclose(new.skeleton.rest_world[:, :, 3], rot.rotate(turn, skeleton.rest_world[:, :, 3]),
                                   atol=1e-9)


def test_no_body_no_axes_but_those_chosen(tmp_path: Path) -> None:
    fox = real("Fox")
    clip = swaying(fox, *fox.names[1:4])
    library = written(tmp_path, clip, rot.IDENTITY, "METRES", "fox")
    (same,), (note,) = library.clips("fox")
    assert "+Y is up, facing +Z, in metres: for want of a body that shows it" in note.message
    np.testing.assert_allclose(places(same), places(clip), rtol=1e-6, atol=1e-4)
    (laid,), (note,) = Library([tmp_path], reading=Reading(bvh=BvhSpace("Z", "-Y", "CENTIMETRES"))).clips("fox")
    assert note.message.endswith("+Z is up, facing −Y, in centimetres: as chosen")
    np.testing.assert_allclose(places(laid), places(scaled(turned(clip, rot.conjugate(Z_UP)), 0.01)), atol=1e-4)


@pytest.mark.parametrize(("space", "said"), [
    (BvhSpace(up="X"), "+X is up, facing +Z"), (BvhSpace(up="-Z"), "−Z is up, facing −Y"),
    (BvhSpace(forward="Y"), "+Z is up, facing +Y"), (BvhSpace(forward="X"), "+Y is up, facing +X"),
    (BvhSpace(up="-Y", forward="-X"), "−Y is up, facing −X")])
def test_one_axis_chosen_leaves_the_other_to_the_body_where_it_fits(space: BvhSpace, said: str) -> None:
    assert said in in_hanim_space(STEP, find_map(STEP.skeleton), space)[2]


def test_a_map_file_says_the_axes_of_what_does_not_show_them(tmp_path: Path) -> None:
    """Someone has written which way is up for a fox."""
    fox = real("Fox")
    library = written(tmp_path, swaying(fox, fox.names[1]), Z_UP, "METRES", "fox")
    skeleton = bvh.read((tmp_path / "fox.bvh").read_bytes()).clip.skeleton
    rig, *joints = write_map(find_map(skeleton)).partition("\n\n")
    (tmp_path / "fox.map").write_text("".join((rig, "\nup = +Z\nfront = -Y", *joints)), encoding="utf-8")
    (clip,), (note,) = library.clips("fox")
    assert "+Z is up, facing −Y" in note.message
    turn = library.skeleton_map(clip.skeleton).turn
    assert turn is not None and rot.angle_between(turn, rot.IDENTITY) < 1e-9  # not once more


def test_axes_on_one_line_and_unknown_ones_are_refused() -> None:
    with pytest.raises(TaktError, match="BVH Up Z and BVH Forward -Z lie on one line; they must be at right angles"):
        BvhSpace("Z", "-Z")
    with pytest.raises(TaktError, match=r"BVH files cannot be in 'FEET'; there are AUTO.*CMU|BVH files cannot be in"):
        BvhSpace(unit="FEET")
    assert set(AXES) == {"AUTO", "X", "Y", "Z", "-X", "-Y", "-Z"}


def test_a_skeleton_of_one_joint_has_no_size() -> None:
    one = Skeleton.from_arrays(["HumanoidRoot"], [-1], rot.identities(1), np.zeros((1, 3)))
    assert "in metres" in in_hanim_space(swaying(one, "HumanoidRoot"), find_map(one), BvhSpace())[2]
