"""The command `blender --command takt retarget`: clips made into Actions of a character, without a window."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ..bridge.active_character import armature_problem
from ..bridge.play_clips import ClipPlayer, files_in
from ..core.errors import TaktError
from ..core.retargeting.outcome import Outcome, table
from .retarget_clips import retargeted

_NAME = "takt"
_handle: Any = None


def register() -> None:
    """Make the command known to Blender."""
    global _handle
    _handle = bpy.utils.register_cli_command(_NAME, run)


def unregister() -> None:
    """Take the command out of Blender."""
    bpy.utils.unregister_cli_command(_handle)


def run(arguments: Sequence[str]) -> int:
    """Run the command; return 0 where every clip plays, 1 where any is refused, 2 where nothing could begin."""
    parser = argparse.ArgumentParser(prog=f"blender --command {_NAME}")
    retarget = parser.add_subparsers(required=True, metavar="retarget").add_parser(
        "retarget", help="make an Action of each clip for the character of a .blend")
    retarget.add_argument("rig", type=Path, help="the .blend with the character")
    retarget.add_argument("clips", type=Path, nargs="+", help="files with clips, or folders of them")
    retarget.add_argument("--out", type=Path, required=True, help="the .blend that is written")
    retarget.add_argument("--armature", default="", help="the armature's name, where there are several")
    retarget.add_argument("--keep-contacts", action=argparse.BooleanOptionalAction, default=True,
                          help="let hands that touch each other or the body do so on this body too")
    retarget.add_argument("--begin-at-character", action="store_true",
                          help="let clips begin where the character stands, not where their files have it")
    try:
        options = parser.parse_args(list(arguments))
    except SystemExit as stopped:  # Blender itself shall end the process
        return int(stopped.code or 0)
    try:
        return _retarget(options)
    except TaktError as error:
        print(f"error: {error}")  # noqa: T201  # the command's answer
        return 2


def _retarget(options: argparse.Namespace) -> int:
    _open(options.rig)
    armature_object = _armature(options.armature)
    missing = [str(path) for path in options.clips if not path.exists()]
    if missing:
        raise TaktError(f"there is no {', '.join(missing)}")
    paths, scene = files_in(options.clips), bpy.context.scene
    if not paths:
        raise TaktError(f"no files with clips in {', '.join(map(str, options.clips))}")
    assert scene is not None
    outcomes: list[Outcome] = []
    player = ClipPlayer.of(armature_object, paths, keep_contacts=options.keep_contacts, mute_constraints=True,
                           begins_at_rest=options.begin_at_character)
    for done in retargeted(player, paths, scene):
        outcomes += done
    print(table(outcomes))  # noqa: T201  # the command's answer
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(options.out.resolve()), copy=True)
    except RuntimeError as error:
        raise TaktError(f"{options.out} cannot be written: {error}") from error
    return int(any(outcome.problem for outcome in outcomes))


def _open(rig: Path) -> None:
    if not rig.is_file():
        raise TaktError(f"there is no file {rig}")
    try:
        bpy.ops.wm.open_mainfile(filepath=str(rig.resolve()), load_ui=False)
    except RuntimeError as error:
        raise TaktError(f"Blender cannot open {rig}: {error}") from error


def _armature(name: str) -> bpy.types.Object:
    """Return the armature of a name, or the only one that there is."""
    found = {ob.name: ob for ob in bpy.data.objects if ob.type == "ARMATURE"}
    if name not in found and (name or len(found) != 1):
        wanted = f"there is no armature {name!r}" if name else "choose one armature by --armature NAME"
        raise TaktError(f"{wanted}; the file has {', '.join(found) or 'none'}")
    armature_object = found[name] if name else next(iter(found.values()))
    if problem := armature_problem(armature_object):
        raise TaktError(problem)
    return armature_object
