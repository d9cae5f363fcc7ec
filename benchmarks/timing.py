"""What benchmarks measure and say alike."""

import sys
import time
from collections.abc import Callable


def seconds(work: Callable[[], object], runs: int) -> float:
    """Return the least processor time that a piece of work took."""
    taken = []
    for _ in range(runs):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def say(*words: str) -> None:
    """Print a line at once, all but its last part padded to a column."""
    sys.stdout.write("".join(f"{word:9}" for word in words[:-1]) + words[-1] + "\n")
    sys.stdout.flush()
