"""The commands `blender --command takt play` and `export`: play a score with a .blend's character, without a window."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bpy

from ..bridge import properties
from ..bridge.actions import procedure_actions, write_motion
from ..bridge.actions.procedure_actions import Wanted
from ..bridge.files import engine_files, exported_procedures
from ..bridge.scores import score, variation
from ..bridge.steps import finished
from ..core.errors import TaktError, some_of
from ..core.pha.document import number
from ..core.playing.motion import Motion

_TRUTHS = {"yes": True, "no": False}
_SHOWN = 8
_MOST_REBUILDS = 6


def add(commands: Any) -> None:
    """Add the commands' arguments."""
    play = commands.add_parser("play", help="let the character of a .blend play a score, and save that")
    add_common(play, "the .blend that is written")
    add_procedure(play)
    export = commands.add_parser("export", help="write a character with an animation for each procedure of a score")
    add_common(export, "the .glb, .gltf or .fbx that is written")
    export.add_argument("--procedure", action="append", default=[], dest="procedures", metavar="NAME",
                        help="one that is written, instead of all; may be given several times")
    export.add_argument("--in-place", action="store_true", help="keep the character in its place")
    export.add_argument("--loop", action="store_true", help="let each procedure lead back to its beginning")


def add_common(command: argparse.ArgumentParser, out: str) -> None:
    """Add the arguments of all commands that play a score. out: help text of --out."""
    command.add_argument("rig", type=Path, help="the .blend with the character")
    command.add_argument("--score", type=Path, help="the .pha that is played; without it, what is played already")
    command.add_argument("--out", type=Path, required=True, help=out)
    command.add_argument("--overwrite", action="store_true", help="let --out replace a file that is read")
    command.add_argument("--armature", default="", help="the armature's name, where there are several")
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="values",
                         help="a parameter of the procedure, a number, yes or no; may be given several times")
    command.add_argument("--seed", type=int, help="decides what the score's picks pick")
    command.add_argument("--cast", action="append", default=[], metavar="ROLE=OBJECT",
                         help="the object that plays a role of the score; may be given several times")


def add_procedure(command: argparse.ArgumentParser) -> None:
    """Add the argument of commands that play one procedure."""
    command.add_argument("--procedure", help="which procedure of the score is played (main; without --score, the one "
                                             "that is played already)")


def values_of(said: list[str]) -> dict[str, float | bool]:
    """Return parameters from command-line options; raise TaktError if they are not valid.

    >>> values_of(["turns=3", "fast=yes"])
    {'turns': 3.0, 'fast': True}
    """
    found: dict[str, float | bool] = {}
    for each in said:
        name, separator, value = each.partition("=")
        read = _TRUTHS.get(value, number(value))
        if not separator or not name or read is None:
            raise TaktError(f"--set {each}: expected NAME=VALUE, the value a number, yes or no")
        found[name] = read
    return found


def cast_of(said: list[str]) -> dict[str, str]:
    """Return the objects of roles from command-line options.

    >>> cast_of(["seat=Chair"])
    {'seat': 'Chair'}
    """
    found: dict[str, str] = {}
    for each in said:
        role, separator, name = each.partition("=")
        if not (role and separator and name):
            raise TaktError(f"--cast {each}: expected ROLE=OBJECT")
        if role in found:
            raise TaktError(f"--cast {each}: the role has an object already, '{found[role]}'; expected each role once")
        found[role] = name
    return found


def perform(armature_object: bpy.types.Object, options: argparse.Namespace) -> str:
    """Let an armature play as the options say; return a report. Raises TaktError if it cannot."""
    motion, scene = prepare(armature_object, options, options.procedure), bpy.context.scene
    assert scene is not None
    for _ in range(_MOST_REBUILDS):  # a character that it meets may aim at it, and then move differently
        _done(lambda: bpy.ops.takt.rebuild(write_long=True))  # type: ignore[attr-defined]
        if write_motion.is_made_from(armature_object, scene):
            break
    return f"'{armature_object.name}' plays {len(motion.sequence)} segments, {motion.duration_s:.1f} s"


def export(armature_object: bpy.types.Object, options: argparse.Namespace) -> tuple[str, bool]:
    """Write the files of the options; return a report, and whether all were written. Raises TaktError."""
    engine_files.checked(options.out.resolve())
    prepare(armature_object, options, options.procedures[0] if options.procedures else None)
    names = procedure_actions.names_of(armature_object)
    if missing := [name for name in options.procedures if name not in names]:
        raise TaktError(f"the score has no procedure {missing[0]}; it has {some_of(names, _SHOWN)}")
    scene = bpy.context.scene
    assert scene is not None
    told = finished(exported_procedures.steps(armature_object, scene, options.procedures or names,
                                              options.out.resolve(), Wanted(options.in_place, options.loop)))
    return "\n".join(message for _, message in told), all(severity == "INFO" for severity, _ in told)


def prepare(armature_object: bpy.types.Object, options: argparse.Namespace, procedure: str | None) -> Motion:
    """Set score, values, seed and cast of an armature from options; return its motion.

    procedure: that is played; None: main of a score that is given, else the one that is played already. Raises
    TaktError if it cannot play.
    """
    values, cast = values_of(options.values), cast_of(options.cast)
    layer, character = bpy.context.view_layer, properties.character(armature_object)
    assert layer is not None
    layer.objects.active = armature_object
    if options.score is not None:
        _import(options.score, procedure or "main")
    elif character.text is None:
        raise TaktError(f"'{armature_object.name}' has no score; name one by --score")
    elif procedure is not None:
        character.procedure = procedure
        properties.mark_version(character)
    motion = score.motion_of(armature_object)
    if motion is None:
        raise TaktError(f"the score cannot be played: {score.error_of(armature_object)}")
    score.keep_lists(armature_object)
    variation.set_values(character, values)
    variation.set_cast(character, cast)
    if options.seed is not None:
        character.seed = options.seed
    motion = score.motion_of(armature_object)
    if motion is None:
        raise TaktError(f"the score cannot be played: {score.error_of(armature_object)}")
    return motion


def _import(path: Path, procedure: str) -> None:
    if not path.is_file():
        raise TaktError(f"there is no file {path}")
    _done(lambda: bpy.ops.takt.import_pha(  # type: ignore[attr-defined]
        filepath=str(path.resolve()), procedure=procedure))


def _done(operator: Any) -> None:
    """Call an operator; raise TaktError, with what it reports, if it does not finish."""
    try:
        finished = operator() == {"FINISHED"}
    except RuntimeError as error:
        raise TaktError(str(error).removeprefix("Error: ").strip()) from None
    if not finished:
        raise TaktError("it was not done")
