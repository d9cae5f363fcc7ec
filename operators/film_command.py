"""The command `blender --command takt film`: play a score with a .blend's character, and film the preview."""

from __future__ import annotations

import argparse
import re
from typing import Any

import bpy

from ..bridge import graphics, properties, versions
from ..core.errors import TaktError
from . import play_command, render_film
from .preview import bound_armatures

_THROUGH = {"front": "CHARACTER", "camera": "CAMERA"}
_NOT_DRAWN = "films are drawn by the graphics card, which does not work here: {}"
_FRAMES = re.compile(r"(-?\d+)(?:-(-?\d+))?")


def add(commands: Any) -> None:
    """Add the command's arguments."""
    film = commands.add_parser("film", help="film the character of a .blend as it plays a score")
    play_command.add_common(film, "the .mp4 that is written, or a .png of the first frame")
    play_command.add_procedure(film)
    film.add_argument("--frames", metavar="FIRST-LAST", help="which frames of the scene (the whole score)")
    film.add_argument("--through", choices=_THROUGH, default="front", help="seen from the front, or by the camera")
    film.add_argument("--size", type=int, default=100, help="share of the resolution, in percent (100)")


def frames_of(said: str | None) -> tuple[int, int] | None:
    """Return the first and the last frame from a command-line option; raise TaktError if it is not valid.

    >>> frames_of("1-48"), frames_of("12"), frames_of(None)
    ((1, 48), (12, 12), None)
    """
    if said is None:
        return None
    found = _FRAMES.fullmatch(said)
    if found is None or (found[2] is not None and int(found[2]) < int(found[1])):
        raise TaktError(f"--frames {said}: expected FIRST-LAST, as 1-48, or one frame")
    return int(found[1]), int(found[2] or found[1])


def check(options: argparse.Namespace) -> None:
    """Raise TaktError if the file could not be written, or nothing can be drawn, before anything is opened."""
    frames_of(options.frames)
    if not 1 <= options.size <= render_film.MOST_SIZE:
        raise TaktError(f"--size {options.size}: expected a percentage from 1 to {render_film.MOST_SIZE}")
    if options.out.suffix.lower() not in render_film.ENDINGS:
        raise TaktError(f"{options.out} is neither a film nor a picture; let it end in .mp4 or .png")
    if not options.out.resolve().parent.is_dir():
        raise TaktError(f"{options.out} cannot be written: there is no folder {options.out.parent}")
    if reason := graphics.missing():
        raise TaktError(_NOT_DRAWN.format(reason))


def render(armature_object: bpy.types.Object, options: argparse.Namespace) -> str:
    """Let an armature play as the options say, and film it; raise TaktError if that fails."""
    frames, out = frames_of(options.frames), options.out.resolve()
    play_command.perform(armature_object, options)
    scene: Any = bpy.context.scene
    for ob in bpy.context.selected_objects:
        ob.select_set(False)
    if not bound_armatures(bpy.context):
        raise TaktError(f"no mesh follows '{armature_object.name}': bind one first, and save the file")
    if reason := versions.start_gpu():
        raise TaktError(_NOT_DRAWN.format(reason))
    if frames is not None:
        scene.frame_start, scene.frame_end = frames
    scene.frame_set(frames[0] if frames else properties.character(armature_object).frame_start)
    try:
        by = render_film.seen(bpy.context, _THROUGH[options.through], options.size / 100.0)
        for _ in render_film.rendered(bpy.context, out, by, whole=frames is None):
            pass
    except (ValueError, *render_film.CANNOT) as error:
        raise TaktError(render_film.why(error, out)) from error
    return f"wrote {options.out}"
