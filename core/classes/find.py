"""What a clip is, in one call, once for each clip."""

from __future__ import annotations

from ..clips.clip import Clip
from ..skeletons.maps import SkeletonMap
from .measures import followed, measure
from .rules import Classes, classify


def classes_of(clip: Clip, found: SkeletonMap, name: str = "") -> Classes | None:
    """Return what a clip is, or None if its skeleton is no body with arms and legs.

    found: what the joints of its skeleton are. name: its file's, with folders, which is a hint as its own is.

    >>> from takt.samples.clips import build_clips
    >>> from takt.core.skeletons.maps import find_map
    >>> clip = next(each for each in build_clips("feet/Steps.skeleton.xml") if each.name == "quarter_left")
    >>> classes_of(clip, find_map(clip.skeleton)).turn
    'turning left'
    """
    body = followed(clip, found)
    return None if body is None else classify(measure(body, is_looping=clip.is_looping), f"{name} {clip.name}")
