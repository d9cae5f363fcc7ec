"""core/maths/equal_values.py: what is worked out once for equal values."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from takt.core.maths.equal_values import once_for_equal


@dataclass(frozen=True, eq=False)
class Body:
    size: Any
    name: str = field(default="", compare=False)


@dataclass(frozen=True, eq=False)
class Other:
    size: Any


def counted() -> tuple[Callable[..., int], list[object]]:
    made: list[object] = []

    def make(*values: object) -> int:
        made.append(values)
        return len(made)

    return once_for_equal(4)(make), made


@pytest.mark.parametrize("values", [
    lambda: (np.arange(3),), lambda: (Body(np.ones(2)),), lambda: ({"a": np.ones(2)}, None),
    lambda: ([np.ones(1), "x"],), lambda: (frozenset("cab"), (1, 2.0, None)), lambda: (Body((Body("b"),)),)])
def test_equal_values_are_known(values: Callable[[], tuple[object, ...]]) -> None:
    known, made = counted()
    assert known(*values()) == known(*values()) == len(made) == 1


def test_what_does_not_count_in_comparisons_is_no_difference() -> None:
    known, made = counted()
    assert known(Body(1.0, "one")) == known(Body(1.0, "two")) == len(made) == 1


@pytest.mark.parametrize(("one", "other"), [
    (np.zeros(2), np.zeros(3)), (np.zeros(2), np.zeros(2, np.float32)), (np.zeros((2, 1)), np.zeros((1, 2))),
    (np.zeros(1), np.ones(1)), (Body(np.ones(1)), Other(np.ones(1))), (None, 0), (1, 1.0), ("1", 1),
    ((np.ones(1), (np.ones(2),)), ((np.ones(1), np.ones(2)),)), ({"a": np.ones(1)}, {"b": np.ones(1)}),
    (["a", "b"], ["ab"]), (frozenset("a"), frozenset("b"))])
def test_what_differs_is_worked_out_anew(one: object, other: object) -> None:
    known, made = counted()
    assert (known(one), known(other), known(one), len(made)) == (1, 2, 1, 2)


def test_only_the_last_results_are_kept() -> None:
    known, made = counted()
    for size in (1, 2, 3, 4, 5, 1):
        known(size)
    assert len(made) == 6
