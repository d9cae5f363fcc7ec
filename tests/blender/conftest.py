"""Every test here starts from an empty file with the extension switched on."""

import pytest


@pytest.fixture(autouse=True)
def _extension(extension: None) -> None:
    pass
