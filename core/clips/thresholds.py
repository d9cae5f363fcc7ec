"""The thresholds of contacts that several rooms share: lengths in leg lengths, times in seconds.

Thresholds of a single step of the solve are in the file of that step.
"""

from __future__ import annotations

from typing import Final

LOW_LEGS: Final = (0.04, 0.06)
"""Greatest height of a point above its ground: for a contact to begin, and to last."""
SLOW_LEGS_PER_S: Final = (0.3, 0.5)
"""Greatest speed of the point, likewise."""
SHORTEST_S: Final = 0.08
"""Shorter contacts are dropped: a foot that turns round in the air is slow for a moment."""
NEAR_LEGS: Final = (0.05, 0.3)
"""An effector is on the ground if its skin is no higher than the first value; from the second on it is not."""
TRUNK_NEAR_LEGS: Final = (0.05, 0.35)
"""The same for seat and back: legs begin to make room from farther away."""
FAR_LEGS: Final = (0.2, 0.35)
"""An effector that is higher than the second value while another part touches the ground has no contact; in between, it
has one in part. Feet of a body that sits may hang in the air. Feet that are this high above the lowest part do not
carry the body.
"""
STEP_LEGS: Final = (0.1, 0.2)
"""Half a step of usual stairs, and a step: distances that count from the first value on, and fully from the second.

They apply to height differences of grounds, and to the distance of the centre of mass from the feet that carry it.
"""
LIES_LEGS: Final = 0.55
"""A body whose hips are no higher than this above its feet, or above the ground, sits or lies."""
UPRIGHT_LEGS: Final = 0.6
"""Hips of a standing body are at least this high above its feet."""
ON_LEGS: Final = 0.02
"""Skin that is no higher than this is on the ground in any case."""
SEEN_LEGS: Final = (0.02, 0.06)
"""A gap between skin and ground is visible from the second value on; one below the first stays."""
LITTLE_LEGS: Final = 0.01
"""Two heights or positions that differ by no more than this count as one."""
SOFT_LEGS: Final = 0.004
"""Skin that moves over the ground is kept out of it from this height on, so that it does not stop abruptly."""
NEARLY_LEGS: Final = 1e-3
"""A pose is not changed for a smaller error."""
STILL_LEGS: Final = 1e-4
"""A smaller offset is left out."""
STRAIGHT: Final = 0.97
"""Share of its length from which on a leg is straight: its knee is bent by 28° at most."""
EASE_S: Final = 0.15
"""Time before and after a contact in which its weight rises and falls, and in which arms start to give way."""
MOMENT_S: Final = 2.0 * EASE_S
"""A state that lasts no longer than this is a moment: its two changes meet."""
BRIEF_S: Final = 0.1
"""A shorter contact, or a shorter gap between two, is no contact or gap of its own."""
HELD_S: Final = 0.05
"""Least remaining duration of a contact that a step shortens."""
BODY_S: Final = 0.12
"""Smoothing time of the body. Waves that last 2 π times as long lose half of their height."""
POSTURE_S: Final = 0.08
"""Smoothing time of legs that turn while the body sits down, lies down or falls, and of a body without skin."""
LIMB_S: Final = 0.05
"""Smoothing time of legs and arms, which move faster than bodies."""
LOW_PERCENT: Final = 5.0
"""Percentile of the heights of a clip that stands for its lowest one, without moments that are lower."""
ROUNDS: Final = 5
"""Newton steps for an angle: when limbs have turned, other skin is the lowest."""
