"""Which characters a viewport shows, as the preview finds them for each picture."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from takt.bridge import changes, properties
from takt.preview import life, visible
from takt.preview.cast import Actor, Actors
from takt.preview.running import Chosen
from takt.tests.characters import Object, context, own_character

toggle: Any = bpy.ops.takt.preview  # type: ignore[attr-defined]  # registered by the extension
Shown = Callable[[], list[Actor]]


@pytest.fixture(params=[0, 10])
def shown(request: pytest.FixtureRequest) -> Shown:
    """Return what finds the actors of a viewport: a crowd is looked at as a whole, few among other objects each."""
    for number in range(request.param):
        context.collection.objects.link(bpy.data.objects.new(f"Other {number}", None))
    window = context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")

    def found() -> list[Actor]:
        context.view_layer.update()
        assert life._running is not None
        with context.temp_override(window=window, area=area, region=region):
            return visible.visible(life._running, bpy.context, life._chosen(), lambda: None)

    return found


@pytest.fixture
def character() -> tuple[Object, Object]:
    """Return a character whose bones the preview draws, since it has a score; that plays nothing."""
    rig, mesh = own_character()
    properties.character(rig).text = bpy.data.texts.new("Empty")
    context.view_layer.objects.active = rig
    for ob in (rig, mesh):
        ob.select_set(False)
    toggle()
    return rig, mesh


def overlay() -> Any:
    area = next(area for area in context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
    return area.spaces.active.overlay


def theme_colour(name: str) -> tuple[float, ...]:
    colour = getattr(context.preferences.themes[0].view_3d, name)
    return (*(channel ** 2.2 for channel in colour), 1.0)


def test_a_character_is_shown_with_its_visible_meshes(character: tuple[Object, Object], shown: Shown) -> None:
    rig, mesh = character
    [actor] = shown()
    assert (actor.armature, [*actor.meshes], actor.motion, actor.outline) == (rig, [mesh], None, None)
    mesh.hide_set(True)
    assert shown() == []
    mesh.hide_set(False)
    [again] = shown()
    assert [*again.meshes] == [mesh]


def test_the_list_stays_the_same_while_only_the_time_changes(character: tuple[Object, Object], shown: Shown) -> None:
    scene = context.scene
    scene.frame_set(1)
    before = shown()
    times = [before[0].time_s]
    for frame in (25, 49):
        scene.frame_set(frame)
        assert shown() is before
        times.append(before[0].time_s)
    second = 24.0 * scene.render.fps_base / scene.render.fps
    assert times == pytest.approx([times[0], times[0] + second, times[0] + 2.0 * second])


def test_outlines_have_the_colours_of_the_selection(character: tuple[Object, Object], shown: Shown) -> None:
    rig, mesh = character
    mesh.select_set(True)
    for active, colour in ((rig, "object_selected"), (mesh, "object_active")):
        context.view_layer.objects.active = active
        assert shown()[0].outline == pytest.approx(theme_colour(colour))
    for name in ("show_outline_selected", "show_overlays"):
        setattr(overlay(), name, False)
        assert shown()[0].outline is None
        setattr(overlay(), name, True)
    assert shown()[0].outline is not None
    mesh.select_set(False)
    assert shown()[0].outline is None


def test_bones_are_shown_as_blender_would(character: tuple[Object, Object], shown: Shown) -> None:
    rig, _ = character
    for in_front, said in ((False, "BEHIND"), (True, "IN_FRONT"), (False, "BEHIND")):
        rig.show_in_front = in_front
        assert shown()[0].bones == said
    for name in ("show_bones", "show_overlays"):
        setattr(overlay(), name, False)
        assert shown()[0].bones == ""
        setattr(overlay(), name, True)
    assert shown()[0].bones == "BEHIND"
    rig.hide_set(True)
    assert shown()[0].bones == ""


def test_a_mesh_that_is_added_is_shown_too(character: tuple[Object, Object], shown: Shown) -> None:
    rig, mesh = character
    shown()
    added = mesh.copy()
    context.collection.objects.link(added)
    [actor] = shown()
    assert actor.armature == rig and {*actor.meshes} == {mesh, added}


def test_what_was_found_before_is_what_would_be_found_anew(character: tuple[Object, Object], shown: Shown,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a picture depends on is missing from what the last one is known by, even if no change is noted."""
    rig, mesh = character
    shown()
    for name in ("of_scenes", "of_scores", "of_all_data"):
        monkeypatch.setattr(changes, name, partial(int, getattr(changes, name)()))
    for change in (lambda: mesh.select_set(True), lambda: setattr(context.view_layer.objects, "active", mesh),
                   lambda: setattr(rig, "show_in_front", True), lambda: setattr(overlay(), "show_bones", False),
                   lambda: setattr(overlay(), "show_bones", True),
                   lambda: setattr(overlay(), "show_outline_selected", False),
                   lambda: setattr(overlay(), "show_outline_selected", True), lambda: rig.hide_set(True),
                   lambda: rig.hide_set(False), lambda: mesh.hide_set(True), lambda: mesh.hide_set(False)):
        shown()
        change()
        known = [(each.armature, [*each.meshes], each.outline, each.bones) for each in shown()]
        assert life._running is not None
        life._running.actors = Actors()
        assert known == [(each.armature, [*each.meshes], each.outline, each.bones) for each in shown()]


def test_a_motion_that_is_tried_out_is_played_round_and_round(character: tuple[Object, Object], shown: Shown,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    rig, _ = character
    motion: Any = SimpleNamespace(duration_s=2.0)  # it is not sampled here
    trial: Any = SimpleNamespace(armature_uid=rig.session_uid, motion=motion, since_s=10.0)
    for now_s, time_s in ((10.5, 0.5), (13.0, 1.0), (14.25, 0.25)):
        monkeypatch.setattr(life, "_chosen", lambda now_s=now_s: Chosen(life._choices, trial, now_s))
        [actor] = shown()
        assert actor.motion is motion and actor.time_s == pytest.approx(time_s)
    trial.armature_uid += 1
    assert shown()[0].motion is None
