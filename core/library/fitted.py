"""Files with clips brought to what a format can hold."""

from __future__ import annotations

from ..clips.clip_file import ClipFile
from ..formats.format import Format
from ..retargeting.retarget import retarget


def fitted(file: ClipFile, entry: Format) -> tuple[ClipFile, tuple[str, ...]]:
    """Return a file as a format can hold it, and warnings about what is lost.

    Where joints cannot have axes of their own, the clips are put on a skeleton in the same places with the model's.
    """
    holds, name = entry.holds, entry.endings[0]
    has_scales = (file.skeleton.rest_scales != 1.0).any() or any(len(clip.scales) for clip in file.clips)
    moves = any(len(clip.translations) for clip in file.clips)
    warnings = tuple(f"{what} are left out, which {name} does not know" for what, is_lost in (
        ("translations", moves and not holds.translations), ("scales", has_scales and not holds.scales)) if is_lost)
    if holds.own_axes:
        return file, warnings
    flat = file.skeleton.with_model_axes()
    return ClipFile(flat, tuple(retarget(clip, flat).clip for clip in file.played)), warnings
