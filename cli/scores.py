"""Common options of commands that play a score, and reading and playing it."""

from __future__ import annotations

import argparse
import dataclasses
import os
import typing
from pathlib import Path

import numpy as np

from ..core.clips.clip_file import ClipFile
from ..core.clips.released import Released, read_released
from ..core.errors import Place, Problem, TaktError
from ..core.formats import endings
from ..core.library.clip_files import read_clip_file
from ..core.library.files import check_library, read_file
from ..core.library.library import Library
from ..core.library.reading import Reading
from ..core.pha.document import parse
from ..core.pha.expressions import ExpressionError, Value, is_name, read_expression
from ..core.pha.programme import Programme, resolve
from ..core.playing.fit import FITS
from ..core.playing.motion import Motion
from ..core.playing.performer import Performer
from ..core.playing.scene.cast import ScenePath, ScenePlace, Target
from ..core.playing.score import Settings, play
from ..core.playing.transitions.curves import CURVES, JOINT_TIMES, PACES
from ..core.playing.transitions.lengths import SPEEDS
from ..core.playing.transitions.methods import TRANSITION_METHODS
from ..core.retargeting.comparing.bvh_space import AUTO, AXES, UNITS, BvhSpace

_REGISTRIES: dict[str, tuple[str, ...]] = {
    "method": tuple(TRANSITION_METHODS), "curve": tuple(CURVES), "pace": tuple(PACES),
    "joint_time": tuple(JOINT_TIMES), "fit": tuple(FITS), "speed": tuple(SPEEDS)}
_HELP = {
    "procedure": "which procedure of the file to play",
    "method": "where transitions play",
    "curve": "weight curve of transitions",
    "interpolation": "interpolation of rotations between keys",
    "translation": "interpolation of translations between keys",
    "pace": "time curve of inserted transitions",
    "joint_time": "whether all joints take the whole transition",
    "fit": "transition point search: at which moments clips join",
    "speed": "joint speed that sets automatic lengths: near the seam (NEAR), or over three keys as in PHA 1",
    "root_motion": "root motion: how the character travels from clip to clip",
    "lock_feet": "no foot lock: keeps foot skating",
    "keep_contacts": "keep hands touching each other and the body as in the clip, and keep arms out of the trunk",
    "loop": "the last clip leads back to the first",
    "transitions": "cut from clip to clip",
}
_UP = {"Y": np.array((0.0, 1.0, 0.0)), "Z": np.array((0.0, 0.0, 1.0))}


def add_library(parser: argparse.ArgumentParser) -> None:
    """Add the options for folders of clips and scores."""
    parser.add_argument("--library", metavar="DIR", type=Path, action="append", default=[],
                        help="folder that every src starts from; may be given several times "
                             "(default: found from the score's own folder upwards)")
    parser.add_argument("--load-format", metavar="ENDING", default="",
                        help=f"which file a src means if there are several: {', '.join(endings())}")
    add_bvh(parser)


def add_bvh(parser: argparse.ArgumentParser) -> None:
    """Add the options for axes and unit of BVH files."""
    for name, known, says in (("up", AXES, "which axis of BVH files points up"),
                              ("forward", AXES, "along which axis of BVH files the body faces, as in --bvh-forward=-Y"),
                              ("unit", {AUTO: "", **UNITS}, "the unit of BVH files")):
        parser.add_argument(f"--bvh-{name}", metavar="NAME", type=str.upper, choices=list(known), default=AUTO,
                            help=f"{says} ({', '.join(known)}; default: {AUTO}, found from the body)")


def add_playing(parser: argparse.ArgumentParser) -> None:
    """Add the options for playing a score: one for each of core's Settings, and the skeleton."""
    add_library(parser)
    types = typing.get_type_hints(Settings)
    for field in dataclasses.fields(Settings):
        flag, says = f"--{field.name.replace('_', '-')}", _HELP.get(field.name, "")
        if field.name in ("values", "seed", "released", "cast", "unit_m"):
            continue
        if types[field.name] is bool:
            word = "--no-" + field.name.replace("_", "-") if field.default else flag
            parser.add_argument(word, dest=field.name, action="store_false" if field.default else "store_true",
                                help=says)
        elif field.name == "procedure":
            parser.add_argument(flag, metavar="NAME", default=field.default, help=f"{says} (default: {field.default})")
        else:
            known = _REGISTRIES.get(field.name) or typing.get_args(types[field.name])
            among = f"{', '.join(known)}; " if known else ""
            parser.add_argument(flag, metavar="NAME", type=str.upper, choices=list(known) or None,
                                default=field.default, help=f"{says} ({among}default: {field.default})".strip())
    add_values(parser)
    parser.add_argument("--release", metavar="'SIDE SECONDS CLIP'", dest="released", type=_released, action="extend",
                        default=[], help="switch off the contact of a foot, l or r, at that time of a clip; may be "
                                         "given several times")
    parser.add_argument("--cast", metavar="ROLE=X,Y,Z[,DEGREES]", type=read_role, action="append", default=[],
                        help="what plays a role, in the skeleton's space: a place, facing so many degrees to the left "
                             "of +Z about Y, or a path, as points with semicolons between; may be given several times")
    parser.add_argument("--skeleton", metavar="FILE", type=Path,
                        help=f"the skeleton that plays: {', '.join(endings(read=True))} (default: the first clip's)")
    parser.add_argument("--up", choices=list(_UP), type=str.upper, default="Y",
                        help="which axis of the clips points up (default: Y)")


def _released(text: str) -> tuple[Released, ...]:
    found = read_released(text)
    if not found:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a side (l or r), seconds and a clip's name, as in "
                                         "'l 0.5 feet.Steps.left_step'")
    return found


def add_values(parser: argparse.ArgumentParser) -> None:
    """Add the options for a score of version 2: the procedure's parameters, and the seed of picks."""
    parser.add_argument("--set", metavar="NAME=VALUE", dest="values", type=read_value, action="append", default=[],
                        help="a parameter of the procedure: a number, yes or no; may be given several times")
    parser.add_argument("--seed", metavar="N", type=int, default=0,
                        help="decides what the score's picks choose (default: 0)")


def bvh_space(options: argparse.Namespace) -> BvhSpace:
    """Return the axes and unit from the options of add_bvh."""
    return BvhSpace(**{f.name: getattr(options, f"bvh_{f.name}") for f in dataclasses.fields(BvhSpace)})


def read_programme(path: Path, options: argparse.Namespace) -> tuple[Programme, Library]:
    """Read a score and all that it needs; raise FileError with all mistakes."""
    for root in options.library:
        if not root.is_dir():
            raise TaktError(f"the library {str(root)!r} is no folder")
        check_library(root)
    bvh = bvh_space(options)
    document = parse(read_named(path), path)
    library = Library(options.library, reading=Reading(options.load_format, bvh=bvh)).beside(document)
    return resolve(document, library), library


def read_motion(options: argparse.Namespace) -> tuple[Programme, Motion]:
    """Return the programme and motion of the score that the options name."""
    programme, library = read_programme(options.score, options)
    return programme, play_programme(programme, library, options)


def play_programme(programme: Programme, library: Library, options: argparse.Namespace, *,
                   longest_s: float = np.inf) -> Motion:
    """Return the motion of a score with the options and the library's skeleton maps; refuse one that lasts longer."""
    skeleton = None
    if options.skeleton is not None:
        skeleton = read_named_clips(options.skeleton).skeleton
    return play(programme, Performer(skeleton, _UP[options.up]), settings_of(options), maps=library.skeleton_map,
                longest_s=longest_s)


def check_unread(target: Path, *read: Path | None) -> None:
    """Raise TaktError if a file to write is one of those that were read."""
    if target.exists() and any(path is not None and path.exists() and target.samefile(path) for path in read):
        raise TaktError(f"{str(target)!r} is one of the files to read; give OUT another name")


def settings_of(options: argparse.Namespace) -> Settings:
    """Return the settings from the options."""
    names = [field.name for field in dataclasses.fields(Settings) if field.name != "unit_m"]
    lists = {name: tuple(getattr(options, name)) for name in ("values", "released", "cast")}
    return Settings(**{name: getattr(options, name) for name in names} | lists)


def read_value(text: str) -> tuple[str, Value]:
    """Return name and value from NAME=VALUE; raise ArgumentTypeError if it is not valid.

    >>> read_value("times=4"), read_value("big = yes")
    (('times', 4.0), ('big', True))
    """
    name, sign, value = (part.strip() for part in text.partition("="))
    try:
        if not sign or not is_name(name):
            raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, as in times=4 or big=yes")
        return name, read_expression(value).value({})
    except ExpressionError as error:
        raise argparse.ArgumentTypeError(f"{name}: {error}") from None


def read_role(text: str) -> tuple[str, Target]:
    """Return a role and its target from an option; raise ArgumentTypeError if it is not valid.

    >>> read_role("seat=1,0,2"), read_role("lane=0,0,0;1,0,0")[1].points
    (('seat', ScenePlace(position=(1.0, 0.0, 2.0), ahead=(0.0, 0.0, 1.0))), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)))
    """
    name, _, said = (part.strip() for part in text.partition("="))
    try:
        points = [tuple(float(number) for number in point.split(",")) for point in said.split(";")]
        if len(points) > 1:
            return name, ScenePath(tuple((x, y, z) for x, y, z in points))
        (x, y, z, *degrees), = points
        angle = np.radians(degrees[0] if degrees else 0.0)
        return name, ScenePlace((x, y, z), (float(np.sin(angle)), 0.0, float(np.cos(angle))))
    except (ValueError, TaktError):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a role and a place or points, as in seat=1,0,2,90 "
                                         "or 'lane=0,0,0;2,0,1'") from None


def read_number(text: str) -> float:
    """Return a number from an option; raise ArgumentTypeError if it is not one."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


def counted(number: int, what: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "segment"), counted(2, "segment")
    ('1 segment', '2 segments')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"


def findings(motion: Motion, path: Path, options: argparse.Namespace | None = None) -> list[Problem]:
    """Return the warnings of a motion, and options without effect; problems without a line get the score's path."""
    default = Settings()
    ignored = [Problem(f"--{name.replace('_', '-')} changes nothing with the method {motion.method.identifier}",
                       is_warning=True) for name in ("curve", "pace", "joint_time")
               if getattr(options, name, getattr(default, name)) != getattr(default, name)
               and not motion.method.uses(name)]
    return [dataclasses.replace(p, place=Place(path)) if p.place == Place() else p
            for p in (*ignored, *motion.problems)]


def read_named(path: Path) -> bytes:
    """Return the contents of a file that the user named; unlike those that scores name, it may be a symbolic link."""
    return read_file(path, Path(os.path.realpath(path)))


def read_named_clips(path: Path) -> ClipFile:
    """Return a file with clips that the user named; see read_named."""
    return read_clip_file(path, real=Path(os.path.realpath(path)))
