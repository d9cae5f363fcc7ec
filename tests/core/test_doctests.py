"""The examples in core's docstrings."""

import doctest
import importlib
import linecache
import pkgutil

import pytest

import takt.core

MODULES = ["takt.core", *(m.name for m in pkgutil.walk_packages(takt.core.__path__, "takt.core."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    linecache.clearcache()  # else doctest asks the disk, each time, about each file that a traceback ever named
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_examples_are_found() -> None:
    found = (test for name in MODULES for test in doctest.DocTestFinder().find(importlib.import_module(name)))
    assert sum(len(test.examples) for test in found) >= 5
