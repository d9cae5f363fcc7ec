"""Every test here can draw offscreen; without graphics libraries it is skipped, or fails where CI is set."""

import pytest

from takt.tests.beside import missing
from takt.windowless import missing_graphics


@pytest.fixture(scope="session")
def problem() -> str:
    """Start the graphics; return why nothing can be drawn here, or ""."""
    from takt.bridge.versions import start_gpu

    return missing_graphics() or start_gpu()


@pytest.fixture(autouse=True)
def _graphics(problem: str, extension: None) -> None:
    if problem:
        missing(problem)
