"""core/pha/expressions.py: what the language has, against Python itself; what it has not is refused in clear words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.pha.expressions import MAX_CHARACTERS, MAX_LEVELS, ExpressionError, is_name, read_expression, shown

from . import plain_expander

_SIGNS = ("+", "-", "*", "/", "//", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or")
SCOPE = {"times": 3.0, "i": 2.0, "big": True, "small": False, "bars": 0.5}


@pytest.mark.parametrize(("text", "value"), [
    ("+5", 5.0), ("007", 7.0), ("1.", 1.0), (".5e1", 5.0), (" 2 ", 2.0), ("yes", True), ("no", False),
    ("times * 2 + 1", 7.0), ("-times", -3.0), ("times // 2", 1.0), ("-times // 2", -2.0), ("-times % 2", 1.0),
    ("i % 2 == 0", True), ("1 < i < times", True), ("1 < i < 2", False), ("big == yes", True), ("big != small", True),
    ("not big or i == 2", True), ("min(times, i, 9)", 2.0), ("max(i)", 2.0), ("round(bars + 2)", 2.0), ("abs(-i)", 2.0),
    ("floor(bars)", 0.0), ("ceil(bars)", 1.0), ("((i))", 2.0), ("small and 1 / 0 > 2", False),
])
def test_has_the_value(text: str, value: float | bool) -> None:
    found = read_expression(text).value(SCOPE)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(("text", "says"), [
    ("9**9", "expected numbers, yes, no and names"), ("'a'", "expected numbers"), ("i.real", "expected numbers"),
    ("open(1)", "expected numbers"), ("abs(1, 2)", "expected numbers"), ("min()", "expected numbers"),
    ("min(*i)", "expected numbers"), ("min(i, key=i)", "expected numbers"), ("[1]", "expected numbers"),
    ("i if big else 2", "expected numbers"), ("(i := 2)", "expected numbers"), ("1 is 1", "expected numbers"),
    ("True", "expected numbers"), ("None", "expected numbers"), ("~i", "expected numbers"), ("+i", "expected numbers"),
    ("1 +", "expected numbers"), ("", "expected numbers"), ("i\n+1", "in one line"), ("３", "plain letters"),
    ("1e999", "of usual size"), ("1j", "expected numbers"), ("0x10 + 1", "expected numbers"),
    ("1_000 + 1", "expected numbers"), ("1 + " + "9" * 500, "of usual size"),
    ("1" + "+1" * MAX_CHARACTERS, f"at most {MAX_CHARACTERS}"), ("(" * 400 + "1" + ")" * 400, f"at most {MAX_LEVELS}"),
    ("-" * 900 + "1", f"at most {MAX_LEVELS}"), ("not " * 200 + "yes", f"at most {MAX_LEVELS}"),
])
def test_is_not_in_the_language(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        read_expression(text)
    assert says in str(caught.value)


@pytest.mark.parametrize(("text", "says"), [
    ("1 / (i - 2)", "found '1 / (i - 2)' with i = 2: division by zero"),
    ("i % 0", "found 'i % 0' with i = 2: division by zero"),
    ("1e300 * 1e300", "larger than a number can be"),
    ("far", "there is no 'far' here"),
    ("big + 1", "found 'big + 1' with big = yes: yes stands where a number belongs"),
    ("i and big", "2 stands where yes or no belongs"),
    ("big < small", "yes cannot be compared with no"),
    ("i == big", "2 cannot be compared with yes"),
])
def test_has_no_value(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        read_expression(text).value(SCOPE)
    assert says in str(caught.value)


def test_says_which_kind_of_value_is_expected() -> None:
    with pytest.raises(ExpressionError, match="found 'big', which is yes, expected a number"):
        read_expression("big").number(SCOPE)
    with pytest.raises(ExpressionError, match="found 'i', which is 2, expected yes or no"):
        read_expression("i").truth(SCOPE)


def test_knows_the_names_that_it_needs() -> None:
    assert read_expression("min(a, b) > 2 and yes").names == {"a", "b"}


def test_names() -> None:
    assert [name for name in ("a", "_b2", "yes", "min", "not", "2a", "a-b", "ä", "lambda") if is_name(name)] == [
        "a", "_b2", "min"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_shown_numbers_are_read_again(value: float) -> None:
    assert read_expression(shown(value)).value({}) == value


def _texts() -> st.SearchStrategy[str]:
    numbers = st.sampled_from(["0", "1", "2.5", "7", "i", "times", "bars"])
    truths = st.sampled_from(["yes", "no", "big", "small"])

    def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        two = st.tuples(inner, st.sampled_from(_SIGNS), inner)
        return st.one_of(two.map(lambda t: f"({t[0]} {t[1]} {t[2]})"), inner.map(lambda t: f"-{t}"),
                         inner.map(lambda t: f"(not {t})"), inner.map(lambda t: f"abs({t})"),
                         st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})"))

    return st.recursive(st.one_of(numbers, truths), grown, max_leaves=12)


@given(_texts())
def test_agrees_with_plain_recursion(text: str) -> None:
    try:
        wanted = plain_expander.evaluate(text, SCOPE)
    except plain_expander.Refused:
        with pytest.raises(ExpressionError):
            read_expression(text).value(SCOPE)
        return
    found = read_expression(text).value(SCOPE)
    assert type(found) is type(wanted) and (found == wanted or math.isclose(found, wanted))
