"""Seeds of tests that draw what they try: a few in the quick run, all in the full one."""

from __future__ import annotations

from typing import Any

import pytest


def seeds(count: int, quick: int) -> list[Any]:
    """Return seeds from 0 on, those after the first quick ones marked as slow."""
    return [*range(quick), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(quick, count))]
