"""Write files for game engines with Blender's own exporters: glTF with named animations, FBX with takes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import bpy

from ...core.errors import TaktError
from ...core.formats.gltf_animations import with_animations
from ...core.library.whole_files import check_name, write_whole
from ..actions.procedure_actions import Sampled
from ..frame_rate import frames_per_second
from .engine_animations import animations_of, is_moved_by_keys_alone
from .engine_scene import engine_scene

MOST_BYTES: Final = 63
"""Longest name of a track in bytes; Blender's exporters name animations after tracks."""


def _write_gltf(path: Path) -> None:
    exporter: Any = bpy.ops.export_scene
    animations = [ob.animation_data for ob in bpy.context.selected_objects if ob.animation_data is not None]
    exporter.gltf(filepath=str(path), export_format="GLB" if path.suffix == ".glb" else "GLTF_SEPARATE",
                  use_selection=True, use_active_scene=True,
                  export_animations=any(len(each.nla_tracks) for each in animations),
                  export_animation_mode="NLA_TRACKS", export_merge_animation="NONE", export_morph_animation=False,
                  export_optimize_disable_viewport=True, export_rest_position_armature=True)


def _write_fbx(path: Path) -> None:
    for ob in bpy.context.selected_objects:  # copies; the exporter needs their skin unbent
        for modifier in ob.modifiers:
            if modifier.type == "ARMATURE":
                modifier.show_viewport = False
    exporter: Any = bpy.ops.export_scene
    exporter.fbx(filepath=str(path), use_selection=True, object_types={"ARMATURE", "MESH"},
                 bake_anim_use_nla_strips=True, bake_anim_use_all_actions=False, bake_anim_simplify_factor=0.0,
                 add_leaf_bones=False, path_mode="COPY", embed_textures=True)


_WRITERS: Final[Mapping[str, tuple[str, str, Callable[[Path], None]]]] = {
    ".glb": ("EXPORT_SCENE_OT_gltf", "glTF 2.0 format", _write_gltf),
    ".gltf": ("EXPORT_SCENE_OT_gltf", "glTF 2.0 format", _write_gltf),
    ".fbx": ("EXPORT_SCENE_OT_fbx", "FBX format", _write_fbx)}
"""For each ending, the exporter's class, the name of its add-on, and the function that calls it."""
ENDINGS: Final = tuple(_WRITERS)


def problem(path: Path) -> str:
    """Return why a path cannot be written, or "" if it seems that it can."""
    if path.suffix.lower() not in _WRITERS:
        return f"'{path.name}' does not name a format for engines; it has to end in {', '.join(ENDINGS)}"
    if path.is_dir():
        return f"{path} is a folder; give the file's name too"
    if not path.parent.is_dir():
        return f"{path} cannot be written: there is no folder {path.parent}"
    exporter, called, _ = _WRITERS[path.suffix.lower()]
    if not hasattr(bpy.types, exporter):
        return f"Blender's exporter is switched off: switch '{called}' on in Edit > Preferences > Add-ons"
    return ""


def checked(path: Path) -> None:
    """Raise TaktError if a file cannot be written, before any work for it."""
    if reason := problem(path):
        raise TaktError(reason)
    check_name(path)


def holdable(sampled: Sequence[Sampled]) -> list[Sampled]:
    """Return procedures; those with names that are too long for files get a problem."""
    return [each if len(each.procedure.encode()) <= MOST_BYTES else Sampled(
        each.procedure, problem=f"its name takes {len(each.procedure.encode())} bytes, and Blender's exporters hold "
                                f"{MOST_BYTES}; give it a shorter one") for each in sampled]


def write(path: Path, armature_object: bpy.types.Object, scene: bpy.types.Scene, played: Sequence[Sampled]) -> None:
    """Write a character that plays procedures, each as an animation with its name.

    The old file is kept until the new one is complete. Raises TaktError or FileError if it cannot be written.
    """
    checked(path)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / f"{path.stem}{path.suffix.lower()}"
        if made.suffix == ".fbx" or not _written_at_once(made, armature_object, scene, played):
            _export(made, armature_object, scene, played)
        for each in sorted(Path(folder).iterdir(), key=lambda each: each == made):  # the last one names the others
            write_whole(path if each == made else path.with_name(each.name), each.read_bytes())


def _written_at_once(made: Path, armature_object: bpy.types.Object, scene: bpy.types.Scene,
                     played: Sequence[Sampled]) -> bool:
    """Let Blender write a character at rest as glTF, and add the animations; return whether that is possible.

    Blender's own way evaluates the scene at each frame. It is needed only if bones follow more than their keys.
    """
    if not is_moved_by_keys_alone(armature_object, played):
        return False
    _export(made, armature_object, scene, ())
    buffer = made.with_suffix(".bin") if made.suffix == ".gltf" else None
    found = with_animations(made.read_bytes(), animations_of(played, frames_per_second(scene)), made,
                            None if buffer is None else buffer.read_bytes())
    if found is None:
        return False
    data, beside = found
    made.write_bytes(data)
    if buffer is not None and beside is not None:
        buffer.write_bytes(beside)
    return True


def _export(made: Path, armature_object: bpy.types.Object, scene: bpy.types.Scene, played: Sequence[Sampled]) -> None:
    with engine_scene(armature_object, scene, played):
        try:
            _WRITERS[made.suffix][2](made)
        except RuntimeError as error:
            said = str(error).strip().splitlines() or ["it does not say why"]
            raise TaktError(f"Blender's exporter failed, and nothing was written: {said[-1]}") from error
    if not made.is_file():
        raise TaktError("Blender's exporter wrote nothing; see Blender's system console for the reason")
