"""A progress bar while an operator waits for clips to be read."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import bpy

from ...core.clips.clip_file import ClipFile
from ...core.formats.format import Format, Source
from . import clips

_STEPS = 100
_NEARER = 0.1
"""The number of files is not known beforehand: each file advances progress by this share of the rest."""


@contextmanager
def reading(context: bpy.types.Context) -> Iterator[Mapping[str, Format]]:
    """Yield all formats of clips, whose readers move a progress bar on."""
    manager = context.window_manager
    assert manager is not None
    left = 1.0

    def read(entry: Format, source: Source) -> ClipFile:
        nonlocal left
        left *= 1.0 - _NEARER
        manager.progress_update(_STEPS * (1.0 - left))
        assert entry.read is not None
        return entry.read(source)

    manager.progress_begin(0.0, _STEPS)
    try:
        yield {name: replace(entry, read=partial(read, entry)) for name, entry in clips.formats().items()}
    finally:
        manager.progress_end()
