"""CONTRIBUTING.md names what is there: files, lists, tests and commands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = sorted({word for word in re.findall(r"`([\w./-]+)`", TEXT) if "/" in word or word.endswith((".py", ".md"))
                if "NAME" not in word and not word.startswith((".", "v", "shaders/slope"))})
LISTS = {"FORMATS": "core/formats/__init__.py", "CURVES": "core/playing/transitions/curves.py",
         "TRANSITION_METHODS": "core/playing/transitions/methods.py", "RIGS": "tests/core/rigs.py",
         "LIMBS": "tests/core/rigs.py",
         "_PARTS": "core/skeletons/maps/names.py", "_NOISE_WORDS": "core/skeletons/maps/names.py",
         "_HELPER_WORDS": "core/skeletons/maps/names.py", "_SIDES": "core/skeletons/maps/names.py",
         "Hand": "tests/blender/score_editors.py",
         "GESTURES": "core/score_editor/gestures.py",
         "GRAMMAR": "core/pha/grammar.py", "PLAYED": "core/pha/grammar.py", "PLAYED_BY": "core/pha/evaluation.py",
         "RESTS": "core/pha/grammar.py", "WORDS": "core/pha/grammar.py", "MISSING": "core/pha/grammar.py",
         "CHANGED": "tests/core/test_every_word.py", "_ticks_of_one": "core/pha/values.py",
         "COMPLETE": "texts.py", "LANGUAGES": "texts.py",
         "_CLASSES": "operators/__init__.py", "GreyWithReason": "bridge/reports.py",
         "ForScore": "bridge/active_character.py", "Point": "core/score_editor/hit.py",
         "Proposal": "core/score_editor/change.py", "Press": "core/score_editor/gestures.py"}
"""What the recipes have edited, and where that stands."""


@pytest.mark.parametrize("path", PATHS)
def test_files_are_there(path: str) -> None:
    assert (ROOT / path).exists() or list((ROOT / "tests").rglob(path)) or list((ROOT / "core").rglob(path)), path


def test_enough_files_are_named() -> None:
    assert len(PATHS) > 25


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_there(name: str) -> None:
    assert f"`{name}`" in TEXT
    assert re.search(rf"^(?:class |def )?{name}\b", (ROOT / LISTS[name]).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_list_that_is_named_is_checked() -> None:
    named = {word for word in re.findall(r"`([A-Z_]{4,})`", TEXT) if word not in ("PULSE", "RISE", "TAKT_DATA")}
    assert named <= LISTS.keys()


def test_commands_are_there() -> None:
    source = (ROOT / "dev.py").read_text(encoding="utf-8")
    used = set(re.findall(r"dev\.py (\w+)", TEXT))
    assert used >= {"test", "lint", "release"} and all(f"\ndef {name}(" in source for name in used)
