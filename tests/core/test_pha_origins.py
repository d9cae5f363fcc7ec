"""What is played leads back to the calls that made it."""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from takt.core.library.library import Library
from takt.core.pha.document import Call, Document, Procedure, parse
from takt.core.pha.expansion import expand
from takt.core.pha.origins import Step
from takt.core.pha.programme import resolve
from takt.core.pha.sequence import Sequence
from takt.tests.core.scores import STEPS, procedure, score, sequence

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "library"

Chain = tuple[tuple[int, int], ...]
"""For each call on the way its element in the text, and its repetition."""


def unfolded(document: Document, name: str, chain: Chain = ()) -> Iterator[tuple[Chain, bool]]:
    """Walk through a score call by call: yield the chains of procedures, as they start, and those of clips (True)."""
    procedures = {p.name: p for p in document.procedures}
    for call in procedures[name].calls:
        for repetition in range(call.repeat):
            here = (*chain, (call.element, repetition))
            yield here, call.name not in procedures
            if call.name in procedures:
                yield from unfolded(document, call.name, here)


def transition_call(document: Document, chain: Chain, following: Chain | None) -> int:
    """Return the element whose transition counts after a chain: the outermost that ends here and has one."""
    calls = {c.element: c for p in document.procedures for c in p.calls}
    for depth, (element, repetition) in enumerate(chain):
        ends = following is None or following[:depth + 1] != chain[:depth + 1]
        if ends and repetition == calls[element].repeat - 1 and calls[element].transition is not None:
            return element
    return chain[-1][0]


def as_chain(steps: tuple[Step, ...]) -> Chain:
    return tuple((step.call.element, step.repetition) for step in steps)


def random_score(rng: random.Random) -> str:
    names = [f"p{i}" for i in range(rng.randint(1, 5))] + ["main"]

    def call(i: int) -> str:
        name = rng.choice([*names[:i], "left", "right", "nod"])
        extra = rng.choice(("", "", ' transition="0.5"')) + rng.choice(("", "", ' repeat="3"', ' repeat="2"'))
        return f'{name} duration="{rng.choice((1, 2, 0.5))}"{extra}'

    return score(*(procedure(name, *(call(i) for _ in range(rng.randint(1, 4)))) for i, name in enumerate(names)))


def check(document: Document, played: Sequence) -> None:
    walked = list(unfolded(document, "main"))
    clips = [chain for chain, is_clip in walked if is_clip]
    assert [as_chain(played.origins.of_segment(i)) for i in range(len(played))] == clips
    assert [as_chain(played.origins.of_procedure(int(run))) for run in played.marks.run] == [
        (), *(chain for chain, is_clip in walked if not is_clip)]
    followed = [*clips[1:], None]
    for i, (own, following) in enumerate(zip(clips, followed, strict=True)):
        says = (step.call for step in played.origins.ending_with(i) if step.call.transition is not None)
        assert next(says, played.origins.of_segment(i)[-1].call).element == transition_call(document, own, following)


@pytest.mark.parametrize("seed", range(60))
def test_every_segment_and_mark_knows_its_calls(seed):
    document = parse(random_score(random.Random(seed)))
    played = expand(resolve(document, STEPS))
    if len(played) < 3000:
        check(document, played)
        calls = [played.origins.of_segment(i)[-1].call for i in range(len(played))]
        assert all(isinstance(call, Call) and call.duration > 0.0 for call in calls)


def test_a_transition_that_is_given_is_found_at_its_call():
    for seed in range(40):
        document = parse(random_score(random.Random(seed)))
        played = expand(resolve(document, STEPS), loop=True)
        if len(played) < 3000:
            for i, transition_s in enumerate(played.transition_s.tolist()):
                says = [step.call.transition for step in played.origins.ending_with(i)]
                assert np.isnan(transition_s) == all(transition is None for transition in says)


def test_calls_of_included_files_are_found_there():
    path = SAMPLES / "dance.pha"
    document = parse(path.read_bytes(), path)
    played = expand(resolve(document, Library([SAMPLES])))
    files = {step.document.path for i in range(len(played)) for step in played.origins.of_segment(i)}
    assert len(files) > 1
    for i in range(len(played)):
        steps = played.origins.of_segment(i)
        assert steps[0].document.path == path
        names = [played.clips[int(played.clip[i])], *played.paths[int(played.path[i])][1:]]
        for step in steps:
            assert any(name.endswith(step.call.name) for name in names)
            assert step.place.line is not None
            line = step.document.text.data.decode().splitlines()[step.place.line - 1]
            assert line.lstrip().startswith(f'<call name="{step.call.name}"')


def test_steps_say_where_they_are():
    steps = sequence(procedure("a", 'left duration="1"', 'right duration="1"'),
                     procedure("main", 'a duration="2" repeat="3"')).origins.of_segment(3)
    assert [(step.call.name, step.repetition, step.place.line) for step in steps] == [("a", 1, 1), ("right", 0, 1)]
    assert isinstance(steps[0].call, Call)
    assert not isinstance(steps[0].call, Procedure)
