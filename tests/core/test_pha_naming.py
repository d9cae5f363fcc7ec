"""Names that are not known: what they may mean, and what the file that they name holds."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import ScoreError
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.pha.document import parse
from takt.core.pha.naming import Likeness, near, nearest
from takt.core.pha.programme import resolve
from takt.core.skeletons.skeleton import Skeleton

HELD = ("Walking_A", "Walking_B", "Running_A", "Idle", "Jump_Full_Long", "Sword_Slash")
SKELETON = Skeleton.from_arrays(["a"], [-1], rot.identities(1), np.zeros((1, 3)))


def message(called: str, held: tuple[str, ...] = HELD, src: str = "greta") -> str:
    """Return what is said of a call in a score that loads one src with these clips."""
    clips = tuple(Clip(name, SKELETON, 1.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3)) for name in held)
    library = Library(other_clips=lambda asked: clips if asked == src else None)
    text = (f'<pha tickLength="1"><load src="{src}"/><procedure name="main"><call name="{called}" duration="1"/>'
            '</procedure></pha>')
    with pytest.raises(ScoreError) as caught:
        resolve(parse(text, Path("score.pha")), library)
    return str(caught.value)


@pytest.mark.parametrize(("called", "meant"), [
    ("Walking_a", "Walking_A"), ("walking a", "Walking_A"), ("greta.Walking_a", "greta.Walking_A"),
    ("greta.Wlaking_B", "greta.Walking_B"), ("SlashSword", "Sword_Slash"), ("idle", "Idle"),
    ("jumpFullLong", "Jump_Full_Long"), ("Greta.Idle", "greta.Idle")])
def test_it_is_found_by_words_and_by_letters(called: str, meant: str) -> None:
    said = message(called)
    assert f"did you mean {meant}" in said, said


@pytest.mark.parametrize("called", ["greta.Fly", "Fly", "greta.", "greta"])
def test_what_the_file_holds_is_said(called: str) -> None:
    said = message(called)
    assert "; greta has " in said and all(f"'{name}'" in said for name in HELD), said


def test_what_begins_alike_is_no_likelier_for_that() -> None:
    assert near("a.long.file_name.helo", [f"a.long.file_name.{own}" for own in ("hello", "bow", "wave")]) == (
        "; did you mean a.long.file_name.hello?")


def test_of_many_those_most_alike_are_listed_and_the_others_counted() -> None:
    held = tuple(f"clip{number:03}" for number in range(300))
    said = message("greta.clop1_7", (*held, "swim"))
    assert "'clip107'" in said and "and 293 more" in said and "'swim'" not in said


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=8), st.text(max_size=12))
def test_what_is_suggested_is_known(known: list[str], name: str) -> None:
    assert set(nearest(name, known)) <= set(known)
    for other in known:
        assert 0.0 <= Likeness(name)(other) <= 1.0
    if name in known and name:
        assert nearest(name, known)[0].casefold() == name.casefold()


def test_nothing_is_like_a_name_without_end() -> None:
    assert near("a" * 1_000_000, ["a"]) == ""
