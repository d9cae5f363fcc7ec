"""Clips of linked skeletons, as OGRE plays them on the skeleton that links them.

Source: OGRE's Skeleton::_getAnimationImpl and NodeAnimationTrack::applyToNode.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.clip_file import ClipFile
from ..errors import quoted
from .format import FindLinked
from .ogre import OgreSkeleton

MAX_LINKED = 100


def linked_clips(file: ClipFile, own: str, find: FindLinked) -> tuple[tuple[Clip, ...], tuple[str, ...]]:
    """Return the clips that a skeleton's links bring in, on that skeleton, and warnings.

    own: the name of the skeleton's own file, to which links may lead back. find: returns the skeleton that a link
    names, or None; its errors for unreadable files are passed on. Links are followed depth first, each file once, so
    cycles are harmless. If clips have the same name, the first counts, and the skeleton's own come before all others. A
    track moves the bone with its handle, even if names differ. The scale is that of the skeleton's own link, also for
    clips that come through further links. It multiplies translations, and the difference of scales from 1.
    """
    ogre = OgreSkeleton.of_file(file)
    known = {clip.name for clip in ogre.clips}
    found: list[Clip] = []
    warnings: list[str] = []
    for name, other, scale in _linked(ogre, own, find, warnings):
        strange = np.setdiff1d(other.handles, ogre.handles)
        fresh = [clip for clip in other.played if clip.name not in known]
        known.update(clip.name for clip in fresh)
        found += [_moved_onto(ogre, clip, other, scale) for clip in fresh]
        if len(strange) and fresh:
            bone = other.skeleton.names[int(np.flatnonzero(other.handles == strange[0])[0])]
            warnings.append(f"the linked skeleton {quoted(name)} has {len(strange)} bones more, as {quoted(bone)}; "
                            "their tracks are left out")
    return tuple(found), tuple(warnings)


def _linked(ogre: OgreSkeleton, own: str, find: FindLinked,
            warnings: list[str]) -> Iterator[tuple[str, OgreSkeleton, float]]:
    seen = {own}
    waiting = [(link.skeleton, link.scale) for link in reversed(ogre.links)]
    while waiting:
        name, scale = waiting.pop()
        if name in seen:
            continue
        if len(seen) > MAX_LINKED:
            warnings.append(f"more than {MAX_LINKED} linked skeletons; no more are read")
            return
        seen.add(name)
        found = find(name)
        if found is None:
            warnings.append(f"the linked skeleton {quoted(name)} is not there: its clips are left out")
            continue
        other = OgreSkeleton.of_file(found)
        yield name, other, scale
        waiting += [(link.skeleton, scale) for link in reversed(other.links)]


def _moved_onto(ogre: OgreSkeleton, clip: Clip, other: OgreSkeleton, scale: float) -> Clip:
    """Return a clip of another skeleton on this one, bone for bone by handle."""
    joint_of = dict(zip(ogre.handles.tolist(), range(len(ogre.handles)), strict=True))
    target = np.array([joint_of.get(handle, -1) for handle in other.handles.tolist()], dtype=np.int64)

    def renumbered(tracks: Tracks) -> Tracks:
        keep = target[tracks.joints] >= 0
        counts = np.diff(tracks.starts)
        keys = np.repeat(keep, counts)
        return Tracks(target[tracks.joints][keep], np.concatenate(((0,), np.cumsum(counts[keep]))),
                      tracks.times_s[keys], tracks.values[keys])

    rotations, translations, scales = (renumbered(part) for part in (clip.rotations, clip.translations, clip.scales))
    return Clip(clip.name, ogre.skeleton, clip.duration_s, rotations,
                Tracks(translations.joints, translations.starts, translations.times_s, translations.values * scale),
                Tracks(scales.joints, scales.starts, scales.times_s, 1.0 + (scales.values - 1.0) * scale),
                clip.is_looping)
