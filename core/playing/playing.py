"""Settings and body with which rows are played: what all parts of a score share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.maps import SkeletonMap
from .placing.root_motion import RootMode
from .transitions.blending import Style
from .transitions.limits import Limits


@dataclass(frozen=True, eq=False)
class Playing:
    """Settings with which rows are played.

    root_motion, speed: identifiers of ROOT_MODES and SPEEDS. up: (3,) the up direction in model space. limits: rotation
    limits of the joints, if they decide along which arc transitions turn. doubles: joints that copy the motion of
    others, also in transitions, and the joints they copy. body: roles of the joints; they show the facing direction,
    and name joints in messages.

    skin: (J,) joints that move skin, and their ancestors; warnings name only these. seen: (J,) joints of the body, and
    joints that move skin themselves; the duration of transitions depends on these. None stands for all joints.
    """

    style: Style
    root_motion: RootMode
    up: FloatArray
    speed: str = "NEAR"
    limits: Limits | None = None
    doubles: Mapping[int, int] = field(default_factory=dict)
    skin: BoolArray | None = None
    seen: BoolArray | None = None
    body: SkeletonMap | None = None

    @cached_property
    def followers(self) -> IntArray:
        """Joints that copy the motion of others."""
        return np.array(list(self.doubles), dtype=np.int64)
