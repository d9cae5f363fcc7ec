"""What the score of a character means now: the one owner of motions in Blender.

Whoever wants a motion asks here, and keeps none. `motion_of` compares everything that the motion depends on; `shown`,
for drawing, compares only the numbers of `changes`. Whoever changes something says so to `changes`; whoever wants files
to be looked at anew calls `forget` here.
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
"""Of how many the results are kept at least; of a scene with many characters two for each object."""
_PATIENCE_S = 0.01
"""What is performed by then is shown in the next drawing."""
_LOOK_AGAIN_S = 0.02
_QUICK_S = 0.03
"""A score that was performed within that is waited for when it has changed: the next drawing shows it."""
_INSTANT_S = 0.012
"""So long at most one is waited for that was never performed."""
_AS_KEPT: Mapping[str, object] = {}
_MEETS: Hashable = object()
"""In a key, between what a character does by itself and those whom it meets."""
_Key = tuple[Hashable, ...]
_Which = tuple[int, _Key]
"""A character, by its object's session_uid, and the settings that replace its own."""


class _Running(NamedTuple):
    """A performance in the background: for whom, with which settings, under which key it will be kept."""

    which: _Which
    instead: Mapping[str, object]
    key: _Key
    work: BackgroundPerformance


_performances: OrderedDict[_Key, Performance] = OrderedDict()
"""By all that they depend on, so that characters who do the same share one motion."""
_last: dict[int, _Key] = {}
"""What each character played last, by the session's number of its object."""
_shown: dict[_Which, tuple[tuple[int, int], Motion | None]] = {}
"""What is drawn, with the numbers of `changes` for which it is valid."""
_last_good: dict[int, Motion | None] = {}
"""What each character played when its score last had no errors."""
_seen: Hashable = None
"""The texts and folders as `look` saw them last."""
_texts: set[int] = set()
"""The session's numbers of the Texts that were performed."""
_waiting: dict[_Which, Mapping[str, object]] = {}
"""What was wanted while something was drawn, with the settings that replace the character's own."""
_performing: _Running | None = None
"""What is being performed in the background: one at a time."""
_cost_s: dict[int, float] = {}
"""The processor's time that it took to perform each character's score last, by the session's number of its object."""
_with_tweaks: Callable[[bpy.types.Object, Motion], Motion] | None = None
"""Adds to a motion what an animator has changed above it; see tweaked_motion.py."""
_when_performed: Callable[[], None] | None = None
_to_tell: dict[Callable[[], None], None] = {}
"""Who is told as soon as nothing waits any longer."""


def performed(armature_object: bpy.types.Object, formats: Mapping[str, Format]) -> Performance:
    """Return what comes of the score kept with an armature, performed now where it is not known; see `motion_of`.

    formats: of clips, with the readers that are used.
    """
    return _performance(armature_object, _AS_KEPT, formats)


def motion_of(armature_object: bpy.types.Object, **instead: object) -> Motion | None:
    """Return the motion of the score kept with an armature, None if there is none or it cannot be played.

    The score is performed again only when its text, its settings or the skeleton have changed. Files and Actions that
    it loads count as unchanged until `forget` is called.
    instead: settings that replace those kept with the armature.
    """
    performance = _performance(armature_object, instead)
    return performance.motion if performance.error is None else None


def playable_motion_of(armature_object: bpy.types.Object) -> Motion | None:
    """Return the motion of the score, also where clips of it are missing, for which it stands still."""
    return _performance(armature_object, {}).motion


def shown(armature_object: bpy.types.Object, instead: Mapping[str, object] = _AS_KEPT) -> Motion | None:
    """Return the motion to be drawn: while the score has errors, what it meant when it last had none.

    Where it never had none, what of it can be played.

    Cheap to ask for in every drawing: two numbers are compared. `look` must be called once before.
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
    """Let motions be drawn with what this makes of them."""
    global _with_tweaks
    _with_tweaks = with_tweaks


def last_good(armature_uid: int) -> Motion | None:
    """Return what was last shown of a character with its own settings, by its object's session_uid."""
    return _last_good.get(armature_uid)


def look() -> bool:
    """Look at what is changed without anybody being told: texts that are typed, and folders in the preferences.

    Return whether anything was.
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
    """Return why the score kept with an armature could not be played when it was last tried, None if it could."""
    known = known_performance(armature_object)
    return None if known is None else known.error


def warnings_of(armature_object: bpy.types.Object) -> tuple[Problem, ...]:
    """Return what is unusual about what the score plays on this armature, but can be played all the same."""
    known = known_performance(armature_object)
    if known is None or known.motion is None:
        return ()
    return tuple(problem for problem in known.motion.problems if problem.is_warning and not problem.is_note)


def is_waiting(armature_object: bpy.types.Object) -> bool:
    """Return whether the score kept with an armature, changed or not, will be performed as soon as nothing is drawn."""
    which = [*_waiting, *(() if _performing is None else (_performing.which,))]
    return any(uid == armature_object.session_uid for uid, _ in which)


def reading(armature_object: bpy.types.Object) -> str:
    """Return the name of the file that is being read for the score kept with an armature, "" if none is."""
    if _performing is None or _performing.which[0] != armature_object.session_uid:
        return ""
    return _performing.work.reading


def played_actions(armature_object: bpy.types.Object) -> frozenset[str]:
    """Return the names of the Actions that the score kept with an armature played when it was last performed."""
    known = known_performance(armature_object)
    return frozenset() if known is None else known.actions


def known_performance(armature_object: bpy.types.Object) -> Performance | None:
    """Return what came of the score kept with an armature when it was last performed, None while that goes on."""
    return _performances.get(_last.get(armature_object.session_uid, ()))


def perform_soon(armature_object: bpy.types.Object, then: Callable[[], None]) -> Performance | None:
    """Return what comes of the score kept with an armature if it is known; else perform it beside, then call `then`.

    What took no time to speak of before is waited for, and for an instant what was never performed. Never from within a
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
    """Let what was just performed from what is kept with the armature be found by `motion_of`.

    Return the same, with hands that meet those of other characters.
    """
    _remember(performing.dependencies(armature_object), performance)
    changes.score()
    return _performance(armature_object, _AS_KEPT)


@contextmanager
def while_drawing(then: Callable[[], None]) -> Iterator[None]:
    """Perform nothing meanwhile, but afterwards in the background, and call `then` when that is done.

    A drawing waits for nothing; and clips of Blender's own files and Actions are read by bringing objects into the
    file, which must not be done from within a drawing.
    """
    global _when_performed
    before, _when_performed = _when_performed, then
    try:
        with floor_shapes.busy():
            yield
    finally:
        _when_performed = before


def forget(armature_object: bpy.types.Object | None = None) -> None:
    """Look at files and Actions anew the next time, for one armature (and those that do the same) or for all."""
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
    """Keep nothing for drawing any longer, as when the preview is switched off."""
    for kept in (_shown, _last_good):
        kept.clear()


def keep_lists(armature_object: bpy.types.Object) -> None:
    """List the score's own procedures, any of which can be played, its clips, and the parameters of what plays.

    What cannot be known of a score with errors stays as it was; what is listed already is not written again.
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
    """Return whether a character's score is right but for holding nothing yet; error: why it cannot be played."""
    return character.text is not None and holds_nothing_yet(error, texts.said(character.text),
                                                            character.procedure)


def time_s(armature_object: bpy.types.Object, scene: bpy.types.Scene, frame: float) -> float:
    """Return the time in the score at a frame of the scene, which may have a fraction."""
    return (frame - properties.character(armature_object).frame_start) / frames_per_second(scene)


def register() -> None:
    """Have files looked at anew whenever a .blend is loaded."""
    bpy.app.handlers.load_post.append(_after_load)


def unregister() -> None:
    """Keep nothing any longer."""
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
    """Return what comes of a score before any hands meet those of others, and its key."""
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
    """Return what comes of a score whose hands meet those of other characters, and its key; alone: without them."""
    assert alone.motion is not None
    own, others = key, list[Performance]()

    def other_alone(other: bpy.types.Object) -> Performance:
        others.append(_alone(other, _AS_KEPT)[1])
        return others[-1]

    partners = meeting.partners(armature_object, alone.motion, other_alone)
    # What they do depends on more than their key says: on their skins, and on files that were read anew.
    key = (*own, *(other.motion for other in others), _MEETS, *meeting.key(armature_object, alone.motion))
    if any(other.motion is None and other.error is None for other in others):  # it will be performed after the drawing
        later = {each: _waiting.pop(each) for each in list(_waiting) if each != which}
        _waiting[which] = instead
        _waiting.update(later)  # whoever waits last is performed first
        return key, Performance(None)
    if key not in _performances:
        again = alone.again
        _remember(key, replace(alone, motion=together(alone.motion, partners), again=None if again is None else (
            lambda values, seed: together(again(values, seed), partners))))
    _performances.move_to_end(key)
    return key, _performances[key]


def _texts_of(key: _Key) -> list[Hashable]:
    """Return the text of a score that was performed, and those of whom its hands meet; see `_together`."""
    met: Any = key[key.index(_MEETS) + 1:] if _MEETS in key else ()
    return [key[0], *(dependencies[0] for *_, dependencies in met)]


def _remember(key: _Key, performance: Performance) -> None:
    _performances[key] = performance
    while len(_performances) > max(_LEAST_PERFORMANCES, 2 * len(bpy.data.objects)):
        _performances.popitem(last=False)


@guarded(None)
def _perform_waiting() -> float | None:
    """Perform what was wanted while something was drawn, one after the other, in the background.

    Return in how many seconds to look again, None when all is done.
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
    """Keep what is being performed if that is done by then; tell whether nothing is being performed any longer."""
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
    """Begin to perform the first that waits and is not known yet; its text and its settings are those of now."""
    objects = {ob.session_uid: ob for ob in bpy.data.objects} if _waiting else {}
    while _waiting:
        which, instead = _waiting.popitem()
        armature_object = objects.get(which[0])
        character = None if armature_object is None else properties.character(armature_object)
        if armature_object is None or character is None or character.text is None:
            continue
        key = (*performing.dependencies(armature_object), *instead.items())
        if not instead and _last.get(which[0], ())[:len(key)] != key:  # else it meets others besides
            _last[which[0]] = key
        if key in _performances:
            continue
        try:
            task = performing.read_task(texts.said(character.text), properties.score_path(character), character,
                                        armature_object, instead)
        except TaktError as error:
            _remember(key, Performance(None, error))
            continue
        except Exception as problem:  # whatever it is, the others are still to be performed
            _log.exception("A score could not be read")
            _remember(key, Performance(None, TaktError(f"could not be read: {problem}")))
            continue
        return _Running(which, instead, key, BackgroundPerformance(task, which[0]))
    return None


def _stop_performing() -> None:
    """Let go of what is being performed: the files that it has read may be others now."""
    global _performing
    if _performing is not None:
        _waiting[_performing.which] = _performing.instead
        _performing.work.end()
        _performing = None


def _data_uids(armature_object: bpy.types.Object) -> tuple[int, ...]:
    return () if armature_object.data is None else (armature_object.data.session_uid,)
