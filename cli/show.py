"""Show what a score plays: its tree of procedures, and its segments with their times and transitions."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..core.pha.programme import Programme
from ..core.playing.motion import Motion
from .scores import add_playing, counted, findings, read_motion

_DEEPEST = 40
"""Procedures within more procedures than this are not indented further."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument("score", metavar="score.pha", type=Path, help="the score to show")
    add_playing(parser)
    parser.add_argument("--json", action="store_true",
                        help="print the segments as a list of objects: clip, start_s, length_s (as the score says), "
                             "transition_s (the one that follows, as it plays), method, path (the procedures called), "
                             "plays_from_s, plays_to_s (when the clip itself plays)")


def run(options: argparse.Namespace) -> int:
    """Print the score."""
    programme, motion = read_motion(options)
    if options.json:
        print("[" + ",\n ".join(map(json.dumps, segments(motion))) + "]")
        return 0
    print(f"{options.procedure}: {counted(len(motion.sequence), 'segment')}, {motion.duration_s:.2f} s, transitions "
          f"{motion.method.identifier}\n")
    print(*_tree(programme, programme.own_procedure(options.procedure)), sep="\n")
    print()
    print(*_table(motion), sep="\n")
    for problem in findings(motion, options.score):
        print(problem, file=sys.stderr)
    return 0


def segments(motion: Motion) -> list[dict[str, object]]:
    """Return each segment as an object for JSON."""
    sequence, layout = motion.sequence, motion.layout
    names = ("start_s", "length_s", "transition_s", "plays_from_s", "plays_to_s")
    columns = np.column_stack((sequence.start_s, sequence.length_s, motion.transitions_s, layout.begin_s, layout.end_s))
    ways = [list(sequence.paths[p]) for p in range(len(sequence.paths))]
    return [{"clip": sequence.clips[clip], **dict(zip(names[:3], row[:3], strict=True)),
             "method": motion.method.identifier, "path": ways[path], **dict(zip(names[3:], row[3:], strict=True))}
            for clip, path, row in zip(sequence.clip.tolist(), sequence.path.tolist(), columns.tolist(), strict=True)]


def _table(motion: Motion) -> Iterator[str]:
    sequence = motion.sequence
    ways = [" › ".join(sequence.paths[p]) for p in range(len(sequence.paths))]
    width = max(len("clip"), *(len(name) for name in sequence.clips))
    yield f"{'start':>9} {'length':>8} {'then':>7}  {'clip':<{width}}  procedures"
    columns = (sequence.start_s, sequence.length_s, motion.transitions_s, sequence.clip, sequence.path)
    for start, length, transition, clip, path in zip(*(c.tolist() for c in columns), strict=True):
        then = f"{transition:7.3f}" if transition else "      –"
        yield f"{start:9.3f} {length:8.3f} {then}  {sequence.clips[clip]:<{width}}  {ways[path]}"


def _tree(programme: Programme, start: int) -> Iterator[str]:
    """Yield the calls below a procedure, indented; each procedure is unfolded where it is first met."""
    table, names = programme.calls, [routine.name for routine in programme.procedures]
    seen: set[int] = {start}
    yield f"{names[start]}  {_ticks(programme.procedures[start].ticks)}"
    stack = [(start, iter(range(table.first[start], table.first[start + 1])))]
    while stack:
        procedure, calls = stack[-1]
        call = next(calls, None)
        if call is None:
            stack.pop()
            continue
        target, ticks = int(table.target[call]), programme.procedures[procedure].ticks
        repeat = f"{table.repeat[call]} × " if table.repeat[call] > 1 else ""
        name = programme.clip_names[~target] if target < 0 else names[target]
        line = f"{'  ' * min(len(stack), _DEEPEST)}{repeat}{name}  {_ticks(table.duration_share[call] * ticks)}"
        if not np.isnan(table.transition_share[call]):
            line += f", transition {table.transition_share[call] * ticks:.6g}"
        is_new = target >= 0 and target not in seen
        yield line + (" (as above)" if target in seen else "")
        if is_new:
            seen.add(target)
            stack.append((target, iter(range(table.first[target], table.first[target + 1]))))


def _ticks(number: float) -> str:
    return f"{number:.6g} tick{'' if f'{number:.6g}' == '1' else 's'}"
