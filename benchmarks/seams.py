"""Rank transition methods, curves and paces by what they do to the speed of joints over the seams.

dev.py bench seams [CLIP_FILE…] plays the clips of each character in turn, at several tempos and transition lengths,
and prints for each combination, best first:
  speed  the worst ratio of a joint's turn in one frame to the larger of its clips' own fastest frame and the
         transition's mean (at most 3 is wanted of linear and cosine);
  jump   the largest angle within 2 ns at the ends of clips and windows (with circular and cubic curves, whose tangents
         are vertical there or in between, not quite 0);
  jolt   the largest change of angular velocity from frame to frame in the frames that a transition touches,
         over all joints: its mean over all seams, by which they are ranked, and the worst;
  whole  the mean change over all joints and frames of the whole motion.
Without files: Sinbad's dance, run and idle clips and the BVH files from the folder of data that TAKT_DATA names, or,
where that is not there, the steps of the samples. --svg FILE draws the ranking.
"""

import argparse
import itertools
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from takt.core.clips.clip import Clip
from takt.core.errors import TaktError
from takt.core.library.clip_files import read_clip_file
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.playing.motion import Motion, compose
from takt.core.playing.playing import Playing
from takt.core.playing.transitions.blending import Style
from takt.core.playing.transitions.curves import CURVES, PACES
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.skeleton import Pose
from takt.samples.clip_files import LIBRARY

FRAME_S = 1.0 / 24.0
TEMPOS = (0.5, 1.0, 2.0)
TRANSITIONS_S = ("", "0.1", "0.3", "0.8")
INSTANT_S = 1e-9
STILL_RAD = 1e-4
"""A frame's turn below this says nothing about speed."""
UP = np.array((0.0, 1.0, 0.0))
SINBADS = ("Dance", "Run", "Idle")
"""Of Sinbad's thirteen clips: most of the others hold one pose."""
FASTER_AT_MOST = 3.0
LONGEST_S = 6.0
"""A clip is played no longer than this at its own tempo, faster if need be."""


@dataclass
class Row:
    """What was measured of one combination: a speed ratio and the changes of all motions, a jolt for each seam."""

    style: Style
    speed: float = 0.0
    jump: float = 0.0
    jolts: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)


def main(arguments: list[str]) -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="bench seams")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args(arguments)
    rows = [Row(style) for style in _styles()]
    try:
        characters = list(_characters(options.files or _all_files()))
    except TaktError as error:
        parser.error(str(error))
    if not characters:
        parser.error("none of the files has two clips of one skeleton, which a seam needs")
    for clips in characters:
        sys.stdout.write(f"{clips[0].skeleton.name}: {', '.join(clip.name for clip in clips)}\n")
        for row, tempo, transition in itertools.product(rows, TEMPOS, TRANSITIONS_S):
            _measure(_motion(clips, tempo, transition, row.style), row)
    rows.sort(key=lambda row: float(np.mean(row.jolts)))
    sys.stdout.write(f"{len(rows[0].jolts)} seams, {1 / FRAME_S:.0f} frames a second; changes in °/frame²\n"
                     f"{'method':12} {'curve':9} {'pace':6} {'speed':>6} {'jump':>7} {'jolt':>7} {'worst':>7} "
                     f"{'whole':>7}\n")
    for row in rows:
        s = row.style
        sys.stdout.write(f"{s.method:12} {s.curve:9} {s.pace:6} {row.speed:6.2f} "
                         f"{np.degrees(row.jump):6.4f}° {np.degrees(np.mean(row.jolts)):7.3f} "
                         f"{np.degrees(max(row.jolts)):7.2f} {np.degrees(np.mean(row.whole)):7.3f}\n")
    if options.svg:
        options.svg.write_text(_picture(rows), encoding="utf-8")
    return 0


def _all_files() -> list[Path]:
    data = Path(os.environ.get("TAKT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    found = [*sorted((data / "ogre").glob("Sinbad.skeleton")), *sorted((data / "clips").glob("*.bvh"))]
    if not found:
        sys.stdout.write(f"No clips in {data / 'ogre'} and {data / 'clips'}: set TAKT_DATA to the folder of data, or "
                         "name files. Measured on the samples instead:\n")
    return found or [LIBRARY / "feet" / "Steps.skeleton.xml"]


def _characters(files: list[Path]) -> Iterator[tuple[Clip, ...]]:
    """Yield clips that share a skeleton: those of a file, with those of further files that fit it."""
    found: list[list[Clip]] = []
    for path in files:
        for clip in read_clip_file(path).played:
            if clip.duration_s <= 0.0 or (path.name == "Sinbad.skeleton" and not clip.name.startswith(SINBADS)):
                continue
            for group in found:
                if clip.skeleton is group[0].skeleton or clip.skeleton.names == group[0].skeleton.names:
                    try:
                        group.append(retarget(clip, group[0].skeleton, rot.IDENTITY).clip)
                        break
                    except TaktError:
                        continue
            else:
                found.append([clip])
    yield from (tuple(group) for group in found if len(group) > 1)


def _styles() -> Iterator[Style]:
    for method in TRANSITION_METHODS.values():
        for curve in CURVES.values():
            if method.shape == "ALONE" and curve.identifier != "LINEAR":
                continue
            if method.shape == "PULSE" and curve.pulse is None:
                continue
            for pace in ("CARRIED", "EVEN", "EASED") if method.shape == "ALONE" else ("EVEN",):
                yield Style(method.identifier, curve.identifier, "SLERP", pace=pace)


def _motion(clips: tuple[Clip, ...], tempo: float, transition: str, style: Style) -> Motion:
    wished = f'transition="{transition}"' if transition else ""
    calls = "".join(f'<call name="{a}" duration="{min(clips[a].duration_s, LONGEST_S) / tempo}" {wished}/>'
                    for pair in itertools.permutations(range(len(clips)), 2) for a in pair)
    named = tuple(Clip(str(i), c.skeleton, c.duration_s, c.rotations, c.translations, c.scales)
                  for i, c in enumerate(clips))
    text = f'<pha tickLength="1"><load src="x"/><procedure name="main">{calls}</procedure></pha>'
    programme = resolve(parse(text), Library(other_clips=lambda src: named))
    return compose(expand(programme), programme.clips, Playing(style, "AS_AUTHORED", UP))


def _measure(motion: Motion, row: Row) -> None:
    """Add the worst ratio of speeds in frames that transitions touch, and the changes of angular velocity."""
    times = np.arange(0.0, motion.duration_s, FRAME_S)
    velocity = _velocity(motion.sample(times))
    turned = np.linalg.norm(velocity, axis=-1)
    change = np.linalg.norm(np.diff(velocity, axis=0), axis=-1)
    layout = motion.layout
    natural, touched = np.full(turned.shape, STILL_RAD), np.zeros(len(turned), dtype=np.bool_)
    own = _fastest(motion)
    for i, fastest in enumerate(own):
        frames = _frames(times, layout.begin_s[i], layout.end_s[i])
        natural[frames] = np.maximum(natural[frames], fastest)
        if layout.window_end_s[i] > layout.window_begin_s[i]:
            frames = _frames(times, layout.window_begin_s[i], layout.window_end_s[i])
            mean = _gap(motion, i) * FRAME_S / (layout.window_end_s[i] - layout.window_begin_s[i])
            natural[frames] = np.maximum(natural[frames], np.maximum.reduce((mean, fastest, own[i + 1])))
            touched[frames] = True
            row.jolts.append(float(change[max(frames.start - 1, 0):frames.stop].max(initial=0.0)))
    edges = np.concatenate((layout.begin_s, layout.end_s, layout.window_begin_s, layout.window_end_s))
    before, after = (motion.sample(edges + side * INSTANT_S).rotations for side in (-1.0, 1.0))
    row.jump = max(row.jump, float(rot.angle_between(before, after).max()))
    row.speed = max(row.speed, float((turned / natural)[touched].max(initial=0.0)))
    row.whole.append(float(change.mean()))


def _frames(times: np.ndarray, begin: float, end: float) -> slice:
    """Return the steps from frame to frame that a span of time touches."""
    return slice(max(int(np.searchsorted(times, begin, side="right")) - 1, 0), int(np.searchsorted(times, end)))


def _velocity(poses: Pose) -> np.ndarray:
    """Return rotation vectors between neighbouring frames, (F − 1, J, 3)."""
    axis, angle = rot.to_axis_angle(rot.multiply(rot.conjugate(poses.rotations[:-1]), poses.rotations[1:]))
    return axis * angle[..., None]


def _fastest(motion: Motion) -> list[np.ndarray]:
    """Return for each segment how far its clip's fastest frame turns each joint, at the played tempo."""
    found: dict[tuple[int, float], np.ndarray] = {}
    result = []
    for clip, length in zip(motion.sequence.clip, motion.layout.end_s - motion.layout.begin_s, strict=True):
        key = int(clip), round(float(length), 9)
        if key not in found:
            own = motion.clips[clip]
            step = FRAME_S * own.duration_s / length
            poses = own.sample(np.arange(0.0, own.duration_s + step, step / 4), "SLERP").rotations
            found[key] = rot.angle_between(poses[4:], poses[:-4]).max(axis=0, initial=0.0)
        result.append(found[key])
    return result


def _gap(motion: Motion, seam: int) -> np.ndarray:
    """Return how far each joint turns from the pose before a seam's window to the one after it."""
    a, b = motion.clips[motion.sequence.clip[seam]], motion.clips[motion.sequence.clip[seam + 1]]
    held = motion.sample(np.array((motion.layout.window_begin_s[seam] - 1e-9, motion.layout.window_end_s[seam])))
    last, first = a.sample(np.array((a.duration_s,))).rotations[0], b.sample(np.zeros(1)).rotations[0]
    last = np.where(a.moved[:, None], last, held.rotations[0])
    first = np.where(b.moved[:, None], first, last)
    return rot.angle_between(last, first)


def _picture(rows: list[Row]) -> str:
    """Return the ranking as SVG: a bar for each combination's mean jolt, what counts as one method in one colour."""
    width, left, right, line = 760, 180, 160, 20
    most = max(float(np.degrees(np.mean(row.jolts))) for row in rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {line * len(rows) + 60}" '
             'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="#fff"/>',
             '<text x="10" y="20" font-size="14">Change of angular velocity over a seam, mean of the largest, '
             f'°/frame² ({len(rows[0].jolts)} seams)</text>']
    shades = "#0072b2", "#e69f00", "#009e73", "#56b4e9", "#999999", "#bbbbbb", "#cccccc"
    colours = dict(zip(TRANSITION_METHODS, shades, strict=True))
    for i, row in enumerate(rows):
        y, style, jolt = 40 + line * i, row.style, float(np.degrees(np.mean(row.jolts)))
        length = (width - left - right) * jolt / most
        label = TRANSITION_METHODS[style.method].label + (
            f", {PACES[style.pace].label.lower()}" if TRANSITION_METHODS[style.method].shape == "ALONE"
            else f", {CURVES[style.curve].label.lower()}")
        over = f" · {row.speed:.0f} times too fast" if row.speed > FASTER_AT_MOST else ""
        parts += [f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{label}</text>',
                  f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{line - 4}" fill="{colours[style.method]}"/>',
                  f'<text x="{left + length + 6:.1f}" y="{y + 13}">{jolt:.1f}{over}</text>']
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
