"""Convert a score of version 2 to version 1, if that can express it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import Problem, ScoreError, quoted
from . import evaluation
from .definitions import Definitions
from .document import MAX_PROBLEMS, shortened
from .edits import element
from .evaluation import Evaluated, Values, evaluate
from .grammar import RESTS
from .nodes import Node
from .programme import Modules, Programme
from .values import spelled
from .ways import NOWHERE

_MAIN = "main"


def as_version_1(programme: Programme, library: Modules, procedure: str = _MAIN, *, values: Values | None = None,
                 seed: int = 0) -> str:
    """Return the text of a score of version 1 whose main plays a procedure with these values and this seed.

    library: with which the programme was read. Included and inherited procedures are put into the one score; each
    procedure appears once for each set of values with which it is called. A score of version 1 is returned unchanged.
    Raises ScoreError, which names each element that version 1 cannot express: waits, lanes, mirrored and reversed
    calls, parts of clips, ways in the scene, changes of tempo.
    """
    start = programme.own_procedure(procedure)
    definitions = programme.calls
    if not isinstance(definitions, Definitions):
        return str(programme.document.text)
    done = evaluate(definitions, start, tuple(clip.duration_s for clip in programme.clips), values=values, seed=seed)
    if not done.ticks[done.start]:
        raise ScoreError(Problem(f"<procedure> {quoted(procedure)} plays nothing this time, expected something to play",
                                 programme.procedures[start].place))
    used = _reached(done)
    reasons = [*_of_tempo(programme, definitions), *_of_calls(programme, definitions, done, used)]
    if reasons:
        raise ScoreError(*shortened(reasons))
    return _Writer(programme, library, done, used).text()


def _reached(done: Evaluated) -> list[int]:
    """Return the played instances, each after those that it calls."""
    used, waiting = {done.start}, [done.start]
    while waiting:
        instance = waiting.pop()
        targets = done.target[done.first[instance]:done.first[instance + 1]]
        new = set(targets[targets >= 0].tolist()) - used
        used |= new
        waiting += new
    return sorted(used)


def _of_tempo(programme: Programme, definitions: Definitions) -> Iterator[Problem]:
    for document in programme.documents:
        for tempo in document.tempo:
            if tempo in definitions.views[0].tempo:
                yield Problem("<tempo>: found a change of tempo, which version 1 does not have", document.place(tempo))


def _of_calls(programme: Programme, definitions: Definitions, done: Evaluated, used: list[int]) -> Iterator[Problem]:
    clips, said = len(programme.clip_names), set[object]()
    for instance in used:
        for row in range(int(done.first[instance]), int(done.first[instance + 1])):
            node, leaf = done.nodes[row], ~int(done.target[row])
            reason = ""
            if leaf == evaluation.WAIT:
                what = "a rest" if node.tag in RESTS else "lanes that play nothing"
                reason = f"<{node.tag}>: found {what}"
            elif leaf >= clips:
                reason = "<together>: found lanes that play at once"
            elif done.mirror[row]:
                reason = f"<call> mirror: found {quoted(node.name)} mirrored"
            elif done.reverse[row]:
                reason = f"<call> reverse: found {quoted(node.name)} backwards"
            elif done.going[row] != NOWHERE:
                reason = f"<call> {_word_of(node)}: found a way in the scene"
            elif (done.part[row] != (0.0, 1.0)).any():
                reason = f"<call> from, to: found a part of {quoted(node.name)}"
            if reason and node not in said and len(said) <= MAX_PROBLEMS:
                said.add(node)
                yield Problem(f"{reason}, which version 1 does not have",
                              programme.documents[int(done.module_of[row])].place(node))


def _word_of(node: Node) -> str:
    """Return the first attribute of a call that gives a destination in the scene."""
    return next((word for word in ("to", "at", "along") if word in node.expressions), "repeat")


@dataclass(eq=False)
class _Writer:
    """Writes instances as procedures."""

    programme: Programme
    library: Modules
    done: Evaluated
    used: list[int]

    def text(self) -> str:
        loads = list(dict.fromkeys(load.src for document in self.programme.documents for load in document.loads))
        names = self._names(loads)
        lines = [f'<pha tickLength="{spelled(self.programme.document.tick_s)}">',
                 *(f"  {element('load', src=src)}" for src in loads)]
        for instance in self.used:
            lines += ["", f"  {element('procedure', name=names[instance])[:-2]}>",
                      *(f"    {call}" for call in self._calls(instance, names)), "  </procedure>"]
        return "\n".join([*lines, "</pha>", ""])

    def _calls(self, instance: int, names: dict[int, str]) -> Iterator[str]:
        done = self.done
        for row in range(int(done.first[instance]), int(done.first[instance + 1])):
            target = int(done.target[row])
            attributes = {"name": names[target] if target >= 0 else self.programme.clip_names[~target],
                          "duration": spelled(float(done.duration[row]))}
            if not np.isnan(done.transition[row]):
                attributes["transition"] = spelled(float(done.transition[row]))
            if done.repeat[row] > 1:
                attributes["repeat"] = str(int(done.repeat[row]))
            yield element("call", **attributes)

    def _names(self, loads: Iterable[str]) -> dict[int, str]:
        """Return a unique name for each instance, different from those of clips."""
        done, taken = self.done, {_MAIN}
        for src in loads:
            taken.add(src)
            for clip in self.library.clips(src)[0]:
                taken |= {clip.name, f"{src}.{clip.name}"}
        names = {done.start: _MAIN}
        number_of: dict[str, int] = {}
        for instance in reversed(self.used):
            if instance == done.start:
                continue
            procedure = int(done.procedure[instance])
            stem = self.programme.procedures[procedure].name.rpartition(".")[2] if procedure >= 0 else "loop"
            name = stem
            while name in taken:
                number_of[stem] = number_of.get(stem, 1) + 1
                name = f"{stem}_{number_of[stem]}"
            taken.add(name)
            names[instance] = name
        return names
