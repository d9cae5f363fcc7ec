"""Every test here can draw offscreen; without graphics libraries it is skipped, or fails where CI is set."""

import os

import pytest

from takt.windowless import missing_graphics, start_graphics


@pytest.fixture(scope="session")
def missing() -> str:
    """Start the graphics; return why nothing can be drawn here, or ""."""
    reason = missing_graphics()
    if not reason:
        start_graphics()
    return reason


@pytest.fixture(autouse=True)
def _graphics(missing: str, extension: None) -> None:
    if missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)
