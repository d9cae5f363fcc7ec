"""Which calls of a score sit on something of the scene."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from ...errors import Problem, quoted
from ...maths.arrays import FloatArray
from ...pha.ways import Way
from ..feet.floored import Floored
from ..feet.seats import SITS, Seat, SeatSkin, Thighs, are_still
from ..feet.standing import Feet
from ..row import Row
from .cast import ScenePlace, Target, at_time, touched_at
from .sits import GROUND_LEGS, Ground
from .spells import Spells
from .ways import edges_s, innermost

_HIGHEST_LEGS: Final = 0.3
"""A seat may be higher than the seat of the standing body by so many leg lengths. The body does not jump onto a higher
one."""
_SEEN_LEGS: Final = 0.01
"""Feet that hang higher above the ground, and seats that move farther, in leg lengths, are reported."""
_ASIDE_LEGS: Final = 0.15
"""Greatest horizontal distance of the hips from the seat, in leg lengths, that is not reported."""
_LOOKS_S: Final = 0.1
"""Interval at which a call is checked for sitting."""
_INSTANTS: Final = 9
"""Number of instants of a clip at which it is checked."""
_AIR_FOLD_LEGS, _AIR_LEGS = 0.35, 0.2
"""A body that rests at a place on the ground sits in mid-air if its legs are folded that far and its seat is that high
above the ground, in leg lengths: one that squats so low is nearer to the ground."""


def highest(skin: SeatSkin, ground: Ground) -> float:
    """Return the greatest height of a seat above the ground on which a body can sit."""
    return skin.stands - ground.level + _HIGHEST_LEGS * skin.leg


def seats_of(stage: Feet, skin: SeatSkin, spells: Spells, cast: Mapping[str, Target],
             shown: Callable[[FloatArray], FloatArray], ground: Ground,
             unit_m: float = 1.0) -> tuple[tuple[Seat, ...], tuple[Problem, ...]]:
    """Return the seats on which calls of a motion sit, in order, and warnings.

    A call sits if it begins at a place, or leads to one, and folds both legs there. A place on the ground is no seat.
    skin: on which the body sits. spells: of the motion's segments. shown: turns times (F,) of the motion into times
    that the clock shows, in seconds. ground: see Ground. unit_m: see Settings.
    """
    row, thighs, seats, said = spells.row, spells.thighs, list[Seat](), list[Problem]()
    leg, ways = thighs.leg, innermost(row.sequence.ways)
    for way, after in zip(ways, (*ways[1:], None), strict=True):
        begin_s, end_s = edges_s(way, row)
        role = way.going.at or way.going.to
        target = cast.get(role) if role else None
        place = None if target is None else at_time(
            target, float(shown(np.array((begin_s if way.going.at else end_s,)))[0]))
        if not isinstance(place, ScenePlace):
            continue
        surface = float(np.array(place.surface or place.position) @ stage.up)
        height, most = surface - ground(place), highest(skin, ground)
        on_ground = not place.unseated and abs(height) < GROUND_LEGS * leg
        if on_ground:
            may_sit = _may_sit(row, way, thighs)
            if may_sit and (high := _in_air(stage, skin, begin_s, end_s, thighs, ground(place))) > 0.0:
                said.append(Problem(
                    f"<call> the body sits in mid-air, since the place {quoted(role)} is on the ground: raise the "
                    f"object to the height of the seat, about {high * unit_m:.2g} m, or choose the mesh to sit on",
                    way.place, is_warning=True))
            continue
        leads_on = after is not None and bool(way.going.to) and after.going.at == way.going.to
        until_s = spells.until_s(way, after)
        if not _sits(stage, begin_s, until_s, spells, ends=not leads_on and (
                spells.ends_folded(way) or _is_folded(stage, end_s, thighs))):
            continue
        why = (place.unseated or (height < 0.0 and f"its seat is {-height * unit_m:.2g} m below the ground, expected "
                                  "one above it: raise the object") or (height > most and (
                                      f"its seat is {height * unit_m:.2g} m high, expected at most "
                                      f"{most * unit_m:.2g} m for this body: lower the object")))
        if why:
            said.append(Problem(f"<call> the role {quoted(role)}: {why}", way.place, is_warning=True))
        else:
            seats.append(Seat(begin_s, end_s, surface, place.position, role, way.place, height, until_s))
    return tuple(seats), tuple(said)


def missed(stage: Floored, cast: Mapping[str, Target], shown: Callable[[FloatArray], FloatArray],
           unit_m: float = 1.0) -> tuple[Problem, ...]:
    """Return warnings about seats that the body misses, that move, and from which feet do not reach the ground.

    shown, unit_m: see seats_of.
    """
    leg, said = max(leg.length(stage.skeleton) for leg in stage.lock.legs), list[Problem]()
    for seat, away in zip(stage.seats, np.linalg.norm(stage.aside, axis=1).tolist(), strict=True):
        if away > _ASIDE_LEGS * leg:
            said.append(Problem(f"<call> the body sits up to {away * unit_m:.2g} m beside the seat "
                                f"{quoted(seat.role)}: call clips that stay where they sit down", seat.place,
                                is_warning=True))
        elif np.isnan(away):
            said.append(Problem(f"<call> the body does not come to rest on the seat {quoted(seat.role)} during the "
                                "call: let it last longer", seat.place, is_warning=True))
    for seat, times_s in zip(stage.seats, stage.rests, strict=True):
        moves = np.linalg.norm(touched_at(cast[seat.role], shown(times_s)) - seat.position, axis=1).max(initial=0.0)
        if moves > _SEEN_LEGS * leg:
            said.append(Problem(f"<call> the seat {quoted(seat.role)} moves by {moves * unit_m:.2g} m, but the body "
                                "stays where the seat was: let it move before the body sits down, or after it has "
                                "stood up", seat.place, is_warning=True))
    hanging = [(seat, seat.over, away) for seat, away in zip(stage.seats, stage.hangs.tolist(), strict=True)
               if away > _SEEN_LEGS * leg]
    said += [Problem(f"<call> the feet hang {away * unit_m:.2g} m above the ground, since the seat {quoted(seat.role)} "
                     f"is {height * unit_m:.2g} m high: lower the object by {away * unit_m:.2g} m if they are "
                     "to stand", seat.place, is_warning=True) for seat, height, away in hanging]
    return tuple(said)


def _looked_at(begin_s: float, end_s: float) -> FloatArray:
    """Return the instants (F,) at which a call is checked for sitting."""
    return np.linspace(begin_s, end_s, max(int((end_s - begin_s) / _LOOKS_S), 2) + 1)


def _sits(stage: Feet, begin_s: float, end_s: float, spells: Spells, *, ends: bool) -> bool:
    """Return whether a body sits between two instants: it comes to rest with legs folded, or the call ends so."""
    if ends:
        return True
    times_s = _looked_at(begin_s, end_s)
    hips, fold = spells.thighs.seen(stage.sample(times_s))
    return bool(are_still(times_s, hips, fold, spells.thighs.leg, spells.paces(times_s)).any())


def _is_folded(stage: Feet, time_s: float, thighs: Thighs) -> bool:
    return bool(thighs.seen(stage.sample(np.array((time_s,))))[1][0] > SITS * thighs.leg)


def _may_sit(row: Row, way: Way, thighs: Thighs) -> bool:
    """Return whether any clip of a way folds legs as on a chair; that takes less time than to look at all of it."""
    clips = np.unique(row.sequence.clip[way.first:way.after])
    times_s = row.sources.durations_s[clips][:, None] * np.linspace(0.0, 1.0, _INSTANTS)
    _, fold = thighs.seen(row.sources.sample(clips.repeat(_INSTANTS), times_s.ravel()))
    return bool(fold.max(initial=0.0) > _AIR_FOLD_LEGS * thighs.leg)


def _in_air(stage: Feet, skin: SeatSkin, begin_s: float, end_s: float, thighs: Thighs, ground: float) -> float:
    """Return how high above the ground a body sits during a call as on a chair, 0 if it does not."""
    times_s = _looked_at(begin_s, end_s)
    pose = stage.sample(times_s)
    hips, fold = thighs.seen(pose)
    sits = are_still(times_s, hips, fold, thighs.leg) & (fold > _AIR_FOLD_LEGS * thighs.leg)
    high = skin.lowest(pose)[sits] - ground
    return float(np.median(high)) if len(high) and np.median(high) > _AIR_LEGS * thighs.leg else 0.0
