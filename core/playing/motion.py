"""Motion: what a character does from beginning to end. It wraps the last stage, see stage.py."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..clips.clip import Clip
from ..clips.excerpt import Excerpt
from ..errors import Problem, TaktError
from ..maths.arrays import BoolArray, FloatArray
from ..pha.sequence import Sequence
from ..retargeting.doubles import Doubles
from ..retargeting.skin_points import SkinPoints
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Pose, Skeleton
from .arms import Arms, arms_of
from .clock import Clock, Timed
from .feet.legs import legs_of
from .feet.standing import Feet
from .fit import Cuts
from .followers import Followers
from .mix import Lane, mixed
from .playing import Playing
from .row import Row
from .scene.aimed import Aimed
from .scene.carried import Carried
from .scene.cast import Target
from .scene.known_hands import KnownHands
from .scene.meet import TimedMeet
from .scene.scene import Scene
from .scene.warped import Warped
from .stage import Instants, Over, Stage, in_rounds
from .transitions.blending import Style
from .transitions.methods import Layout, TransitionMethod
from .untweaked import Untweaked


class BeforeAims(NamedTuple):
    """A motion before head and hands aim: its scene, its last stage and the problems found so far.

    hands: cache of the hands' positions when they take a prop.
    """

    scene: Scene
    end: Stage
    problems: tuple[Problem, ...]
    hands: KnownHands


@dataclass(frozen=True, eq=False)
class Motion:
    """What a character does from 0 to duration_s; made by compose() or score.perform().

    row: the segments that the timeline shows. end: the last stage, which gives all poses. problems: warnings and notes.
    unmatched: joints without counterpart, if clips come from other skeletons. clock: tempo changes; all times of a
    motion are by the clock. cuts: transition points, if they were searched. body: roles of the joints, if known.
    before_aims: set if there is a scene. untweaked: the same motion without tweaks, if known. composition: what it
    was composed of.
    """

    row: Row
    end: Stage
    problems: tuple[Problem, ...]
    unmatched: tuple[str, ...] = ()
    clock: Clock | None = None
    cuts: Cuts | None = None
    body: SkeletonMap | None = None
    before_aims: BeforeAims | None = None
    untweaked: Untweaked | None = None
    composition: Composition | None = None

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of the poses."""
        return self.end.skeleton

    @property
    def duration_s(self) -> float:
        """Duration in seconds; of one round, for a loop."""
        return self.end.duration_s

    @property
    def is_loop(self) -> bool:
        """Whether the end leads into the beginning."""
        return self.end.is_loop

    @property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,)."""
        return self.end.moved

    @property
    def feet(self) -> Feet | None:
        """The stage that locks the feet, or None."""
        stage = self.end
        while isinstance(stage, Over) and not isinstance(stage, Feet):
            stage = stage.below
        return stage if isinstance(stage, Feet) else None

    @property
    def carried(self) -> Mapping[str, Carried]:
        """The props that hands hold, by the names of their roles; see carry."""
        aimed = self._aimed
        return {} if aimed is None else aimed.carried

    @property
    def _aimed(self) -> Aimed | None:
        stage = self.end
        while isinstance(stage, Over) and not isinstance(stage, Aimed):
            stage = stage.below
        return stage if isinstance(stage, Aimed) else None

    def carry(self, role: str, times_s: FloatArray) -> FloatArray:
        """Return the transform of a prop that hands hold, (F, 3, 4), in model space at times (F,) in any order.

        It maps points from where the prop is in the scene when a hand first takes it. Raises KeyError if no hand holds
        it.
        """
        aimed = self._aimed
        assert aimed is not None  # Only a motion with a scene has such a prop.
        times_s, _ = in_rounds(times_s, self.duration_s, is_loop=False)
        even_s = times_s if self.clock is None else self.clock.even(times_s)
        return aimed.carried[role].moved(even_s, aimed.hands(self.sample(times_s)))

    @property
    def meets(self) -> tuple[TimedMeet, ...]:
        """The moments at which its hands meet other hands."""
        return () if self.before_aims is None else self.before_aims.scene.meets(self.row)

    def meeting(self, met: Mapping[TimedMeet, Target]) -> Motion:
        """Return the motion with hands that meet others. met: where each meeting is, in model space, by the clock."""
        if self.before_aims is None or not met:
            return self
        scene, stage, said, hands = self.before_aims
        end, told = scene.aimed(stage, self.row, hands, met)
        return replace(self, end=end if self.clock is None else Timed(end, self.clock), problems=said + told)

    def recast(self, cast: Mapping[str, Target]) -> Motion | None:
        """Return the motion with other objects in the roles, as the same score with them would be.

        None if the score must be played anew: if its rounds fit their way, or if the motion or `cast` has no objects.
        """
        scene = None if self.before_aims is None else self.before_aims.scene
        if self.composition is None or scene is None or not scene.cast or not cast or any(
                way.going.fits for way in self.sequence.ways):
            return None
        return self.composition.motion(replace(scene, cast=cast))

    def hand_joint(self, side: str) -> int:
        """Return the wrist joint of a hand, l or r, that holds something."""
        aimed = self._aimed
        assert aimed is not None  # Only a motion with a scene holds something.
        return aimed.arms[side].limb.last

    def shown(self, even_s: FloatArray) -> FloatArray:
        """Return the times (F,) by the clock of times (F,) at an even tempo."""
        return even_s if self.clock is None else self.clock.shown(even_s)

    @property
    def lap_yaw_rad(self) -> float:
        """The angle by which one round of a loop turns the character's heading."""
        return self.end.root.lap_yaw_rad

    @property
    def sequence(self) -> Sequence:
        """Its S segments, as the score calls them."""
        return self.row.sequence

    @property
    def clips(self) -> tuple[Clip, ...]:
        """The clips that the segments index."""
        return self.row.sources.clips

    @property
    def style(self) -> Style:
        """How clips and transitions are blended."""
        return self.row.style

    @property
    def method(self) -> TransitionMethod:
        """The method that places transitions."""
        return self.row.method

    @property
    def layout(self) -> Layout:
        """When each clip and each transition plays."""
        return self._bent_layout

    @cached_property
    def _bent_layout(self) -> Layout:
        layout = self.row.layout
        return layout if self.clock is None else self.clock.bent(layout, layout.duration_s)

    @property
    def transitions_s(self) -> FloatArray:
        """The duration of the transition after each segment, (S,)."""
        return self.layout.window_end_s - self.layout.window_begin_s

    def sample(self, times_s: FloatArray) -> Pose:
        """Return the poses (F, J, …), relative to rest, at times (F,) in any order.

        Outside 0…duration_s the first or last pose is held; a loop continues. Raises TaktError if times are not finite.
        """
        times_s = np.asarray(times_s, dtype=np.float64)
        if times_s.ndim != 1 or not np.isfinite(times_s).all():
            raise TaktError(f"times must be finite seconds in one row (F,); found shape {times_s.shape}")
        return self.end.sample(*in_rounds(times_s, self.duration_s, self.is_loop))

    def segment_at(self, time_s: float) -> int:
        """Return the segment that plays at a time; outside the motion, the first or last one, or that of the loop."""
        times, _ = in_rounds(np.array((time_s,)), self.duration_s, self.is_loop)
        return int(self.row.segment_at(times if self.clock is None else self.clock.even(times))[0])

    def instants(self, per_s: float, densest: float) -> Instants:
        """Return the times of edges, jumps and keys, in units of 1 / per_s seconds; see Stage.instants."""
        return self.end.instants(per_s, densest)


def compose(sequence: Sequence, clips: SequenceOf[Clip | Excerpt | Stage], playing: Playing, *,
            feet: SkeletonMap | None = None, points: SkinPoints | None = None, clock: Clock | None = None,
            scene: Scene | None = None, cuts: Cuts | None = None, problems: tuple[Problem, ...] = (),
            unmatched: tuple[str, ...] = ()) -> Motion:
    """Join clips into a motion.

    clips: those that sequence.clip indexes, all on one skeleton, which becomes the motion's. Stages are played as if
    they were clips. feet: roles of the joints, needed for foot lock and for arms that avoid the trunk in transitions.
    points: samples of the skin, if known; they show where the soles are. clock: tempo changes of the whole motion.
    scene: the objects that play the score's roles. cuts: transition points found by a search. problems, unmatched:
    those found so far, see Motion.

    Raises TaktError if an identifier is unknown, the curve lacks the shape that the method needs, or clips have
    different skeletons.
    """
    row = Row.of(sequence, clips, playing, (lambda times_s: times_s) if clock is None else clock.shown)
    return Composition(row, playing, feet, points, clock, cuts, problems + row.problems, unmatched).motion(scene)


@dataclass(frozen=True, eq=False)
class Composition:
    """What a motion is composed of, apart from the objects of its scene. row: the segments; see compose."""

    row: Row
    playing: Playing
    feet: SkeletonMap | None
    points: SkinPoints | None
    clock: Clock | None
    cuts: Cuts | None
    problems: tuple[Problem, ...]
    unmatched: tuple[str, ...]

    def motion(self, scene: Scene | None) -> Motion:
        """Return the motion in a scene."""
        row, playing, feet, clock = self.row, self.playing, self.feet, self.clock
        end = mixed((Lane.whole(row),))
        said: tuple[Problem, ...] = ()
        if scene is not None:
            end, said = scene.warped(end, row, playing.root_motion)
        warped = end if isinstance(end, Warped) else None
        arms = None if feet is None else arms_of(feet)
        if arms is not None:
            end = Arms(end, row, arms)
        if playing.doubles:
            end = Followers(end, Doubles.of(row.skeleton, playing.doubles))
        if feet is not None and legs_of(feet):
            end = Feet(end, row, feet, playing.up / np.linalg.norm(playing.up), self.points, warped=warped)
        problems = self.problems + said
        before_aims, aimed = None, tuple[Problem, ...]()
        if scene is not None:
            end, floored = scene.floored(end, row)
            problems += floored
            before_aims = BeforeAims(scene, end, problems, KnownHands())
            end, aimed = scene.aimed(end, row, before_aims.hands)
        if clock is not None:
            end = Timed(end, clock)
        return Motion(row, end, problems + aimed, self.unmatched, clock, self.cuts, playing.body, before_aims,
                      composition=self)
