"""Numbers out of text: as Python's float reads them, to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.formats import decimals

BLANKS = " \t\r\n\v\f"
WRITTEN = st.from_regex(r"-?([0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9})|[+-]?[0-9]e-?[0-9]|x|-|\.|[0-9]-|1\.2\.3|:|/",
                        fullmatch=True)


def python_reads(text: str) -> list[float] | None:
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        return None


@settings(deadline=None, max_examples=500)
@given(st.lists(st.tuples(WRITTEN, st.text(BLANKS, min_size=1, max_size=3)), max_size=8), st.text(BLANKS, max_size=2))
def test_numbers_are_those_that_python_reads(written: list[tuple[str, str]], before: str) -> None:
    text = before + "".join(word + blanks for word, blanks in written)
    found, wanted = decimals.numbers(text), python_reads(text)
    if wanted is None:
        assert found is None
    else:
        assert found is not None
        assert found.tolist() == wanted
        assert [math.copysign(1.0, value) for value in found] == [math.copysign(1.0, value) for value in wanted]


@pytest.mark.parametrize("digits", range(10))
def test_many_numbers_are_those_that_python_reads(digits: int) -> None:
    values = np.random.default_rng(digits).normal(0.0, 1e3, 20_000)
    text = " ".join(f"{value:.{digits}f}" for value in values)
    assert (decimals._plain_decimals(text) is None) == (digits == 9)
    found = decimals.numbers(text)
    assert found is not None
    assert found.tolist() == python_reads(text)


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_nothing_is_no_numbers(text: str) -> None:
    found = decimals.numbers(text)
    assert found is not None and not len(found)


@pytest.mark.parametrize("text", ["1 ٣", "1_0", "\x001", "1,5", "0x10", "12345678 1234567a"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert decimals.numbers(text) is None
