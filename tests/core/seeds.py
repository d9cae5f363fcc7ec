"""Settings of tests, as the seeds of what they draw: a few in the quick run, all in the full one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def seeds(count: int, quick: int) -> list[Any]:
    """Return seeds from 0 on, those after the first quick ones marked as slow."""
    return few(range(count), quick)


def few(settings: Iterable[Any], quick: int = 1) -> list[Any]:
    """Return settings, those after the first quick ones marked as slow. A tuple sets several parameters."""
    return [each if at < quick else pytest.param(*(each if isinstance(each, tuple) else (each,)),
                                                 marks=pytest.mark.slow) for at, each in enumerate(settings)]
