"""Write procedures of a character's score into one file, each as an animation."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final

import bpy

from ...core.errors import some_of
from ..actions.procedure_actions import Wanted, problems_of, sampled_of
from ..reports import Told
from .engine_files import checked, holdable, write

_SHOWN: Final = 5


def steps(armature_object: bpy.types.Object, scene: bpy.types.Scene, names: Sequence[str], path: Path,
          wanted: Wanted) -> Generator[float, None, list[Told]]:
    """Sample procedures and write them into a file, without changing the .blend. Raises TaktError."""
    checked(path)
    sampled = holdable((yield from sampled_of(armature_object, scene, names, wanted)))
    written = [each for each in sampled if not each.problem]
    write(path, armature_object, scene, written)
    names = [each.procedure for each in written]
    if len(names) == 1:
        return [*problems_of(sampled), ("INFO", f"Wrote the animation {names[0]} into {path}")]
    return [*problems_of(sampled), ("INFO", f"Wrote {len(names)} animations into {path}: {some_of(names, _SHOWN)}")]
