"""takt.api, as docs/api.md tells of it."""

import re
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt import api
from takt.bridge import properties
from takt.samples.clip_files import LIBRARY

PAGE = (Path(api.__file__).parent / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
context: Any = bpy.context
WALK = LIBRARY / "walk.pha"


@pytest.fixture
def hero() -> Any:
    """The sample character, named as in the manual's examples; nothing is active or selected."""
    ops: Any = bpy.ops
    ops.takt.add_sample()
    hero = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    hero.name = "Hero"
    for ob in context.selected_objects:
        ob.select_set(False)
    context.view_layer.objects.active = None
    return hero


def test_what_is_sampled_is_what_blender_shows(hero: Any) -> None:
    motion = api.play(hero, WALK)
    assert hero.animation_data.action == properties.character(hero).action is not None
    frames = range(1, 40, 7)
    matrices = motion.sample([(frame - properties.character(hero).frame_start) / 24 for frame in frames])
    assert matrices.shape == (len(frames), len(motion.bones), 4, 4)
    for frame, there in zip(frames, matrices, strict=True):
        context.scene.frame_set(frame)
        for name, matrix in zip(motion.bones, there, strict=True):
            assert np.abs(np.array(hero.pose.bones[name].matrix) - matrix).max() < 1e-4
    again = api.motion(hero)
    assert np.array_equal(again.sample([0.3]), motion.sample([0.3])) and again.layout == motion.layout


def test_feet_do_not_move_while_they_stand(hero: Any) -> None:
    motion = api.play(hero, WALK)
    assert {each.side for each in motion.contacts} == {"left", "right"}
    assert [each.begin_s for each in motion.contacts] == sorted(each.begin_s for each in motion.contacts)
    for contact in motion.contacts:
        times = np.linspace(contact.begin_s, contact.end_s, 8)
        toes = [number for number, name in enumerate(motion.bones)
                if name[0] == contact.side[0] and ("metatarsal" in name or "talocrural" in name)]
        places = motion.sample(times)[:, toes, :3, 3]
        assert np.ptp(places, axis=0)[:, :2].max(axis=1).min() < 0.01


def test_the_layout_tells_what_plays_when(hero: Any) -> None:
    motion = api.play(hero, WALK)
    assert motion.layout[0].begin_s == 0.0 and motion.layout[-1].end_s == pytest.approx(motion.duration_s)
    assert all(each.procedures[0] == "main" for each in motion.layout)
    assert "feet.Steps.left_step" in {each.clip for each in motion.layout}


SCORE = """<pha version="2" tickLength="1"><load src="feet.Steps"/><role name="seat" is="place"/>
<procedure name="main"><param name="turns" default="2"/>
<loop times="turns"><call name="left_step" duration="1"/></loop>
<pick><call name="left_step" duration="1"/><call name="right_step" duration="2"/></pick></procedure>
<procedure name="short"><call name="left_step" duration="1"/></procedure></pha>"""


@pytest.fixture
def text() -> Any:
    text = bpy.data.texts.new("own.pha")
    text.from_string(SCORE)
    return text


def test_values_seed_and_procedure(hero: Any, text: Any) -> None:
    properties.character(hero).library = str(LIBRARY)
    seat = bpy.data.objects.new("Seat", None)
    lengths = {seed: api.play(hero, text, values={"turns": 4.0}, seed=seed, cast={"seat": seat}).duration_s
               for seed in range(6)}
    assert {round(length) for length in lengths.values()} == {5, 6}
    assert api.play(hero, values={"turns": 1.0}).duration_s < 4.0  # without a score, that which it has
    assert api.motion(hero, procedure="short").duration_s == pytest.approx(1.0)
    assert api.procedures(hero) == ("main", "short") and properties.character(hero).procedure == "main"
    assert api.play(hero, procedure="short").duration_s == pytest.approx(1.0)
    assert api.play(hero).duration_s == pytest.approx(1.0)  # the procedure that it plays is kept
    with pytest.raises(api.TaktError, match="found no procedure 'finale'"):
        api.play(hero, procedure="finale")
    assert properties.character(hero).procedure == "short"
    assert api.play(hero, text).duration_s > 1.5  # of a score that is given, main
    assert [action.name for action in api.make_actions(hero, ["short"])] == ["short"]


def test_a_floor_is_the_object_or_the_collection_that_was_cast_last(hero: Any, text: Any) -> None:
    properties.character(hero).library = str(LIBRARY)
    text.from_string(SCORE.replace('"seat" is="place"', '"stage" is="floor"'))
    mesh = bpy.data.meshes.new("Stage")
    mesh.from_pydata([(-9, -9, 0), (9, -9, 0), (0, 9, 0)], [], [(0, 1, 2)])
    stage, house = bpy.data.objects.new("Stage", mesh), bpy.data.collections.new("Stage")
    context.scene.collection.children.link(house)
    house.objects.link(stage)
    role = None
    for given in (house, stage, house, None):
        api.play(hero, text, cast={} if given is None else {"stage": given})
        role = properties.character(hero).cast["stage"]
        assert (role.target, role.collection) == ((stage, None) if given == stage else (None, house))


def state(hero: Any) -> Any:
    settings = properties.character(hero)
    return (settings.text, settings.filepath, settings.procedure, settings.seed,
            [(each.name, each.number) for each in settings.parameters if each.is_here],
            [role.name for role in settings.cast if role.is_here], [each.name for each in settings.procedures],
            settings.action, hero.animation_data and hero.animation_data.action, set(bpy.data.actions))


@pytest.mark.parametrize(("given", "message"), [
    ({"procedure": "finale"}, "found no procedure 'finale'"), ({"values": {"laps": 1.0}}, "no such parameter"),
    ({"values": {"turns": True}}, "expected a number"),
    ({"seed": 3, "values": {"turns": 1e9}}, "expected a whole number")])
def test_what_cannot_be_played_changes_nothing(hero: Any, text: Any, given: Any, message: str) -> None:
    properties.character(hero).library = str(LIBRARY)
    api.play(hero, WALK)
    before = state(hero)
    with pytest.raises(api.TaktError, match=message):
        api.play(hero, text, **given)
    assert state(hero) == before


def test_a_character_without_a_score_is_refused(hero: Any, tmp_path: Path) -> None:
    properties.character(hero).text = None
    for call in (lambda: api.play(hero), lambda: api.motion(hero), lambda: api.procedures(hero),
                 lambda: api.export(hero, tmp_path / "a.glb")):
        with pytest.raises(api.TaktError, match="has no score"):
            call()
    with pytest.raises(api.TaktError, match=r"none\.pha"):
        api.play(hero, tmp_path / "none.pha")


def test_an_object_that_is_no_armature_is_refused(hero: Any, tmp_path: Path) -> None:
    mesh = bpy.data.objects.new("Crate", bpy.data.meshes.new("Crate"))
    for call in (lambda: api.play(mesh, WALK), lambda: api.motion(mesh), lambda: api.procedures(mesh),
                 lambda: api.make_actions(mesh), lambda: api.export(mesh, tmp_path / "a.glb")):
        with pytest.raises(api.TaktError, match="'Crate' is not an armature"):
            call()


def test_an_export_that_cannot_be_is_refused(hero: Any, text: Any, tmp_path: Path) -> None:
    api.play(hero, WALK)
    for names, path, message in ((["gone"], "a.glb", "'gone' cannot be played"), (None, "a.obj", "has to end in")):
        with pytest.raises(api.TaktError, match=message):
            api.export(hero, tmp_path / path, names)
    assert not [*tmp_path.iterdir()]


def test_the_examples_of_the_manual_run(hero: Any, tmp_path: Path) -> None:
    assert len(EXAMPLES) >= 3
    names: dict[str, Any] = {}
    for example in EXAMPLES:
        code = example.replace("from bl_ext.user_default.takt import api", "from takt import api")
        code = code.replace("/scores/walk.pha", str(WALK)).replace("//hero.glb", str(tmp_path / "hero.glb"))
        exec(code, names)  # the manual's own
    assert (tmp_path / "hero.glb").exists()


def test_warnings_say_what_the_motion_does_not_do(hero: Any, tmp_path: Path) -> None:
    path = tmp_path / "reaches.pha"
    path.write_text('<pha version="2" tickLength="1"><load src="gestures.Greetings"/><role name="far" is="place"/>\n'
                    '<procedure name="main"><together><lane><call name="hello" duration="3"/></lane>\n'
                    '<lane><reach for="far" with="left hand" duration="1"/><wait duration="2"/></lane></together>\n'
                    '</procedure></pha>', encoding="utf-8")
    properties.character(hero).library = str(LIBRARY)
    far = bpy.data.objects.new("Far", None)
    far.location = 0.0, -5.0, 1.0
    context.scene.collection.objects.link(far)
    assert api.play(hero, path).warnings == ()  # what is not cast is a note
    (warning,) = api.play(hero, path, cast={"far": far}).warnings
    assert ":3:" in warning and "the hand stays" in warning and "away from 'far'" in warning
    assert api.motion(hero).warnings == (warning,)
