"""Stored values: each kind is read, and whatever else stands in its place is refused with the place."""

import json
import zlib
from base64 import b85encode
from collections.abc import Callable
from typing import Any

import pytest

from takt.core.errors import FileError
from takt.core.playing import ties as ties_
from takt.core.playing.stored import DamagedError, Stored
from takt.core.playing.ties import Ties

NAN, INFINITY = float("nan"), float("inf")
Read = Callable[[Stored], Any]


def test_what_is_right_is_read() -> None:
    data = Stored({"a": [1, 2.5], "b": {"c": "é", "on": True}})
    assert [each.number(1, 3) for each in data["a"].items(2)] == [1.0, 2.5]
    assert data["a"].items()[0].whole(1, 1) == 1 == data["a"].items()[0].one_of((0, 1))
    assert data["b"]["c"].text() == "é" and data["b"]["on"].flag() and data.get("d") is None
    assert Stored((1,)).items()[0].whole(0, 1) == 1  # as kept in memory, before JSON makes lists of them


@pytest.mark.parametrize(("value", "read", "message"), [
    (NAN, lambda v: v.number(0, 60), "v: found NaN, expected a number from 0 to 60"),
    (INFINITY, lambda v: v.number(-2000, 60), "v: found Infinity, expected a number from -2,000 to 60"),
    (10 ** 400, lambda v: v.number(0, 1), "v: found 1" + 39 * "0" + "…, expected a number from 0 to 1"),
    (True, lambda v: v.number(0, 1), "v: found true, expected a number from 0 to 1"),
    ("1", lambda v: v.number(0, 1), 'v: found "1", expected a number from 0 to 1'),
    (1.0, lambda v: v.whole(0, 1), "v: found 1.0, expected a whole number from 0 to 1"),
    (-1, lambda v: v.whole(0, 2000), "v: found -1, expected a whole number from 0 to 2,000"),
    (2, lambda v: v.one_of((0, 1)), "v: found 2, expected one of the numbers 0, 1"),
    (0, lambda v: v.flag(), "v: found 0, expected true or false"),
    (None, lambda v: v.text(), "v: found an empty value, expected a name or another text"),
    ("\ud800", lambda v: v.text(), r'v: found "\ud800", expected a name or another text'),
    ({"a": 1}, lambda v: v.items(), "v: found named values, expected a list of values"),
    ([1, 2], lambda v: v.items(3), "v: found 2 values, expected 3"),
    ([1, 2], lambda v: v.named(), "v: found a list of 2 values, expected named values"),
    ({}, lambda v: v["a"], "v.a: found nothing, expected a value"),
    ({"a": [0, "x"]}, lambda v: v["a"].items()[1].flag(), 'v.a[1]: found "x", expected true or false')])
def test_what_is_wrong_is_refused_with_its_place(value: Any, read: Read, message: str) -> None:
    with pytest.raises(DamagedError) as refused:
        read(Stored(value, "v"))
    assert str(refused.value) == message


def packed(text: bytes) -> str:
    return b85encode(zlib.compress(text)).decode()


def too_long() -> str:
    """Return a text of 65 MB, packed: it takes time, so only the test of it does."""
    return packed(bytes(65 << 20))


@pytest.mark.parametrize(("name", "value", "place"), [
    ("texts", [packed(b"<pha/>")[:-3]], r"texts\[0\]"), ("texts", [packed(b"\xff")], r"texts\[0\]"),
    ("texts", too_long, r"texts\[0\]"), ("texts", ["{"], r"texts\[0\]"), ("texts", 1, "texts"),
    ("in", {"": 1}, r"in\."), ("blocks", [[["", 1, 0, [], -1]]], r"blocks\[0\]\[0\]\[4\]"),
    ("blocks", [[["", 1, 0, [[1]], 0]]], r"blocks\[0\]\[0\]\[3\]\[0\]"),
    ("ties", [[NAN, 0, 0.5, 1.0]], r"ties\[0\]\[0\]"),
    ("ties", [[1.0, 1, 0.5, 1.0]], r"ties\[0\]\[1\]"), ("ties", [[1.0, 0, 1e308, 1.0]], r"ties\[0\]\[2\]"),
    ("ties", [[1.0, 0, 0.5, -1.0]], r"ties\[0\]\[3\]"), ("waiting", [{}], r"waiting\[0\]\.texts"),
    ("version", "1", "version")])
def test_damaged_ties_are_refused(name: str, value: Any, place: str) -> None:
    data = {**ties_.to_data(Ties.none()), "texts": [packed(b"<pha/>")], "blocks": [[["", 1, 0, [], 0]]]}
    assert len(ties_.from_data(json.loads(json.dumps(data))).blocks) == 1
    with pytest.raises(FileError, match=rf"the ties of the tweaks are damaged \({place}.*: found .*, expected "):
        ties_.from_data(json.loads(json.dumps({**data, name: [value()] if callable(value) else value})))
