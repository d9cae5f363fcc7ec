"""The classes of a clip, in one call."""

from __future__ import annotations

from ..clips.clip import Clip
from ..skeletons.maps import SkeletonMap
from .measures import followed, measure
from .rules import Classes, classify


def classes_of(clip: Clip, found: SkeletonMap, name: str = "") -> Classes | None:
    """Return the classes of a clip, or None if its skeleton is not a body with arms and legs.

    found: the map of its skeleton. name: its file's, with folders, which is used as a hint like the clip's own.

    >>> from takt.samples.clips import build_clips
    >>> from takt.core.skeletons.maps import find_map
    >>> clip = next(each for each in build_clips("feet/Steps.skeleton.xml") if each.name == "quarter_left")
    >>> classes_of(clip, find_map(clip.skeleton)).turn
    'turning left'
    """
    body = followed(clip, found)
    return None if body is None else classify(measure(body, is_looping=clip.is_looping), f"{name} {clip.name}")
