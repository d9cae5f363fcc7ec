"""Settings of tests, as the seeds of what they draw: a few in the quick run, a part in the full one, all if asked for.

Whoever makes a release, or changes what a test is about, runs all seeds: TAKT_ALL_SEEDS=1.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Final

import pytest

EVERY: Final = 1 if os.environ.get("TAKT_ALL_SEEDS") else 3
"""Of this many slow seeds the full run takes one. Seeds only draw numbers; tests of each kind of body always run."""
LEAST: Final = 12
"""So many slow seeds of a test run in any case."""


def seeds(count: int, quick: int) -> list[Any]:
    """Return seeds from 0 on: the first quick ones, and a part of the others, evenly spread and marked as slow."""
    others = range(quick, count)
    step = max(min(EVERY, len(others) // LEAST), 1)
    return few((*range(quick), *others[::step]), quick)


def few(settings: Iterable[Any], quick: int = 1) -> list[Any]:
    """Return settings, those after the first quick ones marked as slow. A tuple sets several parameters."""
    return [each if at < quick else pytest.param(*(each if isinstance(each, tuple) else (each,)),
                                                 marks=pytest.mark.slow) for at, each in enumerate(settings)]
