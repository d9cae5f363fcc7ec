"""The sample character on the stage: built, bound and scored as a user does it."""

from pathlib import Path
from typing import Any

import bpy

from .character import build_character

LIBRARY = Path(__file__).parent / "library"
DANCE = LIBRARY / "dance.pha"


def bind(armature: Any, mesh: Any) -> None:
    """Select both and nothing else, and bind."""
    context: Any = bpy.context
    for ob in context.selected_objects:
        ob.select_set(False)
    for ob in (mesh, armature):
        ob.select_set(True)
    context.view_layer.objects.active = armature
    bpy.ops.takt.auto_bind("EXEC_DEFAULT")  # type: ignore[attr-defined]  # registered by the extension


def bound_dancer() -> tuple[Any, Any]:
    """Build the sample character and bind it; return armature and mesh, selected."""
    armature, mesh = build_character(bpy.context)
    bind(armature, mesh)
    return armature, mesh


def play(score: Path | None = None) -> None:
    """Import a score for the active armature, the dance where none is given."""
    bpy.ops.takt.import_pha("EXEC_DEFAULT", filepath=str(score or DANCE))  # type: ignore[attr-defined]
