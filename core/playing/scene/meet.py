"""Meetings of hands, and their times."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import Place


class TimedMeet(NamedTuple):
    """A hand, l or r, that meets the hand `other` of the person who plays a role.

    weight: its share of the way, relative to the other's. place: of its element in the file. begin_s, there_s, end_s,
    back_s: see TimedAim.
    """

    role: str
    hand: str
    other: str
    weight: float
    place: Place
    begin_s: float
    there_s: float
    end_s: float
    back_s: float

    def is_with(self, other: TimedMeet, later_s: float = 0.0) -> bool:
        """Return whether it overlaps another meeting in time, if that one's clock is later by later_s.

        >>> one = TimedMeet("her", "r", "l", 1.0, Place(), 1.0, 2.0, 3.0, 3.5)
        >>> one.is_with(one), one.is_with(one, 2.0), one.is_with(one, -1.9)
        (True, False, True)
        """
        return self.begin_s < other.end_s - later_s and other.begin_s - later_s < self.end_s
