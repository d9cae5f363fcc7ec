"""Show what a score plays: its tree of procedures, and its segments with their times and transitions."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..core.pha.expansion import expand
from ..core.pha.programme import Programme
from ..core.pha.sequence import Lane, Sequence
from ..core.playing.clock import Clock
from ..core.playing.motion import Motion
from ..core.playing.score import Settings
from .scores import add_playing, counted, findings, read_motion, settings_of
from .tree import tree


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("score", metavar="score.pha", type=Path, help="the score to show")
    add_playing(parser)
    parser.add_argument("--json", action="store_true",
                        help="print the segments as a list of objects: clip, start_s, length_s (as the score says), "
                             "transition_s (the one that follows, as it plays), method, path (the procedures called), "
                             "plays_from_s, plays_to_s (when the clip itself plays), calls (what made it: file, line, "
                             "column, repetition), and where they apply mirrored, reversed, from, to, lanes, aim (what "
                             "a head or a hand aims at), ways (where calls go in the scene, over so many segments)")


def run(options: argparse.Namespace) -> int:
    """Print the score."""
    programme, motion = read_motion(options)
    if options.json:
        print("[" + ",\n ".join(map(json.dumps, segments(programme, motion, settings_of(options)))) + "]")
        return 0
    print(f"{options.procedure}: {counted(len(motion.sequence), 'segment')}, {motion.duration_s:.2f} s, transitions "
          f"{motion.method.identifier}\n")
    print(*tree(programme, settings_of(options)), sep="\n")
    print()
    print(*_table(motion), sep="\n")
    for problem in findings(motion, options.score, options):
        print(problem, file=sys.stderr)
    return 0


def segments(programme: Programme, motion: Motion, settings: Settings) -> list[dict[str, object]]:
    """Return each segment as an object for JSON, times by the clock from the score's start."""
    said = expand(programme, settings.procedure, settings.loop, values=dict(settings.values), seed=settings.seed)
    layout = motion.layout
    rows = _objects(said, said, 0.0, motion.clock)
    for row, transition, begin, end in zip(rows, motion.transitions_s.tolist(), layout.begin_s.tolist(),
                                           layout.end_s.tolist(), strict=True):
        row |= {"transition_s": transition, "method": motion.method.identifier, "plays_from_s": begin,
                "plays_to_s": end}
    return rows


def _objects(sequence: Sequence, outer: Sequence, begin_s: float, clock: Clock | None) -> list[dict[str, object]]:
    starts = begin_s + sequence.start_s
    ends = starts + sequence.length_s
    if clock is not None:
        starts, ends = clock.shown(starts), clock.shown(ends)
    lengths = sequence.length_s if clock is None else ends - starts
    paths = {p: list(sequence.paths[p]) for p in np.unique(sequence.path).tolist()}
    flags = [(name, values) for name, values in (("mirrored", sequence.is_mirrored), ("reversed", sequence.is_reversed))
             if values is not None]
    rows: list[dict[str, object]] = []
    aims = {each.first: each.aim for each in sequence.aims}
    for i, clip in enumerate(sequence.clip.tolist()):
        is_clip = 0 <= clip < len(outer.clips)
        row: dict[str, object] = {"clip": outer.clips[clip] if is_clip else None, "start_s": float(starts[i]),
                                  "length_s": float(lengths[i]), "transition_s": None, "method": None,
                                  "path": paths[int(sequence.path[i])]}
        row |= {name: True for name, values in flags if values[i]}
        if is_clip and sequence.part is not None and (sequence.part[i] != (0.0, 1.0)).any():
            row |= dict(zip(("from", "to"), sequence.part[i].tolist(), strict=True))
        if clip >= len(outer.clips):
            row["lanes"] = [_lane(lane, outer, begin_s + float(sequence.start_s[i]), clock)
                            for lane in outer.blocks[clip - len(outer.clips)].lanes]
        if i in aims:
            row["aim"] = {"word": aims[i].word, **{name: value for name, value in aims[i]._asdict().items() if value}}
        if found := [way for way in sequence.ways if way.first == i]:
            row["ways"] = [{"segments": way.after - way.first, **{
                name: value for name, value in way.going._asdict().items() if value}} for way in found]
        row["calls"] = [[str(step.place.path) if step.place.path else None, step.place.line, step.place.column,
                         step.repetition] for step in sequence.origins.of_segment(i)]
        rows.append(row)
    return rows


def _lane(lane: Lane, outer: Sequence, begin_s: float, clock: Clock | None) -> dict[str, object]:
    inside = [] if lane.sequence is None else _objects(lane.sequence, outer, begin_s, clock)
    for row in inside:
        del row["method"]
    eases = [None if np.isnan(ease) else ease for ease in (lane.ease_in_s, lane.ease_out_s)]
    return {"body": lane.body, "mode": lane.mode, "weight": lane.weight, "weight_end": lane.weight_end,
            "ease_in_s": eases[0], "ease_out_s": eases[1], "segments": inside}


def _table(motion: Motion) -> Iterator[str]:
    sequence = motion.sequence
    paths = [" › ".join(sequence.paths[p]) for p in range(len(sequence.paths))]
    width = max(len("clip"), *(len(name) for name in sequence.clips))
    yield f"{'start':>9} {'length':>8} {'then':>7}  {'clip':<{width}}  procedures"
    starts, ends = sequence.start_s, sequence.start_s + sequence.length_s
    if motion.clock is not None:
        starts, ends = motion.clock.shown(starts), motion.clock.shown(ends)
    lengths = sequence.length_s if motion.clock is None else ends - starts
    columns = (starts, lengths, motion.transitions_s, sequence.clip, sequence.path)
    for start, length, transition, clip, path in zip(*(c.tolist() for c in columns), strict=True):
        then = f"{transition:7.3f}" if transition else "      –"
        yield f"{start:9.3f} {length:8.3f} {then}  {sequence.clips[clip]:<{width}}  {paths[path]}"
