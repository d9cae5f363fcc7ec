"""The current motions of the characters' scores: the only cache of motions in Blender.

Code that needs a motion calls this module, and stores none. `motion_of` compares everything that the motion depends
on; `shown`, for drawing, compares only the numbers of `changes`. Code that changes something notifies `changes`; to
have files checked again, call `forget`.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import bpy

from ...core.errors import Problem, TaktError
from ...core.formats.format import Format
from ...core.playing.meeting import together
from ...core.playing.motion import Motion
from ...core.score_editor.change import holds_nothing_yet
from .. import changes, libraries, properties
from ..files.clip_store import CLIPS
from ..frame_rate import frames_per_second
from ..guard import guarded
from ..scene import cast, floor_shapes, meeting
from . import included_texts, parameters, performing, texts
from .background_performance import BackgroundPerformance
from .performing import Performance

_log = logging.getLogger(__name__)

_LEAST_PERFORMANCES = 64
"""Least number of cached results; in a scene with many characters, two for each object."""
_PATIENCE_S = 0.01
"""Longest time to wait for a performance, so that the next drawing shows it."""
_LOOK_AGAIN_S = 0.02
_QUICK_S = 0.03
"""A changed score is waited for if its last performance took no longer, so that the next drawing shows it."""
_INSTANT_S = 0.012
"""Longest time to wait for a score that was never performed."""
_AS_KEPT: Mapping[str, object] = {}
_MEETS: Hashable = object()
"""In a key, the separator between a character's own part and the parts of the characters that it meets."""
_Key = tuple[Hashable, ...]
_Which = tuple[int, _Key]
"""A character, by its object's session_uid, and the settings that replace its own."""


class _Running(NamedTuple):
    """A performance in the background: its character, its settings, and its key in the cache."""

    which: _Which
    instead: Mapping[str, object]
    key: _Key
    work: BackgroundPerformance


_performances: OrderedDict[_Key, Performance] = OrderedDict()
"""Performances by everything that they depend on, so that characters with equal keys share one motion."""
_last: dict[int, _Key] = {}
"""The key of each character's last performance, by the session_uid of its object."""
_shown: dict[_Which, tuple[tuple[int, int], Motion | None]] = {}
"""The drawn motions, with the numbers of `changes` for which they are valid."""
_last_good: dict[int, Motion | None] = {}
"""The motion of each character when its score last had no errors, by the session_uid of its object."""
_seen: Hashable = None
"""The texts and folders as `look` saw them last."""
_texts: set[int] = set()
"""The session_uids of the Texts that were performed."""
_waiting: dict[_Which, Mapping[str, object]] = {}
"""Performances that were requested during a drawing, with the settings that replace the character's own."""
_performing: _Running | None = None
"""The performance that runs in the background; only one at a time."""
_cost_s: dict[int, float] = {}
"""Processor time of the last performance of each character's score, by the session_uid of its object."""
_with_tweaks: Callable[[bpy.types.Object, Motion], Motion] | None = None
"""Adds an animator's tweaks to a motion; see tweaked_motion.py."""
_when_performed: Callable[[], None] | None = None
_to_tell: dict[Callable[[], None], None] = {}
"""Functions to call as soon as no score is waiting any longer."""


def performed(armature_object: bpy.types.Object, formats: Mapping[str, Format]) -> Performance:
    """Return the performance of an armature's score; it is performed now if it is not in the cache; see `motion_of`.

    formats: of clips, with the readers that are used.
    """
    return _performance(armature_object, _AS_KEPT, formats)


def motion_of(armature_object: bpy.types.Object, **instead: object) -> Motion | None:
    """Return the motion of an armature's score, or None if there is none or it cannot be played.

    The score is performed again only if its text, its settings or the skeleton have changed. Files and Actions that
    it loads count as unchanged until `forget` is called.
    instead: settings that replace the armature's own.
    """
    performance = _performance(armature_object, instead)
    return performance.motion if performance.error is None else None


def playable_motion_of(armature_object: bpy.types.Object) -> Motion | None:
    """Return the motion of the score, even if some clips are missing, for which it stands still."""
    return _performance(armature_object, {}).motion


def shown(armature_object: bpy.types.Object, instead: Mapping[str, object] = _AS_KEPT) -> Motion | None:
    """Return the motion to draw: while the score has errors, that of its last version without any.

    If it never was without errors, the motion of the playable parts.

    Fast enough for every drawing: two numbers are compared. `look` must be called once before.
    """
    uid = armature_object.session_uid
    which = uid, tuple(instead.items())
    now = changes.of_scores(), changes.of_data(_data_uids(armature_object))
    known = _shown.get(which)
    if known is None or known[0] != now:
        performance = _performance(armature_object, instead)
        motion = performance.motion
        if performance.error is None and not instead and (motion is not None or not is_waiting(armature_object)):
            _last_good[uid] = motion
        good = _last_good.get(uid)
        found = good if motion is None or (performance.error and good) else motion
        known = _shown[which] = now, found if found is None or _with_tweaks is None else _with_tweaks(armature_object,
                                                                                                      found)
    return known[1]


def show_with(with_tweaks: Callable[[bpy.types.Object, Motion], Motion] | None) -> None:
    """Set the function that adds tweaks to drawn motions."""
    global _with_tweaks
    _with_tweaks = with_tweaks


def last_good(armature_uid: int) -> Motion | None:
    """Return the last shown motion of a character with its own settings, by its object's session_uid."""
    return _last_good.get(armature_uid)


def look() -> bool:
    """Check for changes that cause no notification: typed texts, and folders in the preferences.

    Returns whether there were any.
    """
    global _seen
    now = libraries.folders(), *((text.session_uid, text.as_string()) for text in bpy.data.texts
                                 if text.session_uid in _texts)
    if now == _seen:
        return False
    _seen = now
    changes.score()
    return True


def error_of(armature_object: bpy.types.Object) -> TaktError | None:
    """Return why an armature's score could not be played in the last try, or None if it could."""
    known = known_performance(armature_object)
    return None if known is None else known.error


def warnings_of(armature_object: bpy.types.Object) -> tuple[Problem, ...]:
    """Return the warnings of the armature's motion."""
    known = known_performance(armature_object)
    if known is None or known.motion is None:
        return ()
    return tuple(problem for problem in known.motion.problems if problem.is_warning and not problem.is_note)


def is_waiting(armature_object: bpy.types.Object) -> bool:
    """Return whether an armature's score will be performed as soon as nothing is drawn."""
    which = [*_waiting, *(() if _performing is None else (_performing.which,))]
    return any(uid == armature_object.session_uid for uid, _ in which)


def reading(armature_object: bpy.types.Object) -> str:
    """Return the name of the file that is being read for an armature's score, or ""."""
    if _performing is None or _performing.which[0] != armature_object.session_uid:
        return ""
    return _performing.work.reading


def played_actions(armature_object: bpy.types.Object) -> frozenset[str]:
    """Return the names of the Actions that an armature's score used in its last performance."""
    known = known_performance(armature_object)
    return frozenset() if known is None else known.actions


def known_performance(armature_object: bpy.types.Object) -> Performance | None:
    """Return the last performance of an armature's score, or None while it runs."""
    return _performances.get(_last.get(armature_object.session_uid, ()))


def perform_soon(armature_object: bpy.types.Object, then: Callable[[], None]) -> Performance | None:
    """Return the performance of an armature's score if it is in the cache; else perform it in the background, then call
    `then`.

    It waits for scores that took hardly any time before, and for a moment for new ones. Do not call it during a
    drawing.
    """
    global _performing
    with while_drawing(then):
        performance = _performance(armature_object, _AS_KEPT)
    if _performing is None:
        _performing = _next_waiting()
    if _performing is not None:
        cost_s = _cost_s.get(_performing.which[0])
        if cost_s is None or cost_s <= _QUICK_S:
            _collect(_INSTANT_S if cost_s is None else _QUICK_S)
    known = known_performance(armature_object)
    if known is not None and known.motion is not None and known.motion.meets and not is_waiting(armature_object):
        with while_drawing(then):
            performance = _performance(armature_object, _AS_KEPT)
    if is_waiting(armature_object):
        return None
    if not _waiting and _performing is None:
        _to_tell.pop(then, None)
    return known_performance(armature_object) or performance


def keep(armature_object: bpy.types.Object, performance: Performance) -> Performance:
    """Put a performance of the armature's current state into the cache for `motion_of`.

    Returns it with hands that meet those of other characters.
    """
    _remember(performing.dependencies(armature_object), performance)
    changes.score()
    return _performance(armature_object, _AS_KEPT)


@contextmanager
def while_drawing(then: Callable[[], None]) -> Iterator[None]:
    """Postpone performances within this context; afterwards they run in the background, then `then` is called.

    A drawing must not wait. And clips of Blender's own files and Actions are read by importing objects, which is not
    allowed during a drawing.
    """
    global _when_performed
    before, _when_performed = _when_performed, then
    try:
        with floor_shapes.busy():
            yield
    finally:
        _when_performed = before


def forget(armature_object: bpy.types.Object | None = None) -> None:
    """Check files and Actions again the next time, for one armature (and those with the same score) or for all."""
    changes.score()
    performing.look_at_files()
    _stop_performing()
    if armature_object is None:
        for kept in (_performances, _last, _texts, _waiting, _to_tell, _cost_s):
            kept.clear()
        forget_shown()
        return
    text = properties.character(armature_object).text
    for key in [key for key in _performances if text is not None and text.as_string() in _texts_of(key)]:
        del _performances[key]


def forget_shown() -> None:
    """Clear the cache for drawing, as when the preview is switched off."""
    for kept in (_shown, _last_good):
        kept.clear()


def keep_lists(armature_object: bpy.types.Object) -> None:
    """Update the lists of the score's own procedures, of its clips, and of the parameters of the played procedure.

    If these are unknown because of errors, the lists stay; unchanged items are not written again.
    """
    known, character = known_performance(armature_object), properties.character(armature_object)
    if known is None:
        return
    if known.motion is not None:
        parameters.keep(character, known.parameters, has_picks=known.has_picks)
    if known.motion is not None or known.roles:
        cast.keep(character, known.roles)
    if known.motion is not None:
        meeting.keep(character, known.motion)
    if known.procedures and known.procedures != tuple(
            (each.name, each.ticks, each.seconds) for each in character.procedures):
        character.procedures.clear()
        for name, ticks, seconds in known.procedures:
            procedure = character.procedures.add()
            procedure.name, procedure.ticks, procedure.seconds = name, ticks, seconds
    played = character.procedures.get(character.procedure)
    if played is not None and known.error is not None and is_empty(character, known.error) and played.ticks:
        played.ticks = played.seconds = 0.0
    if known.clips is not None and known.clips != tuple((each.name, each.seconds) for each in character.clips):
        character.clips.clear()
        for name, seconds in known.clips:
            clip = character.clips.add()
            clip.name, clip.seconds = name, seconds


def is_empty(character: properties.TaktCharacter, error: TaktError) -> bool:
    """Return whether a character's score is valid except that it is empty; error: why it cannot be played."""
    return character.text is not None and holds_nothing_yet(error, texts.said(character.text),
                                                            character.procedure)


def time_s(armature_object: bpy.types.Object, scene: bpy.types.Scene, frame: float) -> float:
    """Return the time in the score at a frame of the scene, which may be fractional."""
    return (frame - properties.character(armature_object).frame_start) / frames_per_second(scene)


def register() -> None:
    """Have files checked again whenever a .blend is loaded."""
    bpy.app.handlers.load_post.append(_after_load)


def unregister() -> None:
    """Clear all caches."""
    if _after_load in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.remove(_after_load)
    forget()
    CLIPS.clear()


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # the stubs give it no types
@guarded(None)
def _after_load(*_: object) -> None:
    forget()


def _performance(armature_object: bpy.types.Object, instead: Mapping[str, object],
                 formats: Mapping[str, Format] | None = None) -> Performance:
    uid = armature_object.session_uid
    if properties.character(armature_object).text is None:
        _last.pop(uid, None)
        return Performance(None)
    key, performance = _alone(armature_object, instead, formats)
    if performance.motion is not None and performance.motion.meets:
        key, performance = _together(armature_object, (uid, tuple(instead.items())), key, instead, performance)
    if not instead:
        _last[uid] = key
    return performance


def _alone(armature_object: bpy.types.Object, instead: Mapping[str, object],
           formats: Mapping[str, Format] | None = None) -> tuple[_Key, Performance]:
    """Return a score's performance without meeting other characters' hands, and its key."""
    character = properties.character(armature_object)
    assert character.text is not None
    _texts.add(character.text.session_uid)
    beside = included_texts.open_beside(texts.said(character.text), properties.score_path(character))
    _texts.update(text.session_uid for text in beside.values())
    key = (*performing.dependencies(armature_object), *instead.items())
    known = _performances.get(key)
    if known is not None:
        _performances.move_to_end(key)
        return key, known
    if _when_performed is not None:
        if not _waiting and _performing is None:
            bpy.app.timers.register(_perform_waiting)
        _to_tell[_when_performed] = None
        if _performing is None or _performing.key != key:
            _waiting[armature_object.session_uid, tuple(instead.items())] = instead
        return key, Performance(None)
    performance = performing.perform_score(
        texts.said(character.text), properties.score_path(character), character, armature_object, instead, formats)
    _remember(key, performance)
    return key, performance


def _together(armature_object: bpy.types.Object, which: _Which, key: _Key, instead: Mapping[str, object],
              alone: Performance) -> tuple[_Key, Performance]:
    """Return a score's performance with hands that meet those of others, and its key; alone: without them."""
    assert alone.motion is not None
    own, others = key, list[Performance]()

    def other_alone(other: bpy.types.Object) -> Performance:
        others.append(_alone(other, _AS_KEPT)[1])
        return others[-1]

    partners = meeting.partners(armature_object, alone.motion, other_alone)
    # Others' motions depend on more than their key: on their skins, and on files that were read again.
    key = (*own, *(other.motion for other in others), _MEETS, *meeting.key(armature_object, alone.motion))
    if any(other.motion is None and other.error is None for other in others):  # performed after the drawing
        later = {each: _waiting.pop(each) for each in list(_waiting) if each != which}
        _waiting[which] = instead
        _waiting.update(later)  # the last one is performed first
        return key, Performance(None)
    if key not in _performances:
        again = alone.again
        _remember(key, replace(alone, motion=together(alone.motion, partners), again=None if again is None else (
            lambda values, seed: together(again(values, seed), partners))))
    _performances.move_to_end(key)
    return key, _performances[key]


def _texts_of(key: _Key) -> list[Hashable]:
    """Return the text of a performed score, and those of the scores that it meets; see `_together`."""
    met: Any = key[key.index(_MEETS) + 1:] if _MEETS in key else ()
    return [key[0], *(dependencies[0] for *_, dependencies in met)]


def _remember(key: _Key, performance: Performance) -> None:
    _performances[key] = performance
    while len(_performances) > max(_LEAST_PERFORMANCES, 2 * len(bpy.data.objects)):
        _performances.popitem(last=False)


@guarded(None)
def _perform_waiting() -> float | None:
    """Perform the waiting scores in the background, one after the other.

    Returns the seconds until the next call, or None when all are done.
    """
    global _performing
    if _performing is None:
        _performing = _next_waiting()
    if not _collect(_PATIENCE_S):
        return _LOOK_AGAIN_S
    if _waiting:
        return 0.0
    changes.score()
    told = tuple(_to_tell)
    _to_tell.clear()
    for tell in told:
        tell()
    return None


def _collect(within_s: float) -> bool:
    """Store the running performance if it ends in time; return whether none is running then."""
    global _performing
    if _performing is None:
        return True
    performance = _performing.work.result(within_s)
    if performance is None:
        return False
    _cost_s[_performing.which[0]] = _performing.work.cost_s
    _remember(_performing.key, performance)
    _performing = None
    changes.score()
    return True


def _next_waiting() -> _Running | None:
    """Start the first waiting performance that is not in the cache, with the current text and settings."""
    objects = {ob.session_uid: ob for ob in bpy.data.objects} if _waiting else {}
    while _waiting:
        which, instead = _waiting.popitem()
        armature_object = objects.get(which[0])
        character = None if armature_object is None else properties.character(armature_object)
        if armature_object is None or character is None or character.text is None:
            continue
        key = (*performing.dependencies(armature_object), *instead.items())
        if not instead and _last.get(which[0], ())[:len(key)] != key:  # otherwise it meets other characters
            _last[which[0]] = key
        if key in _performances:
            continue
        try:
            task = performing.read_task(texts.said(character.text), properties.score_path(character), character,
                                        armature_object, instead)
        except TaktError as error:
            _remember(key, Performance(None, error))
            continue
        except Exception as problem:  # the others must still be performed
            _log.exception("A score could not be read")
            _remember(key, Performance(None, TaktError(f"could not be read: {problem}")))
            continue
        return _Running(which, instead, key, BackgroundPerformance(task, which[0]))
    return None


def _stop_performing() -> None:
    """Drop the running performance, since files that it has read may have changed."""
    global _performing
    if _performing is not None:
        _waiting[_performing.which] = _performing.instead
        _performing.work.end()
        _performing = None


def _data_uids(armature_object: bpy.types.Object) -> tuple[int, ...]:
    return () if armature_object.data is None else (armature_object.data.session_uid,)
