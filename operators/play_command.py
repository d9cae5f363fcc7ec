"""The command `blender --command takt play`: a score played by the character of a .blend, without a window."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bpy

from ..bridge import properties, score
from ..core.errors import TaktError, some_of
from ..core.pha.document import number

_TRUTHS = {"yes": True, "no": False}
_SHOWN = 8


def add(commands: Any) -> None:
    """Add the command's arguments."""
    play = commands.add_parser("play", help="let the character of a .blend play a score, and save that")
    play.add_argument("rig", type=Path, help="the .blend with the character")
    play.add_argument("--score", type=Path, help="the .pha that is played; without it, what is played already")
    play.add_argument("--out", type=Path, required=True, help="the .blend that is written")
    play.add_argument("--overwrite", action="store_true", help="let --out replace a file that is read")
    play.add_argument("--armature", default="", help="the armature's name, where there are several")
    play.add_argument("--procedure", default="main", help="which procedure of the score is played (main)")
    play.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="values",
                      help="a parameter of the procedure, a number, yes or no; may be given several times")
    play.add_argument("--seed", type=int, help="decides what the score's picks pick")


def values_of(said: list[str]) -> dict[str, float | bool]:
    """Return parameters as they are said on a command line; raise TaktError where they are not.

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


def perform(armature_object: bpy.types.Object, options: argparse.Namespace) -> str:
    """Let an armature play what the options say; return what it plays. Raises TaktError where it cannot."""
    values = values_of(options.values)
    layer, character = bpy.context.view_layer, properties.character(armature_object)
    assert layer is not None
    layer.objects.active = armature_object
    if options.score is not None:
        _import(options.score, options.procedure)
    elif character.text is None:
        raise TaktError(f"'{armature_object.name}' has no score; name one by --score")
    motion = score.motion_of(armature_object)
    if motion is None:
        raise TaktError(f"the score cannot be played: {score.error_of(armature_object)}")
    score.keep_lists(armature_object)
    _set(character, values)
    if options.seed is not None:
        character.seed = options.seed
    motion = score.motion_of(armature_object)
    if motion is None:
        raise TaktError(f"the score cannot be played: {score.error_of(armature_object)}")
    _done(lambda: bpy.ops.takt.rebuild(write_long=True))  # type: ignore[attr-defined]
    return f"'{armature_object.name}' plays {len(motion.sequence)} segments, {motion.duration_s:.1f} s"


def _import(path: Path, procedure: str) -> None:
    if not path.is_file():
        raise TaktError(f"there is no file {path}")
    _done(lambda: bpy.ops.takt.import_pha(  # type: ignore[attr-defined]
        filepath=str(path.resolve()), procedure=procedure))


def _done(operator: Any) -> None:
    """Call an operator; raise TaktError, with what it reports, where it does not finish."""
    try:
        finished = operator() == {"FINISHED"}
    except RuntimeError as error:
        raise TaktError(str(error).removeprefix("Error: ").strip()) from None
    if not finished:
        raise TaktError("it was not done")


def _set(character: properties.TaktCharacter, values: dict[str, float | bool]) -> None:
    there = {each.name: each for each in character.parameters if each.is_here}
    for name, value in values.items():
        if name not in there:
            raise TaktError(f"--set {name}: the procedure has no such parameter; it has "
                            f"{some_of(tuple(there), _SHOWN) or 'none'}")
        if there[name].is_truth != isinstance(value, bool):
            raise TaktError(f"--set {name}: expected {'yes or no' if there[name].is_truth else 'a number'}")
        if isinstance(value, bool):
            there[name].truth = value
        else:
            there[name].number = value
