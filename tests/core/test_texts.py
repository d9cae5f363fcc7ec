"""What Takt says is gathered and plain, and no language has it broken."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import texts

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = texts.read(ROOT / texts.FOLDER / texts.TEMPLATE)
THERE = [name for name in texts.LANGUAGES if (ROOT / texts.FOLDER / f"{name}.json").exists()]
WORDS_IN_A_SENTENCE = 25
FORBIDDEN = ("feet stand", "off: as authored, with whatever slides", "what becomes of the motion over the ground",
             "how time runs over a transition's own motion", "where clips are left for the next one",
             "what the action turns bones by", "a seed for each", "that come as they come", "no say meanwhile",
             "how firmly")
"""From the list of plain words; each has a term of the field in its place."""


def test_the_list_of_texts_is_that_of_the_source() -> None:
    """Labels and tooltips of the interface are compared in Blender."""
    found = texts.gathered(ROOT)
    missing = [text for text in found["messages"] if not any(text in part for part in TEMPLATE.values())]
    gone = [text for text in TEMPLATE["messages"] if text not in found["messages"]]
    assert missing == [], "run: python3 dev.py texts"
    assert gone == [], "run: python3 dev.py texts"


def test_the_list_is_sorted() -> None:
    assert (ROOT / texts.FOLDER / texts.TEMPLATE).read_text(encoding="utf-8") == texts.written(TEMPLATE)


@pytest.mark.parametrize("name", THERE)
def test_no_language_is_broken(name: str) -> None:
    wrong = list(texts.problems(TEMPLATE, texts.read(ROOT / texts.FOLDER / f"{name}.json")))
    assert [each for each in wrong if ": missing: " not in each] == []


@pytest.mark.parametrize("name", texts.COMPLETE)
def test_a_complete_language_lacks_nothing(name: str) -> None:
    assert list(texts.problems(TEMPLATE, texts.read(ROOT / texts.FOLDER / f"{name}.json"))) == []


def test_only_known_languages_are_there() -> None:
    others = {path.stem for path in (ROOT / texts.FOLDER).glob("*.json")} - {Path(texts.TEMPLATE).stem}
    assert others - set(texts.LANGUAGES) == set(), "add these to LANGUAGES in texts.py"


@pytest.mark.parametrize(("part", "text", "words", "said"), [
    ("messages", "{count} bones", "{zahl} Knochen", "the values differ"),
    ("messages", "{count} bones", "Knochen", "the values differ"),
    ("messages", "; more", "mehr ", "blanks"),
    ("messages", "one\ntwo", "eins zwei", "lines"),
    ("tooltips", "Play it", "Spiele es ab.", "full stop"),
    ("labels", "Play the Clip", "Spiele den Bewegungsabschnitt der Figur ab", "longer than"),
    ("labels", "Retarget All of the Clips of a Folder", "x" * 61, "longer than 60"),
])
def test_faults_are_told(part: str, text: str, words: str, said: str) -> None:
    assert [each for each in texts.faults(part, text, words) if said in each]


def test_missing_and_superfluous_texts_are_told() -> None:
    template = {"labels": {"Play": "x"}, "tooltips": {}, "messages": {"Copied": "y"}}
    wrong = list(texts.problems(template, {"labels": {"Play": ""}, "messages": {"Copied": "Kopiert", "Gone": "Weg"},
                                           "words": {}}))
    assert wrong == ["labels: missing: 'Play'", "messages: Takt does not say this (any more): 'Gone'",
                     "words: there is no such part"]
    assert list(texts.problems(template, {"labels": {"Play": "Spielen"}, "messages": {"Copied": "Kopiert"}})) == []


@pytest.mark.parametrize(("source", "found"), [
    ('raise TaktError(f"{len(names)} bones of {mesh.name} are idle")', ["{count} bones of {mesh} are idle"]),
    ('raise TaktError(f"{n} bone{\'s\' if n > 1 else \'\'} of it")', ["{n} bones of it", "{n} bone of it"]),
    ('report(self, {"INFO"}, "Copied")', ["Copied"]),
    ('"""A docstring of the module."""', []),
    ('x = {"a key of it": 1}["a key of it"]', []),
    ('_log.error("it went wrong: %s", x)', []),
    ('raise ValueError("it must be finite")', []),
    ('said = "nothing moves" if yes else f"bone {a.b:.3g} moves"', ["nothing moves", "bone {b} moves"]),
    ('said = "Saved it" + (" and the rest" if rest else "")', ["Saved it and the rest", "Saved it"]),
    ('f"{a} and {b} and {a}"', ["{a} and {b} and {a}"]),
    ('f"{x.name} moves {y[0].name}, {x.name!r}"', ["{x} moves {y}, {x}"]),
])
def test_texts_are_found_in_source(source: str, found: list[str]) -> None:
    code = source if source.startswith(('"""', "raise", "report", "_log", "x =", "said")) else f"said = {source}"
    assert [text for _, text in texts.texts_of(code, "core/any.py")] == found


def sentences(text: str) -> Iterator[int]:
    yield from (len(part.split()) for part in re.split(r"[.:;] ", text) if part)


def test_tooltips_are_short_and_end_without_a_full_stop() -> None:
    assert [text for text in TEMPLATE["tooltips"] if text.rstrip().endswith(".")] == []
    lengths = [length for text in TEMPLATE["tooltips"] for length in sentences(text)]
    assert np.percentile(lengths, 90) <= WORDS_IN_A_SENTENCE


def test_labels_are_short() -> None:
    assert [text for text in TEMPLATE["labels"] if len(text) > texts.LONGEST_LABEL] == []


def test_labels_are_in_title_case() -> None:
    assert [text for text in TEMPLATE["labels"] if not texts.is_title(text)] == []
    assert not any(map(texts.is_title, ("Save clip", "Save As Clip", "save Clip", "Save the Clip And Go")))


def test_no_phrase_that_has_to_be_read_twice() -> None:
    said = [text for part in TEMPLATE.values() for text in part]
    assert [text for text in said if any(phrase in text.lower() for phrase in FORBIDDEN)] == []
