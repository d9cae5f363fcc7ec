"""The characters that a viewport shows, with what they play."""

from collections.abc import Callable
from typing import Any, cast

import bpy

from ..bridge import changes
from ..bridge.scores import score
from ..core.playing.stage import Playable
from .cast import Actor
from .character import are_bones_shown, armature_of, is_worked_on
from .choices import Choices
from .instances import Tint
from .playing import Instant, played
from .roles import Bones
from .running import Chosen, Member, Members, Running

_MOST_OBJECTS = 4
"""A layer with more objects for each character is no crowd: there, looking at each character is quicker."""


def visible(running: Running, context: bpy.types.Context, chosen: Chosen,
            read_later: Callable[[], None]) -> list[Actor]:
    """Return the characters that are visible in the viewport of the context.

    read_later: called if meshes cannot be read during a drawing.
    """
    scene, layer, space = cast(Any, (context.scene, context.view_layer, context.space_data))
    key = scene.session_uid, layer.name
    number, found = running.members.get(key, (-1, []))
    if number != changes.of_scenes():
        found = find_members(running, layer)
        running.members[key] = changes.of_scenes(), found
    playing = known_motions(running, chosen.choices)
    overlay, instant = space.overlay, Instant.of(scene, chosen.choices.player, chosen.now_s)
    with_bones = overlay.show_overlays and overlay.show_bones
    with_outlines = overlay.show_overlays and overlay.show_outline_selected
    is_local, data = space.local_view is not None, changes.of_all_data()
    seen = None if is_local or chosen.trial is not None else _seen(found, context)
    # Numbers of changes first: if they differ, objects that may be gone are not compared.
    actors, seen = running.actors, seen and (running.playing[0], changes.of_scenes(), with_bones, with_outlines, *seen)
    if seen is not None and seen == actors.key:
        for actor in actors.found:
            actor.time_s = instant.time_s(actor.armature, actor.motion)
        return actors.found
    alike, times_s = list[tuple[Any, ...]](), list[float]()
    for character, armature, members, has_bones in found:
        meshes = [mesh for mesh in members if mesh.visible_get(view_layer=layer, viewport=space)
                  or (is_local and is_seen(mesh, armature, layer, space))]
        if meshes:
            if not character.is_fresh(meshes, data) and character.refresh(armature, meshes, is_drawing=True):
                read_later()
            motion, time_now_s = _played(armature, instant, playing, chosen)
            times_s.append(time_now_s)
            alike.append((character.revision, character, armature, meshes, motion,
                          _outline(meshes, layer) if with_outlines else None,
                          _bones(armature, layer, space) if with_bones and has_bones else ""))
    actors.key = seen
    return actors.at(alike, times_s)


def known_motions(running: Running, choices: Choices) -> dict[int, Playable | None]:
    """Return the motions of characters that are known so far, which is none after a change."""
    score.look()
    now = changes.of_scores(), changes.of_all_data(), choices.alone, choices.transitions
    if running.playing[0] != now:
        running.playing = now, {}
    return running.playing[1]


def find_members(running: Running, layer: bpy.types.ViewLayer) -> Members:
    """Return the characters in a view layer with their drawable meshes."""
    found: dict[int, list[bpy.types.Object]] = {}
    armatures = {}
    for ob in layer.objects:
        if ob.session_uid in running.characters:
            armatures[ob.session_uid] = ob
        elif ob.type == "MESH" and not is_worked_on(ob) and (armature := armature_of(ob)) is not None:
            found.setdefault(armature.session_uid, []).append(ob)
    members = [Member(running.characters[uid], armature, found.get(uid, []), are_bones_shown(armature))
               for uid, armature in armatures.items()]
    for member in members:
        member.character.note_settings(member.meshes)
    return members


def _seen(members: Members, context: bpy.types.Context) -> tuple[object, ...] | None:
    """Return what stays equal while a viewport shows the same characters in the same way, or None if there are few.

    Blender lists the visible objects at once, which in a crowd is quicker than looking at each.
    """
    layer = context.view_layer
    assert layer is not None
    if len(layer.objects) > _MOST_OBJECTS * len(members):
        return None
    selected = layer.objects.selected[:]
    return (members, context.visible_objects, selected, _outline_colours() if selected else (), layer.objects.active,
            [character.revision for character, *_ in members], [armature.show_in_front for _, armature, *_ in members])


def is_seen(mesh: bpy.types.Object, armature: bpy.types.Object, layer: bpy.types.ViewLayer,
            space: bpy.types.SpaceView3D) -> bool:
    """Return whether a viewport shows a mesh; in local view this depends on its armature."""
    if mesh.visible_get(view_layer=layer, viewport=space):
        return True
    if space.local_view is None or not armature.visible_get(view_layer=layer, viewport=space):
        return False
    with bpy.context.temp_override(area=None, region=None):  # otherwise it uses the context's viewport
        return mesh.visible_get(view_layer=layer)


def _played(armature: bpy.types.Object, instant: Instant, playing: dict[int, Playable | None],
            chosen: Chosen) -> tuple[Playable | None, float]:
    """Return a character's motion and the time in it; playing: motions known so far, by uid."""
    uid, trial = armature.session_uid, chosen.trial
    if trial is not None and trial.armature_uid == uid:
        return trial.motion, (instant.now_s - trial.since_s) % max(trial.motion.duration_s, 1e-3)
    if uid not in playing:
        playing[uid] = played(armature, chosen.choices)
    return playing[uid], instant.time_s(armature, playing[uid])


def _bones(armature: bpy.types.Object, layer: bpy.types.ViewLayer, space: bpy.types.SpaceView3D) -> Bones:
    """Return how the viewport would show the bones, which are hidden since the score poses them differently."""
    if not armature.visible_get(view_layer=layer, viewport=space):
        return ""
    return "IN_FRONT" if armature.show_in_front else "BEHIND"


def _outline(meshes: list[bpy.types.Object], layer: bpy.types.ViewLayer) -> Tint | None:
    """Return the theme's outline colour if meshes are selected, else None; Blender draws none for hidden originals."""
    for ob in meshes:  # quicker than any() in a crowd
        if ob.select_get(view_layer=layer):
            break
    else:
        return None
    red, green, blue = (channel ** 2.2 for channel in _outline_colours()[layer.objects.active not in meshes])
    return red, green, blue, 1.0


def _outline_colours() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the theme's colours for the active object, and for other selected ones."""
    assert bpy.context.preferences is not None
    theme: Any = bpy.context.preferences.themes[0].view_3d
    return theme.object_active[:], theme.object_selected[:]
