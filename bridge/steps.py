"""Main-thread work done in steps, so that a window can show progress and react to Esc."""

from collections.abc import Callable, Generator
from typing import TypeVar

Result = TypeVar("Result")


def finished(steps: Generator[float, None, Result], tell: Callable[[float], object] = lambda _: None) -> Result:
    """Run all steps and return the result. tell: called with each share of the work done, 0 to 1."""
    while True:
        try:
            tell(next(steps))
        except StopIteration as end:
            result: Result = end.value
            return result
