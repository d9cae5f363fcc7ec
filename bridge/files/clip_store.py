"""The clips of all scores and characters in Blender, read and retargeted once."""

from typing import Final

from ...core.library.store import ClipStore

CLIPS: Final = ClipStore()
"""The store exists as long as the extension is switched on. Actions, and files that Blender opens, are read in
Blender's main thread alone; see ClipStore for all else."""
