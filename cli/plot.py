"""Draw a score in time: procedures, clips, transitions with their weights, and how fast the fastest joint turns."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import TaktError
from ..core.playing.motion import Motion
from ..core.playing.timeline import CLIP_ROW, PROCEDURE_ROW, TRANSITION_ROW, Timeline, angular_speeds
from .scores import add_playing, findings, read_motion, read_number

_SPEED_SAMPLES = 6000
_MOST_CLIPS = 2000
_LETTERS = 190
"""Letters that fit beside each other; boxes too narrow for their name get none."""
_INK, _GRID, _TRANSITION, _PROCEDURE = "#22262b", "#d5d9de", "#e4572e", "#e8ebef"
_CLIPS = ("#4c78a8", "#72a98f", "#b279a2", "#d8a03d", "#6f8fc9", "#9c755f", "#59a5a8", "#8a8f98")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("score", metavar="score.pha", type=Path, help="the score to draw")
    parser.add_argument("target", metavar="OUT", type=Path, help="the picture: .png, .svg or .pdf")
    parser.add_argument("--from", dest="begin_s", metavar="S", type=seconds, default=0.0,
                        help="begin here (default: 0)")
    parser.add_argument("--to", dest="end_s", metavar="S", type=seconds, default=math.inf,
                        help="end here (default: the score's end)")
    add_playing(parser)


def run(options: argparse.Namespace) -> int:
    """Play and draw."""
    if options.target.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise TaktError(f"{str(options.target)!r} is no picture that can be drawn; let it end in .png, .svg or .pdf")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise TaktError("plots need matplotlib; install it, or Takt with it: pip install 'takt[plot]'") from None
    _, motion = read_motion(options)
    if not options.begin_s < min(options.end_s, motion.duration_s):
        raise TaktError(f"--from {options.begin_s:g} --to {options.end_s:g} leaves nothing of "
                        f"{motion.duration_s:.2f} s to draw")
    timeline = Timeline.of(motion, options.curve, options.begin_s, options.end_s)
    if len(timeline.segments) > _MOST_CLIPS:
        raise TaktError(f"{len(timeline.segments)} segments do not fit into one picture, {_MOST_CLIPS} do; draw a "
                        f"part: --from {options.begin_s:g} --to SECONDS")
    figure = Figure(figsize=(14, 2.2 + 0.45 * timeline.rows), layout="constrained", facecolor="white")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(timeline.rows * 0.45, 1.6))
    curve = f", {options.curve.lower()}" if motion.method.shape in ("RISE", "PULSE") else ""
    upper.set_title(f"{options.score.name}: {options.procedure}, transitions {motion.method.label.lower()}{curve}",
                    loc="left", color=_INK)
    _draw_rows(upper, motion, timeline)
    _draw_speed(lower, motion, timeline)
    figure.savefig(options.target, dpi=110)
    for problem in findings(motion, options.score, options):
        print(problem, file=sys.stderr)
    return 0


def _draw_rows(axes: Any, motion: Motion, timeline: Timeline) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    clip = motion.sequence.clip[timeline.segments]
    sets = ((timeline.clip_boxes, [_CLIPS[i % len(_CLIPS)] for i in clip.tolist()], "white"),
            (timeline.transition_boxes, _TRANSITION + "40", "none"),
            (timeline.procedure_boxes, _PROCEDURE, "white"))
    for boxes, colour, edge in sets:
        axes.add_collection(PolyCollection(boxes[:, np.array(((0, 1), (2, 1), (2, 3), (0, 3)))], facecolor=colour,
                                           edgecolor=edge))
    axes.add_collection(LineCollection(timeline.weights, color=_TRANSITION, linewidth=1.2))
    names = [motion.sequence.clips[i] for i in clip.tolist()]
    letter = (timeline.end_s - timeline.begin_s) / _LETTERS
    for boxes, labels, colour in ((timeline.clip_boxes, names, "white"),
                                  (timeline.procedure_boxes, timeline.names, _INK)):
        for (x0, y0, x1, _), label in zip(boxes.tolist(), labels, strict=True):
            own_name = label.rpartition(".")[2]
            left, right = max(x0, timeline.begin_s), min(x1, timeline.end_s)
            if (right - left) > letter * len(own_name):
                axes.text((left + right) / 2, y0 + 0.5, own_name, ha="center", va="center", color=colour, fontsize=8)
    axes.set_xlim(timeline.begin_s, timeline.end_s)
    axes.set_ylim(0, timeline.rows)
    ticks = {CLIP_ROW: "clips", TRANSITION_ROW: "transitions"} | (
        {PROCEDURE_ROW: "procedures"} if timeline.rows > PROCEDURE_ROW else {})
    axes.set_yticks([row + 0.5 for row in ticks], list(ticks.values()))
    axes.tick_params(length=0, colors=_INK)
    axes.spines[:].set_visible(False)


def _draw_speed(axes: Any, motion: Motion, timeline: Timeline) -> None:
    times = np.linspace(timeline.begin_s, timeline.end_s, _SPEED_SAMPLES + 1)
    axes.vlines(motion.layout.end_s[timeline.segments], 0, 1, transform=axes.get_xaxis_transform(), color=_GRID,
                linewidth=0.8)
    for x0, _, x1, _ in timeline.transition_boxes.tolist():
        axes.axvspan(x0, x1, color=_TRANSITION, alpha=0.12, linewidth=0)
    axes.plot((times[1:] + times[:-1]) / 2, np.degrees(angular_speeds(motion, times)), color=_INK, linewidth=0.9)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("fastest joint, °/s", color=_INK)
    axes.set_xlabel("seconds", color=_INK)
    axes.tick_params(colors=_INK)
    axes.spines[["top", "right"]].set_visible(False)


def seconds(text: str) -> float:
    """Return a time from an option; raises ArgumentTypeError if it is not 0 or more."""
    value = read_number(text)
    if not value >= 0.0:
        raise argparse.ArgumentTypeError(f"{text} is not 0 or more")
    return value
