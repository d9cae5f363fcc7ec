"""Keep Action Up to Date: changes are noticed, performed in the background, and written into the Action.

A timer checks the scores of the scene's armatures, since Blender sends no notification of typed text. Once a change is
finished, that is when nothing has changed for a moment, the Action is sampled in a thread and then written. A timer
makes no undo step. So the new Action belongs to the undo step of the change, or follows it, and one Undo reverts both.
If Blender reverts only one of the two, the digest in the Action shows that, and the Action is written again.

An Action is written only in place of one that Takt made and the user has not edited, or where none is assigned; and
only after a change since the file was opened.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import bpy
from bpy.app import handlers

from .. import changes, properties, versions
from ..actions import action, called_actions, write_motion
from ..actions.below_own_actions import is_score_heard
from ..active_character import score_problem
from ..files import clips
from ..guard import guarded
from ..meshes import skin_points
from ..rigs import constraints
from ..scene import floor_shapes, held_props
from ..tweaking import tweaked_motion, tweaks
from . import background_writing, linked_texts, score, texts

_INTERVAL_S = 0.2
_AFTER_FAILURE_S = 2.0
_LOOK_S = 0.004
"""Time limit of one check: it checks the active character, and as many others in turn, one at least."""
_SETTLED_S = 0.35
"""A change is finished when nothing more has changed for this time."""


@dataclass
class _Followed:
    """The last seen state of an armature's score.

    said: digest of the score and its settings, without the skin. digest: the same with the skin; "" while no skin was
    read. since_s: when they were first seen. listed: the `said` for which the panel lists procedures. made_from: the
    digest stored in the Action. is_changed: whether any of it has changed since the armature was first seen. is_older:
    whether the Action was made from another digest. problem: why it is not updated. action: the session_uid of the
    Action when it was last seen, with the number of its last change, see `changes`. acted_s: when that was first seen.
    is_compared: whether it was since then compared with what Takt wrote. edited: its session_uid if the user has edited
    it, else 0.
    """

    said: str
    digest: str
    since_s: float
    listed: str
    made_from: str
    is_changed: bool = False
    is_older: bool = False
    problem: str = ""
    action: tuple[int, int] = (0, 0)
    acted_s: float = 0.0
    is_compared: bool = True
    edited: int = 0
    own_keys: tuple[int, str] = (0, "")


_followed: dict[int, _Followed] = {}
"""The last seen states, by the session_uid of the armature's object."""
_files: dict[int, linked_texts.State] = {}
"""How Texts compare with their files, by their session_uid."""
_turn = 0
"""The armature of the scene that was checked last."""


def file_state(text: bpy.types.Text) -> linked_texts.State:
    """Return how a score's Text compared with its file at the last check."""
    return _files.get(text.session_uid, "SAME")


def is_older(armature_object: bpy.types.Object) -> bool:
    """Return whether an armature's Action was made from another score, or with other settings, than it has now."""
    known = _followed.get(armature_object.session_uid)
    return known is not None and known.is_older


def problem(armature_object: bpy.types.Object) -> str:
    """Return why the Action could not be made from the current score, "" if it could."""
    known = _followed.get(armature_object.session_uid)
    return "" if known is None else known.problem


def is_edited(armature_object: bpy.types.Object) -> bool:
    """Return whether the user has edited the Action that Takt made, as far as it was compared since."""
    known, own = _followed.get(armature_object.session_uid), properties.character(armature_object).action
    return known is not None and own is not None and known.edited == own.session_uid


def told_of_own_keys(armature_object: bpy.types.Object) -> str:
    """Return a message about keys that the user has added to the Action, as far as it was compared since, or ""."""
    known, own = _followed.get(armature_object.session_uid), properties.character(armature_object).action
    return known.own_keys[1] if known is not None and own is not None and known.own_keys[0] == own.session_uid else ""


def want_action(armature_object: bpy.types.Object) -> None:
    """Request that an armature's Action is written, since the armature has just got its score."""
    _followed[armature_object.session_uid] = _Followed("", "", 0.0, "", "", is_changed=True)


def partner_changed(those_who_meet: Iterable[bpy.types.Object]) -> None:
    """Request that Actions of characters are written again, since hands that their hands meet have moved.

    Digests do not show that clip files were read again.
    """
    for other in those_who_meet:
        own = properties.character(other).action
        if own is not None and own.library is None and getattr(own, properties.MADE_FROM):
            setattr(own, properties.MADE_FROM, write_motion.OF_ANOTHER_PARTNER)
            if (known := _followed.get(other.session_uid)) is not None:
                known.is_changed = True


def look(now_s: float) -> None:
    """Notice changes, and advance the work on them by one step."""
    scene, manager = bpy.context.scene, bpy.context.window_manager
    if scene is None or manager is None or bpy.app.is_job_running("RENDER") or clips.must_wait(manager.windows):
        return
    if score.look():
        _redraw()
    armatures = {ob.session_uid: ob for ob in scene.objects if ob.type == "ARMATURE"}
    for gone in _followed.keys() - armatures.keys():
        del _followed[gone]
    for armature_object in _in_turn(armatures):
        _look_at_one(armature_object, scene, now_s)
    ended = background_writing.finish(armatures, scene)
    if ended is not None:
        known = _followed[ended.uid]
        if ended.problem:
            known.problem, known.is_changed = ended.problem, False
        else:
            known.is_older = False
        _redraw()


@guarded(None)  # one character's problem does not affect the others
def _look_at_one(armature_object: bpy.types.Object, scene: bpy.types.Scene, now_s: float) -> None:
    constraints.follow_action(armature_object)
    held_props.follow(armature_object, plays=is_score_heard(armature_object))
    _look_at(armature_object, scene, now_s)


def _in_turn(armatures: Mapping[int, bpy.types.Object]) -> Iterator[bpy.types.Object]:
    """Yield the armatures to check now: the active one, then those checked longest ago.

    At least one of the latter is yielded, so that all are checked even if the active one takes all the time.
    """
    global _turn
    began_s, active = time.monotonic(), _active()
    if active is not None and active.session_uid in armatures:
        yield active
    uids = list(armatures)
    for _ in uids:
        _turn = (_turn + 1) % len(uids)
        if armatures[uids[_turn]] == active:
            continue
        yield armatures[uids[_turn]]
        if time.monotonic() - began_s > _LOOK_S:
            return


def _active() -> bpy.types.Object | None:
    """Return the armature that is active, or that deforms what is; a timer's context has no active object."""
    layer = bpy.context.view_layer
    active = None if layer is None else layer.objects.active
    return active if active is None or active.type == "ARMATURE" else active.find_armature()


def _look_at(armature_object: bpy.types.Object, scene: bpy.types.Scene, now_s: float) -> None:
    known, character = _followed.get(armature_object.session_uid), properties.character(armature_object)
    if character.text is not None and linked_texts.look(character.text) != _files.get(character.text.session_uid):
        _files[character.text.session_uid] = linked_texts.state(character.text)
        _redraw()
    if texts.is_proposed():
        return  # an edit is only tried out
    called_actions.look_after(armature_object)
    with floor_shapes.busy():
        said, digest = _digests(armature_object, scene)
    made_from = "" if character.action is None else getattr(character.action, properties.MADE_FROM)
    older = bool(digest) and digest != made_from and (bool(made_from) or (known is not None and known.is_changed))
    if said and character.action is not None:
        if not older:
            tweaks.look(armature_object, scene)
        else:  # keys stay where the user sees them until the Action is written; undo restores them as they were set
            tweaks.tie(armature_object, scene, is_older=True)
    if known is None:
        _followed[armature_object.session_uid] = _Followed(said, digest, now_s, said, made_from, is_older=older)
        return
    _look_for_edits(armature_object, known, now_s)
    is_other_action = older and made_from != known.made_from  # undo has restored an older one
    if said != known.said or (digest and known.digest and digest != known.digest) or is_other_action:
        known.since_s, known.is_changed, known.problem = now_s, True, ""
        _redraw()
    known.said, known.made_from, known.digest = said, made_from, (digest or known.digest) if said else ""
    if older != known.is_older:
        known.is_older, known.problem = older, known.problem if older else ""
        _redraw()
    is_listed = known.listed == said and not score.error_of(armature_object)
    if not said or not known.is_changed or (is_listed and digest and not older):
        return
    performance = score.perform_soon(armature_object, _redraw)
    if performance is None:
        return
    score.keep_lists(armature_object)
    if known.listed != said:
        known.listed = said
        _redraw()
    if performance.error is not None:  # the Action stays, since a word may be half typed
        return
    is_finished = now_s - known.since_s >= _SETTLED_S
    if older and character.keep_action and is_finished and is_score_heard(armature_object):
        stays = background_writing.begin(armature_object, scene, digest, performance)
        if stays:
            known.problem, known.is_changed = stays, False
            _redraw()


def _look_for_edits(armature_object: bpy.types.Object, known: _Followed, now_s: float) -> None:
    """Compare the active character's Action with what Takt wrote, once it has not changed for a moment."""
    own = properties.character(armature_object).action
    seen = (0, 0) if own is None else (own.session_uid, changes.of_action(own.session_uid))
    if seen != known.action:
        known.action, known.acted_s, known.is_compared = seen, now_s, own is None
    elif not known.is_compared and now_s - known.acted_s >= _SETTLED_S and armature_object == _active():
        known.is_compared = True
        edited = own.session_uid if own is not None and action.is_edited_by_hand(armature_object) else 0
        own_keys = seen[0], action.told_of_own_keys(action.own_keys(armature_object))
        if (edited, own_keys) != (known.edited, known.own_keys):
            known.edited, known.own_keys = edited, own_keys
            _redraw()


def _digests(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> tuple[str, str]:
    """Return the digest of the Action's input without the skin, and with it, "" if no mesh was read yet."""
    if score_problem(armature_object):
        return "", ""
    skin = skin_points.known_checksum(armature_object)
    said = write_motion.digest(armature_object, scene, 0)
    return said, "" if skin is None else said if skin == 0 else write_motion.digest(armature_object, scene, skin)


def _redraw() -> None:
    for area in _areas():
        area.tag_redraw()


def _areas() -> Iterator[bpy.types.Area]:
    manager = bpy.context.window_manager
    for window in manager.windows if manager else ():
        yield from (area for area in window.screen.areas if area.type in ("VIEW_3D", "NODE_EDITOR"))


@guarded(_AFTER_FAILURE_S)
def _tick() -> float | None:
    look(time.monotonic())
    return _INTERVAL_S


@handlers.persistent  # type: ignore[untyped-decorator]  # the stubs give it no types
@guarded(None)
def _before_saving(*_: object) -> None:
    """Tie new keys of tweaks, even if no timer runs, since the file must store their ties."""
    scene = bpy.context.scene
    if scene is None:
        return
    for ob in bpy.data.objects:
        # reading settings would create them on objects without any
        is_kept = ob.type == "ARMATURE" and versions.saved_settings(ob, properties.NAME) is not None
        if is_kept and tweaks.has_tweaks(ob):
            own = properties.character(ob).action
            made_from = "" if own is None else getattr(own, properties.MADE_FROM)
            tweaks.tie(ob, scene, is_older=made_from != write_motion.digest(ob, scene))


def register() -> None:
    """Start checking."""
    bpy.app.timers.register(_tick, first_interval=_INTERVAL_S, persistent=True)
    handlers.save_pre.append(_before_saving)
    called_actions.register()
    tweaked_motion.register()


def unregister() -> None:
    """Stop checking."""
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    if _before_saving in handlers.save_pre:
        handlers.save_pre.remove(_before_saving)
    background_writing.end()
    _followed.clear()
    _files.clear()
    linked_texts.forget()
    called_actions.unregister()
    tweaked_motion.unregister()
    tweaks.forget()
