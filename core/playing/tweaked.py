"""Tweaks in a motion: differences that are added to its poses, before feet are held in place or after."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as SequenceOf
from dataclasses import replace

import numpy as np

from ..maths.arrays import BoolArray
from ..skeletons.hierarchy import with_ancestors
from .clock import Clock
from .differences import Differences, Tweaked
from .feet.legs import legs_of
from .feet.standing import Feet
from .feet.tweaked_feet import TweakedFeet
from .motion import Motion
from .stage import Over, Stage
from .untweaked import Untweaked


def tweaked(motion: Motion, layers: Iterable[Differences], last: Iterable[Differences] = ()) -> Motion:
    """Return a motion with tweaks; without any, the motion itself.

    layers: what they add to joints that lead to the feet is added before these are held in place, so that a tweak of
    the body leaves planted feet where they are; all else after everything else, which comes to the same. last: all of
    it after everything else. By the time of the motion, as its clock shows it.
    """
    layers, feet = tuple(layers), motion.feet
    leading = np.zeros(len(motion.skeleton), dtype=np.bool_) if feet is None else _leading(feet)
    below, above = _some(layers, leading), (*_some(layers, ~leading), *_some(tuple(last), np.ones_like(leading)))
    end = _below_feet(motion.end, below, motion.clock) if below else motion.end
    end = Tweaked(end, above) if above else end
    return motion if end is motion.end else replace(motion, end=end, untweaked=Untweaked.of(motion, end))


def without_layers(motion: Motion, layers: Iterable[Differences]) -> Motion:
    """Return what has to lie below layers of tweaks so that both together are the motion.

    It is what Blender combines with the Actions of the tweaks: of a tweaked motion, the score's own motion with what
    the feet make of the tweaks.
    """
    layers = tuple(layers)
    return replace(motion, end=Tweaked(motion.end, layers, sign=-1.0)) if layers else motion


def _below_feet(stage: Stage, layers: tuple[Differences, ...], clock: Clock | None) -> Stage:
    """Put differences below the stage that holds the feet, which is this one or below it."""
    assert isinstance(stage, Over)  # the feet are in it
    if isinstance(stage, TweakedFeet):
        return _below_feet(stage.plain, (*stage.tweaks.layers, *layers), clock)
    if isinstance(stage, Feet):
        return TweakedFeet.of(stage, Tweaked(stage.below, layers, clock))
    return replace(stage, below=_below_feet(stage.below, layers, clock))


def _leading(feet: Feet) -> BoolArray:
    """Return the joints that lead to the feet, (J,)."""
    leading = np.zeros(len(feet.skeleton), dtype=np.bool_)
    leading[with_ancestors(feet.skeleton.parents, np.array([leg.foot for leg in legs_of(feet.skeleton_map)]))] = True
    return leading


def _some(layers: SequenceOf[Differences], joints: BoolArray) -> tuple[Differences, ...]:
    """Return what layers add to some joints, without those that add nothing to them."""
    some = (layer.of_joints(joints) for layer in layers if (layer.changed & joints).any())
    return tuple(some)


def below_feet(motion: Motion, layers: Iterable[Differences]) -> tuple[Differences, ...]:
    """Return what layers add to the joints that lead to the feet, so that these have to be held anew; () without feet.

    All else can be added after feet were held, and comes to the same.
    """
    feet = motion.feet
    if feet is None:
        return ()
    return _some(tuple(layers), _leading(feet))
