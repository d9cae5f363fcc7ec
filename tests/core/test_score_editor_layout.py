"""What the score editor shows lies where the score says, however procedures nest and repeat."""

import random
from pathlib import Path

import numpy as np
import pytest

from takt.core.library.library import Library
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.score_editor.boxes import Kind
from takt.core.score_editor.layout import BoxId, Layout, lay_out
from takt.tests.core.scores import STEPS, procedure, sequence
from takt.tests.core.test_pha_origins import random_score

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "library"
EXACT = 1e-9
WALK = procedure("walk", 'left duration="1" transition="0.2"', 'right duration="3"')
MAIN = procedure("main", 'walk duration="2" repeat="3"', 'nod duration="1" repeat="4"')


def laid_out(*procedures: str) -> Layout:
    return lay_out(sequence(*procedures))


def rows(layout: Layout, depth: int) -> list[tuple[str, float, float, int]]:
    boxes = layout.boxes
    return [(boxes.titles[i], float(boxes.begin[i]), float(boxes.length[i]), int(boxes.repeat[i]))
            for i in np.flatnonzero(boxes.depth == depth)]


def test_one_box_for_all_repetitions_and_those_within_for_each() -> None:
    layout = laid_out(WALK, MAIN)
    assert rows(layout, 0) == [("walk", 0.0, 6.0, 3), ("nod", 6.0, 4.0, 4)]
    assert rows(layout, 1) == [("left", 0.0, 0.5, 1), ("right", 0.5, 1.5, 1), ("left", 2.0, 0.5, 1),
                               ("right", 2.5, 1.5, 1), ("left", 4.0, 0.5, 1), ("right", 4.5, 1.5, 1)]
    assert layout.ticks == 10.0
    assert layout.boxes.kind.tolist() == [Kind.PROCEDURE] + [Kind.CLIP] * 7
    assert layout.boxes.scale.tolist() == [1.0, 1.0] + [0.5] * 6
    assert layout.boxes.parent.tolist() == [-1, -1] + [0] * 6


def test_places_of_an_element_are_numbered_in_time() -> None:
    layout = laid_out(WALK, MAIN)
    ids = [layout.id_of(i) for i in range(len(layout))]
    assert len(set(ids)) == len(ids)
    assert [layout.find(name) for name in ids] == list(range(len(layout)))
    assert layout.find(BoxId(0, 999)) is None
    left = ids[2]
    assert [layout.id_of(i) for i in layout.occurrences_of(2)] == [left._replace(occurrence=i) for i in range(3)]


def check_edges(layout: Layout) -> None:
    """Each clip's box is made of whole segments, and they all lie where the expansion says; boxes nest."""
    boxes, played = layout.boxes, layout.rows[0]
    starts = played.start_s / layout.tick_s
    ends = np.append(starts[1:], layout.ticks)
    clips = boxes.kind == Kind.CLIP
    found = np.concatenate([boxes.begin[i] + np.arange(boxes.repeat[i]) * boxes.length[i] / boxes.repeat[i]
                            for i in np.flatnonzero(clips)])
    np.testing.assert_allclose(np.sort(found), starts, atol=EXACT * max(layout.ticks, 1.0))
    inner = boxes.parent >= 0
    outer = boxes.parent[inner]
    assert (boxes.begin[inner] >= boxes.begin[outer]).all()
    assert (boxes.end[inner] <= boxes.end[outer] + EXACT * layout.ticks).all()
    assert (boxes.depth[inner] == boxes.depth[outer] + 1).all()
    assert (boxes.parent[~inner] == -1).all()
    assert (boxes.depth[~inner] == 0).all()
    for i in np.flatnonzero(~clips):
        children = np.flatnonzero(boxes.parent == i)
        np.testing.assert_allclose(boxes.length[children].sum(), boxes.length[i], rtol=EXACT)
    assert np.isin(np.round(boxes.begin, 9), np.round(starts, 9)).all()
    assert np.isin(np.round(boxes.end, 9), np.round(ends, 9)).all()


@pytest.mark.parametrize("seed", range(40))
def test_edges_are_those_of_the_segments(seed: int) -> None:
    document = parse(random_score(random.Random(seed)))
    layout = lay_out(expand(resolve(document, STEPS)))
    check_edges(layout)
    own = {call.element: call for p in document.procedures for call in p.calls}
    boxes = layout.boxes
    for i in range(len(layout)):
        call = own[int(boxes.element[i])]
        assert boxes.length[i] == pytest.approx(call.duration * call.repeat * boxes.scale[i], rel=EXACT)
        assert boxes.repeat[i] == call.repeat
        assert boxes.titles[i] == call.name


@pytest.mark.parametrize("name", ["dance.pha", "walk.pha", "helix.pha"])
def test_samples(name: str) -> None:
    path = SAMPLES / name
    check_edges(lay_out(expand(resolve(parse(path.read_bytes(), path), Library((SAMPLES,))))))


def test_a_deep_and_a_wide_score() -> None:
    deep = [procedure(f"p{i}", f'p{i + 1} duration="1"') for i in range(400)]
    layout = laid_out(*deep, procedure("p400", 'nod duration="1"'), procedure("main", 'p0 duration="3"'))
    assert len(layout) == 402
    check_edges(layout)
    wide = laid_out(procedure("main", *['nod duration="0.000001"', 'left duration="1000000"'] * 500))
    assert len(wide) == 1000
    check_edges(wide)


def test_seams() -> None:
    layout = laid_out(WALK, MAIN)
    seams = layout.seams
    np.testing.assert_allclose(seams.tick, layout.rows[0].start_s[1:] / layout.tick_s)
    assert seams.is_automatic.tolist() == [False, True] * 3 + [True] * 3
    np.testing.assert_allclose((seams.end - seams.begin)[:2], (0.1, 0.0), atol=EXACT)


def test_colours_belong_to_the_outermost_procedure_and_stay_when_blocks_are_moved() -> None:
    layout = laid_out(WALK, procedure("turn", 'walk duration="1"'),
                      procedure("main", 'walk duration="1"', 'turn duration="1"', 'nod duration="1"',
                                'walk duration="1"'))
    boxes = layout.boxes
    assert boxes.colour[boxes.depth == 0].tolist() == [1, 2, 0, 1]
    assert all(boxes.colour[i] == boxes.colour[boxes.parent[i]] for i in range(len(boxes)) if boxes.parent[i] >= 0)
    of_procedure = {"walk": 1, "turn": 2}
    calls = ["walk", "turn", "nod", "turn", "walk", "turn"]
    for seed in range(20):
        random.Random(seed).shuffle(calls)
        moved = laid_out(WALK, procedure("turn", 'walk duration="1"'),
                         procedure("main", *(f'{call} duration="1"' for call in calls))).boxes
        assert moved.colour[moved.depth == 0].tolist() == [of_procedure.get(call, 0) for call in calls]
