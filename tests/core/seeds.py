"""Settings of tests, as the seeds of what they draw: a few in the quick run, a part in the full one, all if asked for.

Whoever makes a release, or changes what a test is about, runs all seeds: TAKT_ALL_SEEDS=1.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Final

import pytest

_ALL: Final = {"TAKT_ALL_SEEDS", "TAKT_SCENE_SETTINGS", "TAKT_FLOORS", "TAKT_RIGS"}
EVERY: Final = 1 if _ALL & os.environ.keys() else 5
"""Of this many slow seeds the full run takes one. Seeds only draw numbers; tests of each kind of body always run.

Odd, since some tests choose one of four rigs by the seed: those that are taken meet them all.
"""
LEAST: Final = 4
"""Of about so many slow seeds or fewer, all run."""


def seeds(count: int, quick: int) -> list[Any]:
    """Return seeds from 0 on: the first quick ones, and a part of the others, evenly spread and marked as slow."""
    return part_of(range(count), quick)


def part_of(settings: Iterable[Any], quick: int) -> list[Any]:
    """Return settings that seeds draw: the first quick ones, and a part of the others, marked as slow."""
    first, others = (*settings,)[:quick], (*settings,)[quick:]
    return few((*first, *others[::min(EVERY, len(others) // LEAST | 1)]), quick)


def few(settings: Iterable[Any], quick: int = 1) -> list[Any]:
    """Return settings, those after the first quick ones marked as slow. A tuple sets several parameters."""
    return [each if at < quick else pytest.param(*(each if isinstance(each, tuple) else (each,)),
                                                 marks=pytest.mark.slow) for at, each in enumerate(settings)]
