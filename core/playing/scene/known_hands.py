"""Positions of hands at the instants at which they take and release things."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...maths.arrays import FloatArray
from .aimed import Aimed
from .carried import Spots
from .pulls import Act

_SAME: Final = 1e-8
"""Share of the touch tolerance: positions nearer to each other count as equal. Directions likewise, in radians."""
Hands = Mapping[str, FloatArray]
"""Transforms of hands in the model, (3, 4) each, by side, and of joints for which they reach, by name."""


@dataclass(eq=False)
class KnownHands:
    """Positions of hands at instants, each with all that it depends on, for one motion below.

    A prop's position depends on the hand that has put it there, and so on that hand's position when it took the prop.
    So all instants are computed together in rounds, each with the props where the last round left them, until nothing
    changes. That ends, since each instant depends on earlier ones only.
    """

    _known: dict[Hashable, Hands] = field(default_factory=dict)
    _latest: dict[Hashable, Hands] = field(default_factory=dict)
    _wanted: dict[Hashable, tuple[Hashable, float, list[Act]]] = field(default_factory=dict)

    def at(self, aimed: Aimed, what_for: Hashable, time_s: float) -> tuple[Hands, bool]:
        """Return hands at an instant, (3, 4) each by side, and whether that is known or a guess; see look_up.

        what_for: identifies the instant over the rounds.
        """
        acts = aimed.acts(np.array((time_s,)))
        key = time_s, *(_depends_on(aimed, act) for act in acts)
        found = self._known.get(key)
        if found is not None:
            self._latest[what_for] = found
            return found, True
        self._wanted[key] = what_for, time_s, acts
        rest = aimed.skeleton.rest_world
        return self._latest.get(what_for) or {name: rest[joint] for name, joint in aimed.carriers.items()}, False

    def look_up(self, aimed: Aimed) -> bool:
        """Compute all requested instants that are unknown; return whether there were any."""
        wanted, self._wanted = self._wanted, {}
        times_s = np.array([time_s for _, time_s, _ in wanted.values()])
        acts = [act._replace(frames=np.array((frame,))) for frame, (_, _, own) in enumerate(wanted.values())
                for act in own]
        hands = aimed.hands(aimed.posed(times_s, acts)) if wanted else {}
        for frame, (key, (what_for, _, _)) in enumerate(wanted.items()):
            self._known[key] = self._latest[what_for] = {side: at[frame] for side, at in hands.items()}
        return bool(wanted)


def _depends_on(aimed: Aimed, act: Act) -> Hashable:
    """Return all that the pose of an instant depends on, for one act."""
    same = _SAME * min((arm.near for arm in aimed.arms.values()), default=1.0)
    found: list[Hashable] = [act.aim.hand, float(act.weights[0])]
    spots: Spots | None = act.spots
    while spots is not None:
        found += [*spots.led, *np.round(spots.points[0] / same).tolist(), 1.0 if spots.news is None else spots.news[0]]
        spots = spots.was
    if act.tilt is not None:
        found += [*np.round(act.tilt.ups[0] / _SAME).tolist(), float(act.tilt.shares[0])]
    return tuple(found)


def shifted(hand: FloatArray, by: FloatArray) -> FloatArray:
    """Return a hand (3, 4) moved by (3,)."""
    return np.asarray(hand + np.pad(by[:, None], ((0, 0), (3, 0))))


def as_frame(hands: Hands) -> dict[str, FloatArray]:
    """Return hands of one instant as one frame, (1, 3, 4) each."""
    return {side: at[None] for side, at in hands.items()}
