"""A score's parameters and its seed as fields of the character, which may be keyed; crowds with a seed each."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.actions import write_motion
from takt.bridge.scores import following, parameters, score
from takt.core.maths import rotations as rot
from takt.core.playing.motion import Motion
from takt.preview import life
from takt.preview.cast import Actor, roles_of
from takt.preview.choices import Choices
from takt.tests.blender.dancing import curves, perform, play, rebuild

EXACT = 1e-9
FLOAT32 = 1e-6
SCORE = """<pha version="2" tickLength="1">
  <load src="feet.Steps"/>
  <procedure name="main">
    <param name="share" default="0.25"/><param name="is_left" default="no"/><param name="times" default="2"/>
    <together>
      <lane mode="mix" weight="1 - share"><loop times="times"><call name="left" duration="1"/></loop></lane>
      <lane mode="mix" weight="share"><call name="right" duration="times"/></lane>
    </together>
    <if test="is_left"><call name="left" duration="1"/></if>
    <else><call name="right" duration="1"/></else>
  </procedure>
  <procedure name="other"><param name="share" default="no"/>
    <pick><call name="left" duration="1"/><call name="right" duration="1"/></pick>
    <pick><call name="left" duration="1"/><call name="right" duration="1"/></pick>
    <pick><call name="left" duration="1"/><call name="right" duration="1"/></pick>
  </procedure>
</pha>
"""


@pytest.fixture
def dancer(rig: bpy.types.Object, library: Path) -> bpy.types.Object:
    (library / "dance.pha").write_text(SCORE, encoding="utf-8")
    play(library / "dance.pha")
    return rig


@pytest.fixture
def preview(dancer: bpy.types.Object) -> Iterator[None]:
    life.start([dancer])
    yield
    life.stop()


def fields(dancer: bpy.types.Object) -> dict[str, Any]:
    return {each.name: (each.truth if each.is_truth else each.number)
            for each in properties.character(dancer).parameters if each.is_here}


def motion_of(dancer: bpy.types.Object, **instead: object) -> Motion:
    motion = score.motion_of(dancer, **instead)
    assert motion is not None, score.error_of(dancer)
    return motion


def shown(dancer: bpy.types.Object) -> Motion:
    """Return what the preview shows at the current frame, once it is performed."""
    with score.while_drawing(lambda: None):
        score.shown(dancer)
    if bpy.app.timers.is_registered(score._perform_waiting):
        perform(score._perform_waiting)
        bpy.app.timers.unregister(score._perform_waiting)
    with score.while_drawing(lambda: None):
        motion = score.shown(dancer)
    assert motion is not None
    return motion


def key(dancer: bpy.types.Object, name: str, frame: int, value: float, interpolation: str = "CONSTANT") -> None:
    kept = properties.character(dancer)
    owner: Any = kept if name == "seed" else kept.parameters[name]
    attribute = "seed" if name == "seed" else "truth" if owner.is_truth else "number"
    setattr(owner, attribute, value)
    owner.keyframe_insert(attribute, frame=frame)
    for curve in curves(dancer):
        if curve.data_path.startswith("takt."):
            curve.keyframe_points[-1].interpolation = interpolation


def test_the_started_procedures_parameters_are_fields_with_their_defaults(dancer: bpy.types.Object) -> None:
    assert fields(dancer) == {"share": 0.25, "is_left": False, "times": 2.0}
    kept = properties.character(dancer)
    assert kept.has_picks and parameters.chosen(kept) == ()
    kept.procedure = "other"
    rebuild()
    assert fields(dancer) == {"share": False}
    kept.procedure = "main"
    rebuild()
    assert fields(dancer) == {"share": 0.25, "is_left": False, "times": 2.0}


def test_what_is_set_is_played_and_to_the_digit(dancer: bpy.types.Object) -> None:
    kept = properties.character(dancer)
    kept.parameters["share"].number, kept.parameters["is_left"].truth = 0.1, True
    assert parameters.chosen(kept) == (("share", 0.1), ("is_left", True))
    wanted = motion_of(dancer, values=(("share", 0.1), ("is_left", True)))
    times = np.linspace(0.0, 3.0, 100)
    found = motion_of(dancer)
    assert rot.angle_between(found.sample(times).rotations, wanted.sample(times).rotations).max() < EXACT
    assert found.sequence.clips[int(found.sequence.clip[-1])] == "feet.Steps.left"


def test_what_is_at_its_default_follows_that_and_what_is_set_stays(dancer: bpy.types.Object) -> None:
    kept = properties.character(dancer)
    kept.parameters["times"].number = 3.0
    kept.text.from_string(SCORE.replace('default="0.25"', 'default="0.5"').replace('"times" default="2"',
                                                                                 '"times" default="1"'))
    rebuild()
    assert fields(dancer) == {"share": 0.5, "is_left": False, "times": 3.0}
    kept.text.from_string(SCORE.replace("is_left", "on_left"))
    rebuild()
    assert fields(dancer) == {"share": 0.25, "times": 3.0, "on_left": False}
    assert motion_of(dancer).duration_s == pytest.approx(4.0)


def test_values_that_the_score_does_not_take_any_longer_do_no_harm(dancer: bpy.types.Object) -> None:
    kept = properties.character(dancer)
    kept.parameters["is_left"].truth = True
    kept.text.from_string(SCORE.replace('<param name="is_left" default="no"/>', "").replace('"is_left"', '"no"'))
    assert motion_of(dancer).duration_s == pytest.approx(3.0)


@pytest.mark.parametrize("interpolation", ["CONSTANT", "LINEAR"])
def test_keyed_values_are_followed_by_preview_and_action(dancer: bpy.types.Object, preview: None,
                                                         interpolation: str) -> None:
    """The Action at each frame is what the preview shows there."""
    scene = bpy.context.scene
    assert scene is not None
    for frame, share in ((1, 0.0), (20, 0.4), (50, 1.0)):
        key(dancer, "share", frame, share, interpolation)
    for frame, truth in ((1, False), (40, True)):
        key(dancer, "is_left", frame, truth)
    motion_of(dancer)
    known, values = score.known_performance(dancer), parameters.keyed(dancer)
    assert values is not None and known is not None and known.again is not None
    assert len(values.settings) == (4 if interpolation == "CONSTANT" else 50)
    varied = parameters.varied(values, known.again, 1, 24.0)
    rebuild()
    assert {curve.data_path for curve in curves(dancer)} > {"takt.parameters[0].number", "takt.parameters[1].truth"}
    found = []
    for frame in (1, 7, 20, 21, 39, 40, 50, 60):
        scene.frame_set(frame)
        motion, time = shown(dancer), np.array(((frame - 1) / 24.0,))
        pose, own = motion.sample(time), varied.sample(time)
        np.testing.assert_allclose(own.rotations, pose.rotations, atol=EXACT)
        np.testing.assert_allclose(own.translations, pose.translations, atol=EXACT)
        assert dancer.pose is not None
        for joint, name in enumerate(motion.skeleton.names):
            keyed = np.array(dancer.pose.bones[name].rotation_quaternion)
            np.testing.assert_allclose(keyed * np.sign(keyed @ pose.rotations[0, joint]), pose.rotations[0, joint],
                                       atol=FLOAT32)
        found.append(pose.rotations)
    assert max(rot.angle_between(a, b).max() for a, b in pairwise(found)) > 0.05


def test_numbers_between_keys_are_blenders_own(dancer: bpy.types.Object) -> None:
    """What a curve says is taken as Blender sets the field by it."""
    scene, kept = bpy.context.scene, properties.character(dancer)
    for name, low, high in (("share", 0.0, 1.0), ("seed", 0, 9), ("is_left", False, True)):
        key(dancer, name, 1, low, "LINEAR")
        key(dancer, name, 30, high, "LINEAR")
    values = parameters.keyed(dancer)
    assert values is not None
    for frame in range(1, 35):
        scene.frame_set(frame)
        at = int(np.searchsorted(values.frames, frame, side="right")) - 1
        assert values.settings[at] == (parameters.chosen(kept), kept.seed), frame


def test_a_value_that_cannot_be_is_told_with_its_frame(dancer: bpy.types.Object) -> None:
    for frame, times in ((1, 1.0), (9, 2.0)):
        key(dancer, "times", frame, times, "LINEAR")
    with pytest.raises(RuntimeError, match=r"With the values of frame 2: .*expected a whole number"):
        rebuild()


def test_an_action_follows_its_keyed_values_wherever_the_timeline_stands(dancer: bpy.types.Object) -> None:
    scene = bpy.context.scene
    assert scene is not None
    key(dancer, "share", 1, 0.0)
    key(dancer, "share", 30, 1.0)
    rebuild()
    digests = []
    for frame in (1, 40):
        scene.frame_set(frame)
        digests.append(write_motion.digest(dancer, scene))
    key(dancer, "share", 30, 0.9)
    assert digests[0] == digests[1] != write_motion.digest(dancer, scene)
    assert not following.is_older(dancer)


def test_a_crowd_has_a_seed_each(dancer: bpy.types.Object) -> None:
    kept = properties.character(dancer)
    kept.procedure = "other"
    rebuild()
    others: list[Any] = [dancer.copy() for _ in range(8)]
    for ob in others:
        bpy.context.collection.objects.link(ob)
    for ob in (dancer, *others):
        ob.select_set(True)
    assert bpy.ops.takt.seed_each() == {"FINISHED"}  # type: ignore[attr-defined]
    assert sorted(properties.character(ob).seed for ob in (dancer, *others)) == list(range(9))
    dances = {tuple(motion_of(ob).sequence.clip.tolist()) for ob in (dancer, *others)}
    assert len(dances) > 3 and kept.seed == 0
    for ob in others:
        ob.select_set(False)
    with pytest.raises(RuntimeError, match="Select two or more characters"):
        bpy.ops.takt.seed_each()  # type: ignore[attr-defined]


def test_copies_in_the_preview_pick_for_themselves(dancer: bpy.types.Object) -> None:
    kept = properties.character(dancer)
    kept.procedure, kept.seed = "other", 3
    rebuild()
    mesh = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    bpy.context.collection.objects.link(mesh)
    life.start([dancer])
    character = life.characters()[0]
    actor = Actor(character, dancer, [], motion_of(dancer), 0.0)
    found = [role.motion for role in roles_of(actor, Choices(copies=4))]
    life.stop()
    assert [motion is motion_of(dancer, seed=3 + copy) for copy, motion in enumerate(found) if copy] == [True] * 3
    assert found[0] is motion_of(dancer)


def test_what_a_body_lacks_is_a_warning_of_that_body(dancer: bpy.types.Object) -> None:
    kept = properties.character(dancer)
    kept.text.from_string(SCORE.replace('<lane mode="mix" weight="share">', '<lane body="bone:wing">', 1))
    motion_of(dancer)
    mixes_alone, lacks = score.warnings_of(dancer)  # its lane was one of two that were mixed
    assert "a 'mix' has no 'mix' beside it" in mixes_alone.message
    assert "has nothing for 'bone:wing'" in lacks.message
