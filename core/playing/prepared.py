"""Everything about the clips of a row that does not depend on when they play.

It depends on clips and settings alone, so an edit that only changes times reuses it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import cast
from weakref import WeakValueDictionary

import numpy as np

from ..clips.clip import Clip
from ..clips.excerpt import Excerpt
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray
from ..skeletons.maps import SkeletonMap
from .feet.grounds import ground_of
from .feet.legs import Leg, legs_of
from .placing.carriers import carrying_hips
from .placing.root_motion import RootedClips, RootMode, mode_named, moved_together, root_chain
from .placing.root_split import RootSplit
from .playing import Playing
from .sources import Sources
from .stage import Stage
from .straying import straying_rad
from .transitions.automatic import Automatic
from .transitions.methods import TRANSITION_METHODS
from .transitions.seams import EndPoses


@dataclass(frozen=True, eq=False)
class Prepared:
    """C clips, or stages that are played as clips.

    ends: their poses at both ends, which root motion aligns at seams. rooted: the clips after root motion handling.
    automatic: computes transition durations between them.
    """

    sources: Sources
    ends: EndPoses
    rooted: RootedClips
    automatic: Automatic

    @classmethod
    def of(cls, played: Sequence[Clip | Excerpt | Stage], playing: Playing) -> Prepared:
        """Prepare what is played. Equal input shares one value as long as anything refers to it."""
        style, body, up, root_motion = playing.style, playing.body, playing.up, playing.root_motion
        is_shared = style.joint_time == "SHARED" or TRANSITION_METHODS[style.method].shape in ("LEAD", "DECAY")
        legs = legs_of(body) if body is not None and root_motion in ("CONTINUE", "ALONG") else ()
        hips = None if body is None else carrying_hips(body)
        key = (cast("tuple[Hashable, ...]", tuple(played)), style.interpolation, style.translation,
               mode_named(root_motion), up.tobytes(), playing.speed, playing.limits, playing.followers.tobytes(),
               is_shared, _bytes(playing.skin), _bytes(playing.seen),
               body if root_motion == "ALONG" else None, legs, None if hips is None else hips.tobytes())
        known = _known.get(key)
        if known is None:
            sources = Sources.of(played, style.interpolation, style.translation)
            known = _known[key] = cls._made(sources, _grounds(played, sources, legs, up), playing, is_shared)
        return known

    @classmethod
    def _made(cls, sources: Sources, grounds: FloatArray, playing: Playing, is_shared: bool) -> Prepared:
        """Prepare clips. is_shared: all joints share one transition duration. grounds: see RootedClips."""
        clips, root_motion, limits = sources.clips, playing.root_motion, playing.limits
        chain = root_chain(clips, playing.followers, playing.body)
        moved, freed = moved_together(sources.moved, chain), RootSplit.of(sources.skeleton, chain)
        ends = EndPoses.of(sources.skeleton, sources.durations_s, moved, sources.ends)
        if freed is not None:
            for pose in (ends.first, ends.second, ends.last_but_one, ends.last):
                freed.free(pose)
        rooted = RootedClips(root_motion, clips, chain, moved, (ends.first, ends.second),
                             (ends.last, ends.last_but_one), playing.up,
                             _astray_rad(root_motion, clips, playing.body), freed, grounds)
        automatic = Automatic.of(clips, ends, lambda: rooted.laid(sources.end_positions()), playing.speed,
                                 is_shared=is_shared, angles=rot.angle_between if limits is None else limits.angles,
                                 skin=playing.skin, seen=playing.seen)
        return cls(sources, ends, rooted, automatic)


def _bytes(joints: BoolArray | None) -> bytes | None:
    return None if joints is None else joints.tobytes()


def _grounds(played: Sequence[Clip | Excerpt | Stage], sources: Sources, legs: tuple[Leg, ...],
             up: FloatArray) -> FloatArray:
    """Return the ground height at each clip's beginning and end, above that at rest, (2, C)."""
    found = np.zeros((2, len(played)))
    for number, piece in enumerate(played):
        ground = ground_of(piece, legs, up, (sources.interpolation, sources.translation)) if legs else None
        if ground is not None:
            found[:, number] = ground.at(sources.ends[number].at(np.array((0, -1))))
    return found


def _astray_rad(root_motion: RootMode, clips: Sequence[Clip], body: SkeletonMap | None) -> FloatArray:
    """Return the angle between each clip's direction of travel and the body's facing direction, see RootedClips."""
    if root_motion != "ALONG" or body is None:
        return np.zeros((2, len(clips)))
    return np.array([[straying_rad(clip, body.joint_of, at_end=at_end) for clip in clips] for at_end in (False, True)])


_known: WeakValueDictionary[tuple[Hashable, ...], Prepared] = WeakValueDictionary()
