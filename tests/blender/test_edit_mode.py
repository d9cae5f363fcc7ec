"""While something is in Edit Mode, whose undo brings back neither Texts nor Actions, what changes these is grey."""

from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge import properties
from takt.bridge.reports import edit_mode_problem
from takt.tests.blender.dancing import play

ops: Any = bpy.ops


def undoable() -> list[str]:
    return [name for name in dir(ops.takt)
            if "UNDO" in getattr(getattr(bpy.types, f"TAKT_OT_{name}"), "bl_options", ())]


@pytest.mark.parametrize("kind", ("mesh", "armature", "curve", "text", "lattice", "metaball"))
def test_nothing_that_undo_should_bring_back_runs_in_edit_mode(kind: str, rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    character = properties.character(rig)
    assert character.text is not None
    before = character.text.as_string()
    if kind == "mesh":
        ops.mesh.primitive_cube_add()
    elif kind == "curve":
        ops.curve.primitive_bezier_curve_add()
    elif kind == "lattice":
        ops.object.add(type="LATTICE")
    else:
        getattr(ops.object, f"{kind}_add")()
    assert ops.takt.add_sample.poll()
    edited = bpy.context.active_object
    ops.object.mode_set(mode="EDIT")
    assert edited is not None and edited.name in edit_mode_problem(bpy.context)
    assert len(undoable()) > 20
    assert not [name for name in undoable() if getattr(ops.takt, name).poll()]
    with pytest.raises(RuntimeError, match=r"Edit Mode|Object Mode first"):
        ops.takt.add_sample()
    ops.object.mode_set(mode="OBJECT")
    assert not edit_mode_problem(bpy.context) and ops.takt.add_sample.poll()
    assert character.text.as_string() == before
