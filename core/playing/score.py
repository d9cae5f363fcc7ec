"""From the text of a score to a motion of a character, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from ..clips.clip import Clip, Interpolation, TranslationInterpolation
from ..clips.released import Released, without_contacts
from ..errors import Place, Problem, ScoreError, SkeletonMismatchError, quoted, some_of
from ..library.library import Library
from ..library.store import ClipStore
from ..maths.arrays import BoolArray
from ..pha.definitions import Definitions
from ..pha.document import parse
from ..pha.expansion import expand
from ..pha.expressions import Value
from ..pha.programme import Programme, resolve
from ..pha.sequence import Sequence
from ..retargeting.retarget import Retargeted, standing_still
from ..retargeting.skin_points import SkinPoints
from ..skeletons.hierarchy import with_ancestors
from ..skeletons.maps import ESSENTIAL, SkeletonMap, find_map
from ..skeletons.skeleton import Skeleton
from .arrangement import arranged
from .clock import Clock
from .feet.footwork import ground_level
from .feet.legs import legs_of, with_whole_legs
from .fit import fit_named, fit_seams
from .motion import Motion, compose
from .performer import Performer
from .placing.root_motion import RootMode
from .playing import Playing
from .row import Row
from .scene.cast import Target
from .scene.scene import Scene
from .scene.travelling_clips import with_travelling
from .transitions.blending import Style

LONGEST_S: Final = 4.0 * 3600.0
"""Longest motion. A score that is longer is usually a slip while dragging a value, and must not block Blender."""
FindMap = Callable[[Skeleton], SkeletonMap]


@dataclass(frozen=True)
class Settings:
    """How a score is played: identifiers of the registries TRANSITION_METHODS, CURVES, FITS, ROOT_MODES and so on.

    values: of the procedure's parameters, by name. seed: for random choices. released: contacts of clips that are
    switched off, so the foot follows the clip. cast: the objects that play the roles, by role name, in the skeleton's
    model space. unit_m: the metres in a unit of that space, for messages.

    LEAD with LINEAR is the default. Among the methods that keep the beat and the clips' tempo, it disturbs hips, hands
    and feet least at seams (benchmarks/joins.py). It also keeps the clips' own motion there, where accents are. If only
    the change of the joints' angular velocity counts (benchmarks/seams.py), BOTH is about as good. In °/frame² at the
    frames that change most, and at the worst frame of all, LEAD reaches 39.4 and 139. BOTH reaches 37.9 and 149 with
    linear curves, and 39.4 and 149 with cosine curves.
    """

    procedure: str = "main"
    method: str = "LEAD"
    curve: str = "LINEAR"
    interpolation: Interpolation = "SLERP"
    translation: TranslationInterpolation = "LINEAR"
    pace: str = "CARRIED"
    joint_time: str = "SHARED"
    fit: str = "AUTHORED"
    speed: str = "NEAR"
    root_motion: RootMode = "CONTINUE"
    loop: bool = False
    transitions: bool = True
    lock_feet: bool = True
    keep_contacts: bool = False
    values: tuple[tuple[str, Value], ...] = ()
    seed: int = 0
    released: tuple[Released, ...] = ()
    cast: tuple[tuple[str, Target], ...] = ()
    unit_m: float = 1.0

    @property
    def holds_feet(self) -> bool:
        """Whether feet are locked. Characters that dance in place have none locked: the ground passes below them."""
        return self.lock_feet and self.root_motion != "IN_PLACE"

    @property
    def style(self) -> Style:
        """The settings for blending."""
        return Style(self.method, self.curve, self.interpolation, self.translation, self.pace, self.joint_time)


def perform(text: str | bytes, path: Path | None, library: Library, performer: Performer,
            settings: Settings | None = None) -> Motion:
    """Read a score and make the motion of a character from it.

    path: the score's file, for messages, and to find the library's folders if it names none.

    Raises ScoreError or FileError with every problem of the score and its files, SkeletonMismatchError if a clip has no
    joint in common with the skeleton, TaktError if settings do not exist or contradict each other.
    """
    document = parse(text, path)
    library = library.beside(document)
    return play(resolve(document, library), performer, settings, maps=library.skeleton_map, store=library.store)


def play(programme: Programme, performer: Performer, settings: Settings | None = None, *,
         maps: FindMap = find_map, store: ClipStore | None = None, longest_s: float = np.inf) -> Motion:
    """Make the motion of a character from a resolved score; see perform.

    maps: finds the roles of a skeleton's joints. store: cache of retargeted clips. longest_s: a longer score raises
    ScoreError at once.
    """
    skeleton, turn, skin, points = performer.skeleton, performer.turn, performer.skin, performer.points
    store = store or ClipStore()
    settings = settings or Settings()
    sequence = expand(programme, settings.procedure, settings.loop, values=dict(settings.values), seed=settings.seed)
    _refuse_longer(sequence, longest_s, Place(programme.document.path))
    if not settings.transitions:
        sequence = sequence.without_transitions()
    sequence, clips = _with_played_clips(sequence, programme)
    if not clips:
        raise ScoreError(Problem(f"<procedure> {quoted(settings.procedure)} only waits, expected a clip to be played",
                                 Place(programme.document.path)))
    sequence, clips = with_travelling(sequence, clips, maps)
    target = store.skeleton(clips[0].skeleton.turned(turn) if skeleton is None else skeleton)
    retarget = partial(store.retargeted, target=target, turn=turn, target_map=maps(target),
                       skin=None if skeleton is None else skin, points=None if skeleton is None else points,
                       keep_contacts=settings.keep_contacts)
    fitted, unmatched, missed = _fitted(clips, sequence, target, maps, retarget, Place(programme.document.path))
    target_map = maps(target)
    doubles, up = _followed(fitted), target_map.up(performer.up)
    seen = None if skeleton is None or skin is None or not skin.any() else _seen(target_map, skin, points)
    with_skin = None if seen is None else _carrying(target, seen)
    playing = Playing(settings.style, settings.root_motion, up, settings.speed, performer.limits,
                      doubles, with_skin, seen, target_map)
    own = [without_contacts(each.clip, name, settings.released)
           for each, name in zip(fitted, sequence.clips, strict=True)]
    own = with_whole_legs(own, legs_of(target_map)) if settings.holds_feet else own
    sequence, pieces, said = arranged(sequence, own, target_map, playing, Place(programme.document.path))
    clock, lacking = clock_of(programme), tuple[Problem, ...]()
    floors = {role.name: document.place(role) for document in programme.documents for role in document.roles
              if role.kind == "floor"}
    level = ground_level(target_map, up, points) if settings.cast and skeleton is not None else 0.0
    scene = Scene(dict(settings.cast), target_map, turn, up, playing.followers, clock, tuple(floors.items()),
                  settings.unit_m, level, None if skeleton is None else points)
    if any(way.going.fits for way in sequence.ways):
        sequence, lacking = scene.fitted(sequence, Row.of(sequence, pieces, playing))
    sequence, pieces, cuts, told = fit_seams(sequence, pieces, fit_named(settings.fit), programme.document.tick_s,
                                             target_map, playing)
    return compose(sequence, pieces, playing, feet=target_map if settings.holds_feet else None,
                   points=None if skeleton is None else points, clock=clock, scene=scene, cuts=cuts,
                   problems=programme.problems + missed + said + lacking + told, unmatched=unmatched)


def _seen(body: SkeletonMap, skin: BoolArray, points: SkinPoints | None) -> BoolArray:
    """Return the deforming joints (J,) whose motion is visible: those with a role in the body, and those with vertices.

    Others are left out, since importers mark controls as deforming, too. Without meshes, all deforming joints count.
    """
    if points is None:
        return skin
    has_vertices = np.zeros(len(skin), dtype=np.bool_)
    has_vertices[points.joints[points.weights > 0.0]] = True
    has_vertices[list(body.joint_of.values())] = True
    return skin & has_vertices


def _carrying(skeleton: Skeleton, skin: BoolArray) -> BoolArray:
    """Return the joints that move skin, (J,): those that deform it, and all their ancestors."""
    carrying = np.zeros(len(skeleton), dtype=np.bool_)
    carrying[with_ancestors(skeleton.parents, np.flatnonzero(skin))] = True
    return carrying


def _refuse_longer(sequence: Sequence, longest_s: float, place: Place) -> None:
    duration_s = float(sequence.length_s.sum())
    if duration_s > longest_s:
        raise ScoreError(Problem(f"this lasts {duration_s:,.0f} s, expected at most {longest_s:,.0f} s: make it "
                                 "shorter, or repeat it less often", place))


def clock_of(programme: Programme) -> Clock | None:
    """Return the clock by which a score is played, or None if no tempo changes its time."""
    tempo = programme.calls.views[0].tempo if isinstance(programme.calls, Definitions) else ()
    return Clock.of(tempo, programme.document.tick_s) if tempo else None


def _with_played_clips(sequence: Sequence, programme: Programme) -> tuple[Sequence, tuple[Clip, ...]]:
    """Return the sequence without clips that no segment plays, and the clips that remain."""
    sequence, used = sequence.of_used_clips()
    return sequence, tuple(programme.clips[i] for i in used)


def _fitted(clips: Iterable[Clip], sequence: Sequence, skeleton: Skeleton, maps: FindMap,
            retarget: Callable[..., Retargeted],
            place: Place) -> tuple[list[Retargeted], tuple[str, ...], tuple[Problem, ...]]:
    """Return the clips on the skeleton, the joints without counterpart on either side, and warnings.

    A clip that cannot be played is replaced by a still pose and a warning at its first call. If none can be played,
    that is an error.
    """
    fitted: list[Retargeted] = []
    errors: list[Problem] = []
    missed: dict[tuple[str, ...], Problem] = {}  # one problem for all clips that lack the same joints
    said: list[Problem] = []
    without_target: dict[str, None] = {}
    without_source: set[str] = set(skeleton.names)
    for number, (clip, name) in enumerate(zip(clips, sequence.clips, strict=True)):
        meant = maps(clip.skeleton)
        try:
            result = retarget(clip, source_map=meant)
        except SkeletonMismatchError as error:
            at = sequence.first_call(number)
            errors.append(Problem(f"{quoted(name)}: {error}", place if at is None else at, missing=name))
            fitted.append(standing_still(clip, skeleton, meant))
            continue
        fitted.append(result)
        said += [Problem(f"{quoted(name)}: {text}", place, is_warning=True, is_note=True) for text in result.notes]
        if lost := _missed(result.unmatched_source, meant):
            missed.setdefault(lost, Problem(f"{quoted(name)} moves {some_of(lost)}, but "
                                            f"{quoted(skeleton.name)} has no counterpart", place, is_warning=True))
        without_target.update(dict.fromkeys(result.unmatched_source))
        without_source.intersection_update(result.unmatched_target)
    if len(errors) == len(fitted):
        raise ScoreError(*errors)
    told = (replace(error, is_warning=True) for error in errors)
    without_target.update((name, None) for name in skeleton.names if name in without_source)  # both may have the name
    return (fitted, tuple(without_target),
            (*told, *missed.values(), *said))


def _missed(unmatched: Iterable[str], meant: SkeletonMap) -> tuple[str, ...]:
    """Return which unmatched joints are essential ones of a body; all of them if the joints' roles are unknown."""
    index_of = meant.skeleton.index_of
    return tuple(name for name in unmatched if meant.meant[index_of[name]] in ESSENTIAL or not meant.is_humanoid)


def _followed(fitted: list[Retargeted]) -> dict[int, int]:
    """Return the joints that copy others, and those they copy, except joints that a clip moves by itself."""
    found = {joint: on for each in fitted for joint, on in each.doubles.items()}
    return {joint: on for joint, on in found.items()
            if not any(each.clip.moved[joint] and each.doubles.get(joint) != on for each in fitted)}
