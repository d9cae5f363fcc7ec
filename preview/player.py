"""The player's own clock. It knows nothing of Blender: the time now is an argument."""

from dataclasses import dataclass
from typing import Literal

Clock = Literal["TIMELINE", "OWN"]
CLOCKS: tuple[Clock, ...] = ("TIMELINE", "OWN")
SPEEDS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
_SMALLEST_FRAGMENT_S = 1e-3


@dataclass(eq=False)
class Player:
    """The current time in the score.

    clock: TIMELINE: the scene's frame gives the time, and the rest is not used. speed: one of SPEEDS. fragment: the
    two ends, in seconds, of a repeated part, None: the whole. at_rest: stopped, in the rest pose.
    """

    clock: Clock = "TIMELINE"
    is_playing: bool = False
    at_rest: bool = False
    backwards: bool = False
    speed: float = 1.0
    fragment: tuple[float, float] | None = None
    _position_s: float = 0.0
    _since_s: float = 0.0

    @property
    def follows_timeline(self) -> bool:
        """Return whether the scene's frame gives the time."""
        return self.clock == "TIMELINE"

    def position_s(self, now_s: float, duration_s: float) -> float:
        """Return the time in a score of that length; after the end it begins again."""
        begin, end = self.bounds_s(duration_s)
        position = self._position_s
        if self.is_playing:
            position += (now_s - self._since_s) * (-self.speed if self.backwards else self.speed)
        if begin <= position <= end or end - begin < _SMALLEST_FRAGMENT_S:
            return min(max(position, begin), end)
        return begin + (position - begin) % (end - begin)

    def bounds_s(self, duration_s: float) -> tuple[float, float]:
        """Return the begin and the end of the played part."""
        if self.fragment is None:
            return 0.0, duration_s
        begin, end = (min(max(edge, 0.0), duration_s) for edge in self.fragment)
        return (begin, end) if end - begin >= _SMALLEST_FRAGMENT_S else (0.0, duration_s)

    def go_to(self, position_s: float, now_s: float) -> None:
        """Go to another time, playing or not as before."""
        self._position_s, self._since_s, self.at_rest = position_s, now_s, False

    def play(self, now_s: float) -> None:
        """Continue from the current time."""
        if not self.is_playing:
            self._since_s, self.is_playing = now_s, True
        self.at_rest = False

    def pause(self, now_s: float, duration_s: float) -> None:
        """Stay at the current time."""
        self._position_s, self.is_playing = self.position_s(now_s, duration_s), False

    def stop(self, duration_s: float) -> None:
        """Go back to the beginning, and to the rest pose."""
        self._position_s, self.is_playing, self.at_rest = self.bounds_s(duration_s)[0], False, True

    def restart(self, now_s: float, duration_s: float) -> None:
        """Go to the begin of the part, or to its end if it plays backwards."""
        self.go_to(self.bounds_s(duration_s)[1 if self.backwards else 0], now_s)

    def step(self, by_s: float, now_s: float, duration_s: float) -> None:
        """Pause, and move by a time; beyond one end to the other."""
        self.pause(now_s, duration_s)
        begin, end = self.bounds_s(duration_s)
        target = self._position_s + by_s
        self.go_to(end if target < begin else begin if target > end else target, now_s)

    def change_speed(self, steps: int, now_s: float, duration_s: float) -> None:
        """Go a number of steps up in SPEEDS, or down if negative."""
        nearest = min(range(len(SPEEDS)), key=lambda index: abs(SPEEDS[index] - self.speed))
        self._hold(now_s, duration_s)
        self.speed = SPEEDS[min(max(nearest + steps, 0), len(SPEEDS) - 1)]

    def turn_round(self, now_s: float, duration_s: float) -> None:
        """Play in the other direction from the current time."""
        self._hold(now_s, duration_s)
        self.backwards = not self.backwards

    def _hold(self, now_s: float, duration_s: float) -> None:
        """Keep the current time, so that another speed or direction applies from now on."""
        self._position_s, self._since_s = self.position_s(now_s, duration_s), now_s
