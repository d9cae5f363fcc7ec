"""Objects that play the roles of a score, in the model space of its character."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np

from ...errors import TaktError, quoted
from ...maths.arrays import FloatArray, IntArray

Point = tuple[float, float, float]
MOST_POINTS: Final = 100_000
"""Greatest number of points of a path."""
MOST_TRIANGLES: Final = 2_000_000
"""Greatest number of triangles of a floor."""


@dataclass(frozen=True)
class ScenePlace:
    """A place to go to. position: of its ground. ahead: the facing direction there, not vertical.

    head: of a person, where others look. note: a message about it, or "". surface: the seat, None if it is as high as
    the position. unseated: why nobody can sit there, or "". footprint: points of the seat's body, as far out over the
    ground as it goes; none if it has no body. Raises TaktError if a number is not finite, or ahead has no length.
    """

    position: Point
    ahead: Point
    head: Point | None = None
    note: str = ""
    surface: Point | None = None
    unseated: str = ""
    footprint: tuple[Point, ...] = ()

    def __post_init__(self) -> None:
        """Check the numbers."""
        numbers = *self.position, *self.ahead, *(self.head or ()), *(self.surface or ()), *chain(*self.footprint)
        if not np.isfinite(numbers).all() or not np.any(self.ahead):
            raise TaktError(f"a place at {self.position} facing {self.ahead}; expected finite numbers and a direction")


@dataclass(frozen=True)
class OwnPlace:
    """A place on the character's own body, such as its mouth. position: in the axes of a joint. note: see ScenePlace.

    up: in these axes, what is up on a prop that a hand holds there; None: as the hand is turned. Raises TaktError if a
    number is not finite.
    """

    joint: str
    position: Point
    note: str = ""
    up: Point | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not np.isfinite((*self.position, *(self.up or ()))).all():
            raise TaktError(f"a place at {self.position} from the joint {self.joint!r}; expected finite numbers")


@dataclass(frozen=True)
class ScenePath:
    """A path to follow. points: from its beginning to its end, at least two. note: see ScenePlace.

    Raises TaktError if there are fewer or too many points, or a number is not finite.
    """

    points: tuple[Point, ...]
    note: str = ""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 2 <= len(self.points) <= MOST_POINTS:
            raise TaktError(f"a path of {len(self.points)} points; expected 2 to {MOST_POINTS}")
        if not np.isfinite(self.points).all():
            raise TaktError("a path with a point that is not finite; expected finite numbers")


@dataclass(frozen=True, eq=False)
class SceneFloor:
    """A floor for feet: points (V, 3), and triangles (T, 3) of their indices. note: see ScenePlace.

    Raises TaktError if there are no triangles or too many, a number is not finite, or an index is out of range.
    """

    points: FloatArray
    triangles: IntArray
    note: str = ""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 1 <= len(self.triangles) <= MOST_TRIANGLES:
            raise TaktError(f"a floor of {len(self.triangles)} triangles; expected 1 to {MOST_TRIANGLES}")
        if self.triangles.min() < 0 or self.triangles.max() >= len(self.points):
            raise TaktError(f"a floor with a triangle of the point {self.triangles.max()}; expected 0 to "
                            f"{len(self.points) - 1}")
        if not np.isfinite(self.points).all():
            raise TaktError("a floor with a point that is not finite; expected finite numbers")

    @cached_property
    def digest(self) -> bytes:
        """Equal for equal floors."""
        found = hashlib.blake2b(self.note.encode(), digest_size=16)
        for numbers in (self.points, self.triangles):
            found.update(np.ascontiguousarray(numbers).tobytes())
        return found.digest()


@dataclass(frozen=True, eq=False)
class Moving:
    """A place or path that moves, or a still one before a character that moves.

    still: in its own axes. times_s: (N,) of the score's clock, ascending; outside them it stays. model_from_own: (N, 3,
    4). heads: (N, 3) of a person, in the model. note: see ScenePlace. Raises TaktError if a number is not finite.
    """

    still: ScenePlace | ScenePath
    times_s: FloatArray
    model_from_own: FloatArray
    heads: FloatArray | None = None
    note: str = ""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not np.isfinite(self.model_from_own).all() or not (self.heads is None or np.isfinite(self.heads).all()):
            raise TaktError("something that moves to a position that is not finite; expected finite numbers")

    def at(self, time_s: float) -> ScenePlace | ScenePath:
        """Return where it is at a time.

        Raises TaktError if one of its axes has no length then.
        """
        matrix = between(self.model_from_own.reshape(-1, 12), self.times_s, np.array((time_s,))).reshape(3, 4)
        if isinstance(self.still, ScenePath):
            return ScenePath(_points(np.array(self.still.points) @ matrix[:, :3].T + matrix[:, 3]))
        ahead = matrix[:, :3] @ self.still.ahead
        head = None if self.heads is None else _points(between(self.heads, self.times_s, np.array((time_s,))))[0]
        position, *footprint = _points(moved(matrix, (self.still.position, *self.still.footprint)))
        surface = None if self.still.surface is None else _points(moved(matrix, (self.still.surface,)))[0]
        return ScenePlace(position, _points((ahead / max(float(np.linalg.norm(ahead)), 1e-30))[None])[0], head,
                          surface=surface, unseated=self.still.unseated, footprint=tuple(footprint))


@dataclass(frozen=True)
class Unfit:
    """An object cast for a role that it cannot play. why: the reason, and what to do."""

    why: str


Still = ScenePlace | OwnPlace | ScenePath | SceneFloor | Unfit
Target = Still | Moving
"""Anything that may play a role."""
_KIND_OF: Final[dict[type, str]] = {ScenePlace: "place", ScenePath: "path", SceneFloor: "floor"}
"""The kind of role that each plays, as in a score."""


def at_time(target: Target, time_s: float) -> Still:
    """Return a role's target at a time of the clock."""
    if not isinstance(target, Moving):
        return target
    try:
        return target.at(time_s)
    except TaktError as error:
        return Unfit(str(error))


def seen_at(target: Target, times_s: FloatArray) -> FloatArray:
    """Return the points to look at, (F, 3), at times (F,) of the clock: of a person the head."""
    if isinstance(target, Moving) and target.heads is not None:
        return between(target.heads, target.times_s, times_s)
    head = target.head if isinstance(target, ScenePlace) else None
    return touched_at(target, times_s) if head is None else np.broadcast_to(np.array(head), (len(times_s), 3))


def touched_at(target: Target, times_s: FloatArray) -> FloatArray:
    """Return the positions of a place or a prop, (F, 3), at times (F,) of the clock."""
    if isinstance(target, Moving) and isinstance(target.still, ScenePlace):
        matrices = between(target.model_from_own.reshape(-1, 12), target.times_s, times_s).reshape(-1, 3, 4)
        return np.asarray(matrices[..., :3] @ target.still.position + matrices[..., 3])
    position = target.position if isinstance(target, ScenePlace) else (np.nan,) * 3
    return np.broadcast_to(np.array(position, dtype=np.float64), (len(times_s), 3))


def misfit(target: Target | None, kind: type[ScenePlace] | type[ScenePath] | type[SceneFloor], role: str) -> str:
    """Return why a target cannot play a role of a kind, or "" if it can. target: None if the role has no object."""
    if target is None:
        return f"the role {quoted(role)} is not cast"
    if isinstance(target, Unfit):
        return f"nothing can play the role {quoted(role)}: {target.why}"
    if isinstance(target, OwnPlace):
        return (f"the role {quoted(role)} is played by a place on the character's own body, to which only <reach> "
                "goes: choose another object, or clear its parent")
    own = type(target.still if isinstance(target, Moving) else target)
    return "" if own is kind else (
        f"the role {quoted(role)} is played by a {_KIND_OF[own]}, expected a {_KIND_OF[kind]}")


def moved(matrix: FloatArray, points: Sequence[Point]) -> FloatArray:
    """Return points (N, 3) in other axes. matrix: (3, 4) or (4, 4) to these.

    >>> moved(np.eye(4)[:3], ((1.0, 2.0, 3.0),)).tolist()
    [[1.0, 2.0, 3.0]]
    """
    return np.array([matrix[:3, :3] @ point + matrix[:3, 3] for point in points])


def between(values: FloatArray, at_s: FloatArray, times_s: FloatArray) -> FloatArray:
    """Return values (F, C) at times (F,) interpolated between those (N, C) at times (N,)."""
    after = np.clip(np.searchsorted(at_s, times_s, side="right"), 1, max(len(at_s) - 1, 1))
    if len(at_s) < 2:
        return np.asarray(values[np.zeros(len(times_s), dtype=np.int64)])
    share = np.clip((times_s - at_s[after - 1]) / (at_s[after] - at_s[after - 1]), 0.0, 1.0)[:, None]
    return np.asarray((1.0 - share) * values[after - 1] + share * values[after])


def _points(values: FloatArray) -> tuple[Point, ...]:
    return tuple((x, y, z) for x, y, z in values.tolist())
