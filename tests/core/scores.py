"""A small figure, its clips and libraries of them, for the tests of scores and motions."""

import numpy as np

from takt.core.clips.clip import Clip, Tracks
from takt.core.formats import FORMATS
from takt.core.formats.format import Format, Read
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import Programme, resolve
from takt.core.pha.sequence import Sequence
from takt.core.skeletons.skeleton import Skeleton

UP_Z = np.array((0.0, 0.0, 1.0))
X, Y, Z = np.eye(3)
NO_TURN = rot.IDENTITY


def figure() -> Skeleton:
    """Hip (rolled, above the ground), spine, two arms: rest rotations on purpose not the identity."""
    rest = np.stack((rot.from_axis_angle(np.array((1.0, 2.0, 3.0)), 0.7), rot.from_axis_angle(X, 0.3),
                     rot.from_axis_angle(Y, 1.2), rot.from_axis_angle(Z, -0.9)))
    return Skeleton.from_arrays(("hip", "spine", "l_arm", "r_arm"), (-1, 0, 1, 1), rest,
                                np.array(((0.1, 0.2, 1.0), (0, 0, 0.3), (0.2, 0, 0.2), (-0.2, 0, 0.2))))


FIGURE = figure()


def turning(name: str, axis: np.ndarray, angles: tuple[float, ...], joints: tuple[str, ...] = ("l_arm", "r_arm"),
            duration_s: float = 1.0) -> Clip:
    """Make a clip that turns joints about an axis through angles (radians), evenly in time."""
    times = np.linspace(0.0, duration_s, len(angles))
    rows = np.array([FIGURE.index_of[n] for n in joints])
    values = rot.from_axis_angle(axis, np.array(angles))[:, None].repeat(len(rows), axis=1)
    return Clip(name, FIGURE, duration_s, Tracks.uniform(rows, times, values), Tracks.empty(3), Tracks.empty(3))


def walking(name: str, way: tuple[float, float], yaw_rad: float = 0.0, start: tuple[float, float] = (0.0, 0.0),
            facing_rad: float = 0.0, duration_s: float = 1.0, keys: int = 9) -> Clip:
    """Make a clip whose hip goes evenly over the ground, turns about up from a first heading, and bobs."""
    share = np.linspace(0.0, 1.0, keys)
    ground = np.array(start) + share[:, None] * np.array(way)
    translations = np.column_stack((ground, 0.05 * np.sin(2 * np.pi * share)))
    frame = FIGURE.rest_world_rotations[0]
    turn = rot.from_axis_angle(UP_Z, facing_rad + share * yaw_rad)
    hip = rot.multiply(rot.multiply(rot.conjugate(frame), turn), frame)
    arm = rot.from_axis_angle(X, 0.5 * np.sin(2 * np.pi * share))
    times = share * duration_s
    return Clip(name, FIGURE, duration_s, Tracks.uniform(np.array((0, 2)), times, np.stack((hip, arm), axis=1)),
                Tracks.uniform(np.array((0,)), times, translations[:, None]), Tracks.empty(3))


def library(**clips: tuple[Clip, ...]) -> Library:
    """Make a library without files: each keyword is a src, with _ for its dots."""
    return Library(other_clips=lambda src: clips.get(src.replace(".", "_")))


STEPS = library(feet_Steps=(turning("left", X, (0.0, 0.4, 0.1)), turning("right", Y, (0.2, 0.5, 0.9)),
                            turning("nod", Z, (0.0, 0.3), ("spine",))))


def score(*procedures: str, tick: float = 1.0, head: str = '<load src="feet.Steps"/>') -> str:
    """Put procedures into a file."""
    return f'<pha tickLength="{tick}">{head}{"".join(procedures)}</pha>'


def procedure(name: str, *calls: str) -> str:
    """Write a procedure; each call is what stands in its element, the name first: 'left duration="1"'."""
    inside = "".join('<call name="{}" {}/>'.format(*call.split(" ", 1)) for call in calls)
    return f'<procedure name="{name}">{inside}</procedure>'


def programme(*procedures: str, tick: float = 1.0, clips: Library = STEPS) -> Programme:
    return resolve(parse(score(*procedures, tick=tick)), clips)


def sequence(*procedures: str, tick: float = 1.0, start: str = "main", loop: bool = False) -> Sequence:
    return expand(programme(*procedures, tick=tick), start, loop)


def formats_read_by(read: Read) -> dict[str, Format]:
    """Return all formats, each read in this way instead of its own, for files that hold what a test likes."""
    return {name: Format(name, entry.label, entry.endings, read=read) for name, entry in FORMATS.items()}
