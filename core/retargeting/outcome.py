"""Results of retargeting for people: one line of a table for each clip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .beginning import FAR_HEIGHTS
from .retarget import Retargeted

_HEAD = ("File", "Clip", "Seconds", "Map", "Played")


@dataclass(frozen=True)
class Outcome:
    """Result for one clip, or for a file that could not be read.

    certainty: of the map of its joints, 0 to 1. notes: automatic decisions. problem: why the clip does not play, "" if
    it plays.
    """

    file: str
    clip: str = ""
    duration_s: float = 0.0
    certainty: float = 0.0
    notes: tuple[str, ...] = ()
    problem: str = ""

    @classmethod
    def of(cls, file: str, clip: str, done: Retargeted) -> Outcome:
        """Return the result of a clip that plays. clip: its new name."""
        far = (f"begins {done.begins_away:.0f} body heights away",) if done.begins_away > FAR_HEIGHTS else ()
        certainty = 1.0 if done.is_own else done.source_map.certainty
        return cls(file, clip, done.clip.duration_s, certainty, (*done.notes, *far))


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a table as text, a line for each clip, and at its end how many play.

    >>> print(table([Outcome("a.bvh", "walk", 1.5, 0.95), Outcome("b.fbx", problem="is damaged")]))
    File   Clip  Seconds   Map  Played
    a.bvh  walk     1.50   95%  yes
    b.fbx                       no: is damaged
    <BLANKLINE>
    1 of 2 play
    """
    rows = [_HEAD, *(_row(outcome) for outcome in outcomes)]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = [f"{file:{widths[0]}}  {clip:{widths[1]}}  {seconds:>7}  {certain:>4}  {said}".rstrip()
             for file, clip, seconds, certain, said in rows]
    played = sum(not outcome.problem for outcome in outcomes)
    return "\n".join((*lines, "", f"{played} of {len(outcomes)} play"))


def _row(outcome: Outcome) -> tuple[str, ...]:
    if outcome.problem:
        return outcome.file, outcome.clip, "", "", f"no: {outcome.problem}"
    said = "; ".join(("yes", *outcome.notes))
    return outcome.file, outcome.clip, f"{outcome.duration_s:.2f}", f"{outcome.certainty:.0%}", said
