"""The character that plays a score."""

from dataclasses import dataclass, field

from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray
from ..retargeting.skin_points import SkinPoints
from ..skeletons.skeleton import Skeleton
from .transitions.limits import Limits


@dataclass(frozen=True, eq=False)
class Performer:
    """The character that plays a score.

    skeleton: None for that of the first clip played. up: (3,) the up direction in model space. turn: (4,) quaternion
    from the clips' axes to the skeleton's. limits: rotation limits of the joints, if they decide along which arc
    transitions turn. skin: (J,) joints that deform the skin; None for all. points: samples of the skin, if known.
    """

    skeleton: Skeleton | None
    up: FloatArray
    turn: FloatArray = field(default_factory=lambda: rot.IDENTITY)
    limits: Limits | None = None
    skin: BoolArray | None = None
    points: SkinPoints | None = None
