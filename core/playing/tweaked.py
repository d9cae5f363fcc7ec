"""Tweaks in a motion: differences added to its poses, before or after foot lock."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as SequenceOf
from dataclasses import replace

import numpy as np

from ..maths.arrays import BoolArray
from ..retargeting.doubles import Doubles
from ..skeletons.hierarchy import with_ancestors
from .clock import Clock
from .differences import Differences, Tweaked
from .feet.legs import legs_of
from .feet.standing import Feet
from .feet.tweaked_feet import TweakedFeet
from .followers import Followers
from .motion import Motion
from .stage import Over, Stage
from .untweaked import Untweaked


def tweaked(motion: Motion, layers: Iterable[Differences], last: Iterable[Differences] = ()) -> Motion:
    """Return a motion with tweaks; without any, the motion itself.

    layers: differences of joints above the feet are added before foot lock, so that feet in contact stay in place.
    All others are added at the end, which gives the same result. Joints that copy others, as in control rigs, copy
    their tweaks, too. last: layers of which everything is added at the end. Times are the motion's, by its clock.
    """
    layers, last, leading = tuple(layers), tuple(last), _leading(motion)
    below, above = _some(layers, leading), (*_some(layers, ~leading), *_some(last, np.ones_like(leading)))
    end = _below_feet(motion.end, below, motion.clock, doubles_of(motion)) if below else motion.end
    end = Tweaked(end, above, doubles=doubles_of(motion) if _some(last, _followed(motion)) else None) if above else end
    return motion if end is motion.end else replace(motion, end=end, untweaked=Untweaked.of(motion, end))


def without_layers(motion: Motion, layers: Iterable[Differences]) -> Motion:
    """Return the motion to which layers of tweaks must be added to give a tweaked motion.

    motion: the tweaked motion. Blender adds the Actions of the tweaks to the result, which is the score's own motion
    with the effect that the tweaks have through foot lock.
    """
    layers = tuple(layers)
    return replace(motion, end=Tweaked(motion.end, layers, sign=-1.0)) if layers else motion


def _below_feet(stage: Stage, layers: tuple[Differences, ...], clock: Clock | None, doubles: Doubles | None) -> Stage:
    """Put differences below the stage that locks the feet, which is this one or one below it.

    doubles: joints that copy others. Without foot lock, differences go above the stage that moves these joints.
    """
    assert isinstance(stage, Over)  # the stage of the feet, or of followers, is below it
    if isinstance(stage, TweakedFeet):
        return _below_feet(stage.plain, (*stage.tweaks.layers, *layers), clock, doubles)
    if isinstance(stage, Feet):
        return TweakedFeet.of(stage, Tweaked(stage.below, layers, clock, doubles=doubles))
    if isinstance(stage, Followers):
        return Tweaked(stage, layers, clock, doubles=doubles)
    return replace(stage, below=_below_feet(stage.below, layers, clock, doubles))


def _leading(motion: Motion) -> BoolArray:
    """Return the joints above the feet and above joints that others follow, those included, (J,).

    A tweak of one of them changes the rest of the body through foot lock or followers.
    """
    feet, leading = motion.feet, _followed(motion)
    if feet is not None:
        own = np.array([leg.foot for leg in legs_of(feet.skeleton_map)])
        leading[with_ancestors(feet.skeleton.parents, own)] = True
    return leading


def _followed(motion: Motion) -> BoolArray:
    """Return the joints that follow others, those that they follow, and all their ancestors, (J,)."""
    found, doubles = np.zeros(len(motion.skeleton), dtype=np.bool_), doubles_of(motion)
    if doubles is not None:
        found[with_ancestors(motion.skeleton.parents, np.append(doubles.followed, doubles.joints))] = True
    return found


def doubles_of(motion: Motion) -> Doubles | None:
    """Return which joints follow others, or None.

    A tweak of an ancestor of a following joint does not move the bones below that joint.
    """
    stage = motion.end
    while isinstance(stage, Over) and not isinstance(stage, Followers):
        stage = stage.below
    return stage.doubles if isinstance(stage, Followers) else None


def _some(layers: SequenceOf[Differences], joints: BoolArray) -> tuple[Differences, ...]:
    """Return what layers add to some joints; layers that add nothing to them are left out."""
    some = (layer.of_joints(joints) for layer in layers if (layer.changed & joints).any())
    return tuple(some)


def below_feet(motion: Motion, layers: Iterable[Differences]) -> tuple[Differences, ...]:
    """Return what layers add to joints above the feet, or to joints that others copy.

    Foot lock and followers must be computed again for these. Everything else can be added afterwards with the same
    result.
    """
    return _some(tuple(layers), _leading(motion))


def of_followed(motion: Motion, layers: Iterable[Differences]) -> tuple[Differences, ...]:
    """Return what layers add to joints that others follow, or to their ancestors, with or without foot lock."""
    return _some(tuple(layers), _followed(motion))
