"""What core unfolds of random programmes of version 2 is what plain recursion unfolds."""

import math
import os
from pathlib import Path

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.clips.tracks import Tracks
from takt.core.errors import Problem, ScoreError
from takt.core.pha.document import Document, parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.pha.sequence import WAIT, Sequence

from . import plain_expander
from .plain_expander import Refused, Segment, TooLong
from .score_programmes import CLIPS, programme
from .scores import FIGURE

PROGRAMMES = int(os.environ.get("TAKT_PROGRAMMES", "300"))
GROUPS = 20


class Texts:
    """Modules from texts by src, clips without motion."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts, none = texts, Tracks.empty
        self._clips = tuple(Clip(name.rpartition(".")[2], FIGURE, duration_s, none(4), none(3), none(3))
                            for name, duration_s in CLIPS.items())

    def beside(self, document: Document) -> "Texts":
        return self

    def src_of(self, path: Path | None) -> str | None:
        return None

    def identity(self, path: Path) -> Path:
        return path

    @property
    def damaged_maps(self) -> tuple[Problem, ...]:
        return ()

    def module_path(self, src: str) -> Path:
        return Path(src)

    def module(self, path: Path) -> Document:
        return parse(self._texts[str(path)], path)

    def clips(self, src: str):
        return self._clips, ()


def unfolded(texts: dict[str, str], seed: int) -> Sequence:
    return expand(resolve(parse(texts[""]), Texts(texts)), seed=seed)


def flat(segments, start: float = 0.0) -> list[tuple]:
    """Return what plain recursion found as rows to be compared, lanes after their block; nothing follows the last."""
    rows = []
    segments = [*segments[:-1], *(segment._replace(transition_s=0.0) for segment in segments[-1:])]
    for segment in segments:
        rows.append((segment.clip or ("together" if segment.lanes else "wait"), start, segment.length_s,
                     segment.transition_s, *(segment.is_mirrored, segment.is_reversed, *segment.part) * (
                         segment.clip is not None)))
        for lane in segment.lanes:
            rows.append(("lane", lane.body, lane.mode, lane.weight, lane.weight_end, lane.ease_in_s, lane.ease_out_s))
            rows += flat(lane.segments, start)
        start += segment.length_s
    return rows


def flat_of_core(sequence: Sequence, outer: Sequence, begin: float = 0.0) -> list[tuple]:
    assert sequence.is_mirrored is not None and sequence.is_reversed is not None and sequence.part is not None
    rows: list[tuple] = []
    for s, clip in enumerate(sequence.clip.tolist()):
        start, length = begin + float(sequence.start_s[s]), float(sequence.length_s[s])
        blocks = clip - len(outer.clips)
        name = "wait" if clip == WAIT else "together" if blocks >= 0 else outer.clips[clip]
        extra: tuple = ()
        if name in CLIPS:
            extra = (bool(sequence.is_mirrored[s]), bool(sequence.is_reversed[s]), *sequence.part[s].tolist())
        rows.append((name, start, length, float(sequence.transition_s[s]), *extra))
        for lane in outer.blocks[blocks].lanes if blocks >= 0 else ():
            rows.append(("lane", lane.body, lane.mode, lane.weight, lane.weight_end, lane.ease_in_s, lane.ease_out_s))
            if lane.sequence is not None:
                rows += flat_of_core(lane.sequence, outer, start)
    return rows


def agree(found: list[tuple], wanted: list[tuple]) -> bool:
    return len(found) == len(wanted) and all(
        len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
        for a, b in zip(found, wanted, strict=True))


def same(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-9 * max(1.0, abs(b))
    return a == b


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_unfolds_as_plain_recursion_does(group: int) -> None:
    played = 0
    for seed in range(group, PROGRAMMES, GROUPS):
        texts = programme(seed)
        try:
            wanted = plain_expander.expand(texts, CLIPS, seed=seed)
        except Refused:
            wanted = None
        except TooLong:
            continue
        if not wanted:
            with pytest.raises(ScoreError):
                unfolded(texts, seed)
            continue
        found = unfolded(texts, seed)
        assert agree(flat_of_core(found, found), flat(wanted)), seed
        played += 1
    assert played > PROGRAMMES / GROUPS / 4  # most of them mean something


def test_segments_follow_each_other() -> None:
    sequence = unfolded(programme(1), 1)
    assert np.allclose(sequence.start_s[1:], np.cumsum(sequence.length_s)[:-1])


def test_another_seed_another_dance() -> None:
    text = ('<pha version="2" tickLength="1"><load src="moves.Steps"/><procedure name="main"><loop times="20"><pick>'
            '<call name="walk" duration="1"/><call name="kick" duration="1"/></pick></loop></procedure></pha>')
    dances = [unfolded({"": text}, seed).clip.tolist() for seed in (1, 1, 2)]
    assert dances[0] == dances[1] != dances[2] and len(set(dances[0])) == 2


def test_the_expected_of_a_segment_is_its_own() -> None:
    """A wrong expectation is found: the comparison can fail."""
    wanted = flat([Segment("moves.Steps.walk", 1.0, math.nan)])
    assert not agree(wanted, flat([Segment("moves.Steps.walk", 1.0 + 1e-6, math.nan)]))
    assert not agree(wanted, flat([Segment("moves.Steps.walk", 1.0, math.nan, is_mirrored=True)]))
