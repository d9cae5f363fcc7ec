"""Tweaks in a motion: differences that are added to its poses, before feet are held in place or after."""

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

    layers: what they add to joints that lead to the feet is added before these are held in place, so that a tweak of
    the body leaves planted feet where they are; all else after everything else, which comes to the same. Joints that
    follow others, as in control rigs, follow them where they are tweaked, too. last: all of it after everything else.
    By the time of the motion, as its clock shows it.
    """
    layers, last, leading = tuple(layers), tuple(last), _leading(motion)
    below, above = _some(layers, leading), (*_some(layers, ~leading), *_some(last, np.ones_like(leading)))
    end = _below_feet(motion.end, below, motion.clock, doubles_of(motion)) if below else motion.end
    end = Tweaked(end, above, doubles=doubles_of(motion) if _some(last, _followed(motion)) else None) if above else end
    return motion if end is motion.end else replace(motion, end=end, untweaked=Untweaked.of(motion, end))


def without_layers(motion: Motion, layers: Iterable[Differences]) -> Motion:
    """Return what has to lie below layers of tweaks so that both together are the motion.

    It is what Blender combines with the Actions of the tweaks: of a tweaked motion, the score's own motion with what
    the feet make of the tweaks.
    """
    layers = tuple(layers)
    return replace(motion, end=Tweaked(motion.end, layers, sign=-1.0)) if layers else motion


def _below_feet(stage: Stage, layers: tuple[Differences, ...], clock: Clock | None, doubles: Doubles | None) -> Stage:
    """Put differences below the stage that holds the feet, which is this one or below it.

    doubles: joints that follow others; without feet, differences are put above the stage that moves these.
    """
    assert isinstance(stage, Over)  # the feet are in it
    if isinstance(stage, TweakedFeet):
        return _below_feet(stage.plain, (*stage.tweaks.layers, *layers), clock, doubles)
    if isinstance(stage, Feet):
        return TweakedFeet.of(stage, Tweaked(stage.below, layers, clock, doubles=doubles))
    if isinstance(stage, Followers):
        return Tweaked(stage, layers, clock, doubles=doubles)
    return replace(stage, below=_below_feet(stage.below, layers, clock, doubles))


def _leading(motion: Motion) -> BoolArray:
    """Return the joints that lead to the feet, or to joints that others follow, (J,).

    What is added to them changes what is found of the rest of the body.
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
    """Return which joints follow others, None if none do.

    A tweak of what leads to such joints does not move what they carry.
    """
    stage = motion.end
    while isinstance(stage, Over) and not isinstance(stage, Followers):
        stage = stage.below
    return stage.doubles if isinstance(stage, Followers) else None


def _some(layers: SequenceOf[Differences], joints: BoolArray) -> tuple[Differences, ...]:
    """Return what layers add to some joints, without those that add nothing to them."""
    some = (layer.of_joints(joints) for layer in layers if (layer.changed & joints).any())
    return tuple(some)


def below_feet(motion: Motion, layers: Iterable[Differences]) -> tuple[Differences, ...]:
    """Return what layers add to the joints that lead to the feet, so that these have to be held anew.

    Also what they add to joints that others follow. All else can be added afterwards, and comes to the same.
    """
    return _some(tuple(layers), _leading(motion))


def of_followed(motion: Motion, layers: Iterable[Differences]) -> tuple[Differences, ...]:
    """Return what layers add to joints that others follow, or that lead there: these follow anew, feet or no feet."""
    return _some(tuple(layers), _followed(motion))
