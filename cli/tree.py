"""The tree of a played score: procedures, their calls, and arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..core.pha import evaluation
from ..core.pha.definitions import Definitions
from ..core.pha.evaluation import Evaluated, evaluate
from ..core.pha.expressions import shown
from ..core.pha.origins import Within
from ..core.pha.programme import CallTable, Programme
from ..core.playing.score import Settings

_DEEPEST = 40
"""Procedures within more procedures than this are not indented further."""


def tree(programme: Programme, settings: Settings) -> Iterator[str]:
    """Yield the calls below a procedure, indented; the contents of each procedure are shown at its first call."""
    start = programme.own_procedure(settings.procedure)
    if not isinstance(programme.calls, Definitions):
        return _plain(programme, programme.calls, start)
    done = evaluate(programme.calls, start, tuple(clip.duration_s for clip in programme.clips),
                    values=dict(settings.values), seed=settings.seed)
    return _Evaluated(programme, done).lines()


def _plain(programme: Programme, table: CallTable, start: int) -> Iterator[str]:
    names = [routine.name for routine in programme.procedures]
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


class _Line(NamedTuple):
    text: str
    inside: _Lines | None


_Lines = Iterator[_Line]


@dataclass(eq=False)
class _Evaluated:
    """The evaluated score: only the branches and picks that were taken, and calls with their arguments."""

    programme: Programme
    done: Evaluated
    _seen: set[int] = field(default_factory=set)

    def lines(self) -> Iterator[str]:
        """Yield the lines without recursion, since procedures may be nested a thousand deep."""
        done = self.done
        yield f"{self._name(done.start)}  {_ticks(float(done.ticks[done.start]))}"
        stack = [self._rows(done.start)]
        while stack:
            line = next(stack[-1], None)
            if line is None:
                stack.pop()
                continue
            text, inside = line
            yield "  " * min(len(stack), _DEEPEST) + text
            if inside is not None:
                stack.append(inside)

    def _rows(self, instance: int) -> _Lines:
        done = self.done
        for row in range(int(done.first[instance]), int(done.first[instance + 1])):
            target = int(done.target[row])
            repeat = f"{done.repeat[row]} × " if done.repeat[row] > 1 else ""
            text = f"{repeat}{self._called(row)}  {_ticks(float(done.duration[row]))}"
            if not np.isnan(done.transition[row]):
                text += f", transition {done.transition[row]:.6g}"
            text += ", mirrored" * bool(done.mirror[row]) + ", reversed" * bool(done.reverse[row])
            begin, end = done.part[row].tolist()
            if (begin, end) != (0.0, 1.0):
                text += f", from {begin:.6g} to {end:.6g}"
            text += _way(done.within[row])
            inside: _Lines | None = None
            if target >= 0 and target in self._seen:
                text += " (as above)"
            elif target >= 0:
                self._seen.add(target)
                inside = self._rows(target)
            elif self._is_block(~target):
                inside = self._lanes(~target)
            yield _Line(text, inside)

    def _lanes(self, leaf: int) -> _Lines:
        for lane in self.done.blocks[leaf - len(self.programme.clip_names)].lanes:
            texts = lane.node.texts
            weights = f" weight {lane.weight:.6g}" + f" to {lane.weight_end:.6g}" * (lane.weight_end != lane.weight)
            yield _Line(f"lane {texts.get('body', 'whole')}, {texts.get('mode', 'replace')}{weights}",
                        None if lane.instance < 0 else self._rows(lane.instance))

    def _called(self, row: int) -> str:
        target = int(self.done.target[row])
        if target >= 0:
            return self._name(target) if self.done.procedure[target] >= 0 else self.done.nodes[row].tag
        if ~target == evaluation.WAIT:
            return self.done.nodes[row].tag
        return "together" if self._is_block(~target) else self.programme.clip_names[~target]

    def _is_block(self, leaf: int) -> bool:
        return len(self.programme.clip_names) <= leaf != evaluation.WAIT

    def _name(self, instance: int) -> str:
        values = ", ".join(f"{name} = {shown(value)}" for name, value in self.done.values[instance].items())
        name = self.programme.procedures[int(self.done.procedure[instance])].name
        return f"{name} ({values})" if values else name


def _way(within: Within) -> str:
    """Return the rounds and branches that lead to a call."""
    words: list[str] = []
    for node, number in within:
        if node.tag in ("if", "elif"):
            words.append(f"{node.tag} {node.expressions['test'].text}")
        elif node.tag == "loop" or (node.tag == "call" and "repeat" in node.expressions):
            words.append(f"round {number + 1}")
        elif node.tag != "call":
            words.append(node.tag)
    return f"  [{', '.join(words)}]" if words else ""


def _ticks(number: float) -> str:
    return f"{number:.6g} tick{'' if f'{number:.6g}' == '1' else 's'}"
