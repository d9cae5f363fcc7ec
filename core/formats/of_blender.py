"""Formats that Blender reads: what they are is known here, bridge gives their readers."""

from __future__ import annotations

from typing import Final

from .format import Format

FBX: Final = Format("FBX", "FBX", (".fbx",))
BLEND: Final = Format("BLEND", "Blender", (".blend",))
