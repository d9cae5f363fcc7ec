"""The docs are in plain English, as far as a machine can tell: short sentences, and no phrase that is avoided."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")))
MOST_WORDS: Final = 25
"""Of nine sentences in ten."""
AVOIDED: Final = (
    "are of today", "have no say", "as they come", "how firmly", "whoever", "what becomes of", "for being", "whose say",
    "so-called", "utilize", "in order to", "please note", "with whatever")
"""Phrases that had to be read twice, or say nothing; in lower case."""


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page: those of paragraphs, list items and cells of tables; no code, no headings."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n(?=[-*|] |\d+\. |#)|(?<=\S)\s*\|\s*", text):
        block = re.sub(r"^(?:[-*|]|\d+\.)\s+", "", " ".join(block.split()))
        if block and not block.startswith("#"):
            yield from (each for each in re.split(r"(?<=[.!?:])\s+(?=[A-Z*`‘“\"(])", block) if len(each.split()) > 3)


def test_sentences_are_told_apart() -> None:
    text = ("# Heading of some words here\n\nOne sentence of five words. Another one, in *two*\nlines here.\n"
            "- An item of a list\n- The next item has more words\n\n| a cell of five words | and one of four |\n"
            "|---|---|\n```\ncode is not counted here\n```\n")
    assert list(sentences(text)) == [
        "One sentence of five words.", "Another one, in *two* lines here.", "An item of a list",
        "The next item has more words", "a cell of five words", "and one of four"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_have_short_sentences(page: Path) -> None:
    found = sorted(sentences(page.read_text(encoding="utf-8")), key=lambda each: len(each.split()))
    lengths = [len(each.split()) for each in found]
    longest = "\n".join(found[-len(found) // 10:])
    assert np.percentile(lengths, 90) <= MOST_WORDS, f"{page.name}: shorten these:\n{longest}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_avoid_phrases_that_must_be_read_twice(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").lower().split())
    assert [phrase for phrase in AVOIDED if phrase in text] == []
