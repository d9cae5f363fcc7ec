"""Who looks at another character, or meets its hands, uses what the other one does now."""

import shutil
from pathlib import Path
from xml.etree import ElementTree

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scene import cast
from takt.bridge.scores import score
from takt.core.maths.arrays import FloatArray
from takt.samples.clip_files import LIBRARY
from takt.tests.blender.dancing import Wait, activate, sample_with_score
from takt.tests.blender.test_cast import rebuilt
from takt.tests.blender.test_meetings import LEG_M, SCORE, apart, palm

LOOK = """<pha version="2" tickLength="1"><load src="gestures.Greetings"/><role name="partner" is="person"/>
  <procedure name="main"><together>
    <lane><call name="hello" duration="6"/></lane><lane><look at="partner" duration="6"/></lane>
  </together></procedure>
</pha>
"""
ALONE = LOOK.replace('<lane><look at="partner" duration="6"/></lane>', "")
FPS = 24
CLIPS = "gestures/Greetings.skeleton.xml"


def facing(one: bpy.types.Object, other: bpy.types.Object) -> tuple[bpy.types.Object, bpy.types.Object]:
    other.location, other.rotation_euler = (0.1, -0.45, 0.0), (0.0, 0.0, np.pi + 0.2)
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()
    for each, partner in ((one, other), (other, one)):
        if "partner" in properties.character(each).cast:
            properties.character(each).cast["partner"].target = partner
    return one, other


@pytest.fixture
def meeting_two(tmp_path: Path) -> tuple[bpy.types.Object, bpy.types.Object, Path]:
    """Return two characters who take hands, and the clips' file of the second one."""
    library = tmp_path / "hers"
    shutil.copytree(LIBRARY, library)
    one = sample_with_score(tmp_path / "one.pha", SCORE.format(begin=1, rest=2, own="right", hand="left"), LIBRARY)
    other = sample_with_score(tmp_path / "other.pha", SCORE.format(begin=1, rest=2, own="left", hand="right"), library)
    return *facing(one, other), library / CLIPS


def made_anew(armature_object: bpy.types.Object) -> None:
    activate(armature_object)
    rebuilt()


def with_still_arms(path: Path) -> None:
    """Take the tracks of the arms out of the clip hello; its head goes on as before."""
    tree = ElementTree.parse(path)
    (clip,) = (each for each in tree.iter("animation") if each.get("name") == "hello")
    tracks = clip.find("tracks")
    assert tracks is not None
    arms = [each for each in tracks if any(part in str(each.get("bone")) for part in ("shoulder", "elbow", "wrist"))]
    assert arms
    for each in arms:
        tracks.remove(each)
    tree.write(path)


def drawn_palm(armature_object: bpy.types.Object, side: str, frame: float) -> FloatArray:
    """Return where a palm is in the world in what the preview draws."""
    from takt.core.playing.scene.reach import Reaching
    from takt.core.skeletons.skeleton import world_from_pose

    motion, own = score.shown(armature_object), properties.character(armature_object)
    assert motion is not None and motion.body is not None
    reaching = Reaching.of(motion.body, side)
    assert reaching is not None
    world = world_from_pose(motion.skeleton, motion.sample(np.array(((frame - own.frame_start) / FPS,))))
    matrix = np.array(armature_object.matrix_world)
    return np.asarray(matrix[:3, :3] @ reaching.palms(world)[0] + matrix[:3, 3])


@pytest.mark.parametrize("how", ["clips", "score"])
def test_a_rebuilt_partner_is_met_where_its_new_motion_has_its_hand(
        meeting_two: tuple[bpy.types.Object, bpy.types.Object, Path], how: str, wait: Wait) -> None:
    one, other, clips = meeting_two
    text = properties.character(other).text
    assert text is not None
    if how == "clips":  # whoever meets nobody keeps its head where it is
        text.from_string(ALONE)
    for each in (one, other):
        made_anew(each)
    wait(1.0)
    assert apart(one, other) < 0.01 * LEG_M
    before = palm(one, "r", 4 * FPS)
    if how == "clips":
        with_still_arms(clips)
    else:
        text.from_string(text.as_string().replace('"hello"', '"bow"'))
    made_anew(other)
    drawn = [drawn_palm(one, "r", 4 * FPS), drawn_palm(other, "l", 4 * FPS)]
    assert np.linalg.norm(drawn[0] - drawn[1]) < 0.01 * LEG_M
    assert np.linalg.norm(drawn[0] - before) > 0.02 * LEG_M
    wait(3.0)
    assert np.linalg.norm(palm(one, "r", 4 * FPS) - drawn[0]) < 1e-3
    assert apart(one, other) < 0.01 * LEG_M
    own = properties.character(one).action
    assert own is not None
    made_from = getattr(own, properties.MADE_FROM)
    made_anew(other)
    assert getattr(own, properties.MADE_FROM) == made_from  # the same motion again


@pytest.fixture
def looking_two(tmp_path: Path) -> tuple[bpy.types.Object, bpy.types.Object]:
    one = sample_with_score(tmp_path / "one.pha", LOOK, LIBRARY)
    other = sample_with_score(tmp_path / "other.pha", ALONE, LIBRARY)
    return facing(one, other)


def head_over_time(one: bpy.types.Object) -> FloatArray:
    (_, target), = cast.read(one)
    heads = getattr(target, "heads", None)
    if heads is None:
        heads = np.array([getattr(target, "head", None)])
    return np.asarray(heads)


@pytest.mark.parametrize("how", ["score", "keys", "pose", "rest"])
def test_a_gaze_follows_a_partner_that_changes(looking_two: tuple[bpy.types.Object, bpy.types.Object],
                                               how: str) -> None:
    one, other = looking_two
    if how in ("pose", "rest"):
        assert other.animation_data is not None
        other.animation_data.action = None
    for each in (one,) if how in ("pose", "rest") else (other, one):
        made_anew(each)
    before, motion = head_over_time(one), score.motion_of(one)
    shown_before = score.shown(one)
    assert other.pose is not None and other.animation_data is not None
    layer = bpy.context.view_layer
    assert layer is not None
    if how == "score":
        text = properties.character(other).text
        assert text is not None
        text.from_string(text.as_string().replace('"hello"', '"bow"'))
        made_anew(other)
    elif how == "keys":
        from takt.bridge.actions.curves import bags

        assert other.animation_data.action is not None
        for bag in bags(other.animation_data.action):
            for curve in bag.fcurves:
                if curve.data_path.endswith("location") and curve.array_index == 1:
                    for key in curve.keyframe_points:
                        key.co[1] += 0.2
                    curve.update()
    elif how == "pose":
        root = other.pose.bones[0]
        root.location = root.location[0], root.location[1] + 0.3, root.location[2]
    else:
        other.location[0] += 0.3
    layer.update()
    after = head_over_time(one)
    assert after.shape != before.shape or np.abs(after - before).max() > 0.02
    assert score.motion_of(one) is not motion and score.shown(one) is not shown_before
