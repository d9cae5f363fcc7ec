"""The command `blender --command takt`: make Actions of clips, or play, film or export a score, without a window."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ..bridge.actions.play_clips import ClipPlayer, ClipSettings, files_in, folders_within
from ..bridge.active_character import armature_problem
from ..core.errors import TaktError, some_of
from ..core.retargeting.outcome import Outcome, table
from . import film_command, play_command
from .retarget_clips import retargeted

_NAME = "takt"
_MOST_FOLDERS = 5
"""Greatest number of skipped folders that are named."""
_handle: Any = None


def register() -> None:
    """Register the command in Blender."""
    global _handle
    _handle = bpy.utils.register_cli_command(_NAME, run)


def unregister() -> None:
    """Remove the command from Blender."""
    bpy.utils.unregister_cli_command(_handle)


def run(arguments: Sequence[str]) -> int:
    """Run the command; return 0 on success, 1 if any clip is refused, 2 if nothing could be started."""
    parser = argparse.ArgumentParser(prog=f"blender --command {_NAME}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    play_command.add(commands)
    film_command.add(commands)
    retarget = commands.add_parser("retarget", help="make an Action of each clip for the character of a .blend")
    retarget.add_argument("rig", type=Path, help="the .blend with the character")
    retarget.add_argument("clips", type=Path, nargs="+", help="files with clips, or folders of them")
    retarget.add_argument("--out", type=Path, required=True, help="the .blend that is written")
    retarget.add_argument("--recursive", action="store_true", help="take the clips in folders within folders, too")
    retarget.add_argument("--overwrite", action="store_true", help="let --out replace a file that is read")
    retarget.add_argument("--armature", default="", help="the armature's name, where there are several")
    retarget.add_argument("--keep-contacts", action=argparse.BooleanOptionalAction, default=True,
                          help="let hands that touch each other or the body do so on this body too")
    retarget.add_argument("--foot-lock", action=argparse.BooleanOptionalAction, default=True,
                          help="hold feet in place during the contacts of clips of another body")
    retarget.add_argument("--feet-stand", dest="foot_lock", action=argparse.BooleanOptionalAction,
                          default=argparse.SUPPRESS, help=argparse.SUPPRESS)  # the former name
    retarget.add_argument("--begin-at-character", action="store_true",
                          help="let clips begin where the character stands, not where their files have it")
    try:
        options = parser.parse_args(list(arguments))
    except SystemExit as stopped:  # the return value lets Blender itself end the process
        return int(stopped.code or 0)
    try:
        return {"play": _play, "film": _film, "export": _export, "retarget": _retarget}[options.command](options)
    except TaktError as error:
        print(f"error: {error}")  # noqa: T201  # the command's answer
        return 2


def _retarget(options: argparse.Namespace) -> int:
    if not options.rig.is_file():
        raise TaktError(f"there is no file {options.rig}")
    paths, left_out = _files(options)
    _check_out(options, paths)
    _open(options.rig)
    armature_object, scene = _armature(options.armature), bpy.context.scene
    assert scene is not None
    outcomes: list[Outcome] = []
    player = ClipPlayer.of(armature_object, paths, ClipSettings(
        options.keep_contacts, options.foot_lock, mute_constraints=True, begins_at_rest=options.begin_at_character))
    for done in retargeted(player, paths, scene):
        outcomes += done
    print(table(outcomes), *left_out, sep="\n")  # noqa: T201  # the command's answer
    _save(options.out)
    return int(any(outcome.problem for outcome in outcomes))


def _play(options: argparse.Namespace) -> int:
    if not options.rig.is_file():
        raise TaktError(f"there is no file {options.rig}")
    play_command.values_of(options.values)
    _check_out(options, [] if options.score is None else [options.score])
    _open(options.rig)
    print(play_command.perform(_armature(options.armature), options))  # noqa: T201  # the command's answer
    _save(options.out)
    return 0


def _film(options: argparse.Namespace) -> int:
    if not options.rig.is_file():
        raise TaktError(f"there is no file {options.rig}")
    film_command.check(options)
    _check_out(options, [] if options.score is None else [options.score])
    _open(options.rig)
    print(film_command.render(_armature(options.armature), options))  # noqa: T201  # the command's answer
    return 0


def _export(options: argparse.Namespace) -> int:
    if not options.rig.is_file():
        raise TaktError(f"there is no file {options.rig}")
    _check_out(options, [] if options.score is None else [options.score])
    _open(options.rig)
    said, is_whole = play_command.export(_armature(options.armature), options)
    print(said)  # noqa: T201  # the command's answer
    return int(not is_whole)


def _save(out: Path) -> None:
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(out.resolve()), copy=True)
    except RuntimeError as error:
        raise TaktError(f"{out} cannot be written: {error}") from error


def _files(options: argparse.Namespace) -> tuple[list[Path], list[str]]:
    """Return the files with clips, and messages about folders that are not searched."""
    missing = [str(path) for path in options.clips if not path.exists()]
    if missing:
        raise TaktError(f"there is no {', '.join(missing)}")
    inside = [] if options.recursive else [str(path) for path in folders_within(options.clips)]
    left_out = [f"not looked into: {some_of(inside, _MOST_FOLDERS)}; --recursive takes folders too"] if inside else []
    paths = files_in(options.clips, is_recursive=options.recursive)
    if not paths:
        raise TaktError("; ".join((f"no files with clips in {', '.join(map(str, options.clips))}", *left_out)))
    return paths, left_out


def _check_out(options: argparse.Namespace, paths: Sequence[Path]) -> None:
    """Raise TaktError if the file cannot be written, or is an input file without the option to replace it."""
    out: Path = options.out
    if not out.resolve().parent.is_dir():
        raise TaktError(f"{out} cannot be written: there is no folder {out.parent}")
    if out.is_dir():
        raise TaktError(f"--out names the folder {out}; give the .blend's name too")
    if out.exists() and not options.overwrite:
        for path in (options.rig, *paths):
            if path.exists() and path.samefile(out):
                raise TaktError(f"--out would replace {path}, which is read; name another file, or say --overwrite")


def _open(rig: Path) -> None:
    try:
        bpy.ops.wm.open_mainfile(filepath=str(rig.resolve()), load_ui=False)
    except RuntimeError as error:
        raise TaktError(f"Blender cannot open {rig}: {error}") from error


def _armature(name: str) -> bpy.types.Object:
    """Return the armature of a name, or the only one."""
    found = {ob.name: ob for ob in bpy.data.objects if ob.type == "ARMATURE"}
    if name not in found and (name or len(found) != 1):
        wanted = f"there is no armature {name!r}" if name else "choose one armature by --armature NAME"
        raise TaktError(f"{wanted}; the file has {', '.join(found) or 'none'}")
    armature_object = found[name] if name else next(iter(found.values()))
    if problem := armature_problem(armature_object):
        raise TaktError(problem)
    return armature_object
