"""Adapt clip files to what a format can hold."""

from __future__ import annotations

from typing import Final

from ..clips.clip_file import ClipFile
from ..errors import quoted, some_of
from ..formats.format import Format
from ..retargeting.lost_scales import lost_scales
from ..retargeting.retarget import retarget

_NAMED: Final = 20
"""Joints that a warning names."""


def fitted(file: ClipFile, entry: Format) -> tuple[ClipFile, tuple[str, ...]]:
    """Return a file adapted to what a format can hold, and warnings about what is lost.

    If joints cannot have their own axes, the clips are retargeted to a skeleton with the same positions and the model's
    axes.
    """
    holds, name = entry.holds, entry.endings[0]
    has_scales = (file.skeleton.rest_scales != 1.0).any() or any(len(clip.scales) for clip in file.clips)
    moves = any(len(clip.translations) for clip in file.clips)
    warnings = tuple(f"{what} are left out, which {name} does not know" for what, is_lost in (
        ("translations", moves and not holds.translations), ("scales", has_scales and not holds.scales)) if is_lost)
    if entry.left_out is not None and (joints := entry.left_out(file)):
        named = some_of([quoted(each) for each in joints], _NAMED)
        warnings += (f"left out, since {name} has no such joints: {named}",)
    if entry.unmoved is not None and (joints := entry.unmoved(file)):
        warnings += (f"translations are left out, since {name} holds those of the hips alone; bones that lose theirs "
                     f"({len(joints)}): {some_of([quoted(each) for each in joints], _NAMED)}",)
    if holds.own_axes:
        return file, warnings
    flat = file.skeleton.with_model_axes()
    if holds.scales and (lost := lost_scales(file.played, flat)):
        warnings += (f"scaled along axes of their own, of which {name} keeps a part: "
                     f"{some_of([quoted(each) for each in lost], _NAMED)}",)
    return ClipFile(flat, tuple(retarget(clip, flat).clip for clip in file.played)), warnings
