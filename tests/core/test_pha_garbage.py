"""While much is read, Python's search for cycles waits, and goes on afterwards."""

import gc

import pytest

from takt.core.pha.garbage import without_search_for_cycles


@without_search_for_cycles
def outer(inside: list[bool]) -> None:
    inner(inside)
    inside.append(gc.isenabled())


@without_search_for_cycles
def inner(inside: list[bool]) -> None:
    inside.append(gc.isenabled())


@without_search_for_cycles
def failing() -> None:
    raise ValueError


def test_it_waits_while_any_of_them_runs_and_goes_on_afterwards() -> None:
    found: list[bool] = []
    outer(found)
    assert found == [False, False]
    assert gc.isenabled()


def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(ValueError):
        failing()
    assert gc.isenabled()


def test_who_switched_it_off_finds_it_off() -> None:
    gc.disable()
    try:
        outer([])
        assert not gc.isenabled()
    finally:
        gc.enable()
