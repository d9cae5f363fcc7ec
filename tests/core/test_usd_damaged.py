"""USD files that are damaged, though they can be read: what shows it is refused, or said."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from takt.benchmarks.damaged_usd import damaged, outcome
from takt.core.errors import FileError
from takt.core.formats import usd
from takt.tests.core.usd_files import JOINTS, TURNS, WAYS, Crate, array, crate, resting, text

SEEDS, CHANGED, CAUGHT = 200, 20, 0.98
FRAMES = 12
CODES = tuple(map(float, range(FRAMES)))
SMOOTH = np.array([WAYS]) + 0.02 * np.sin(np.arange(FRAMES) / 4.0)[:, None, None]


def moving(values: np.ndarray, times: Sequence[float] = CODES) -> str:
    """Return a line for an animation whose joints move."""
    return "float3[] translations.timeSamples = {" + ",".join(
        f"{time}: {array(row)}" for time, row in zip(times, values, strict=True)) + "}"


def without_ways(more: str) -> bytes:
    """Return a file whose animation has other translations."""
    begin = text().index(b"float3[] translations")
    end = text().index(b"\n", begin)
    return text()[:begin] + more.encode() + text()[end:]


def with_turns(turns: np.ndarray) -> bytes:
    """Return a file whose joints turn otherwise."""
    data = text().decode()
    for own, other in zip(TURNS, turns, strict=True):
        data = data.replace(array(own), array(other), 1)
    return data.encode()


def off(values: np.ndarray, at: tuple[int, ...], by: float) -> np.ndarray:
    found = values.copy()
    found[at] += by
    return found


def test_what_is_whole_is_read_without_a_word() -> None:
    for data in (text(), crate(), without_ways(moving(SMOOTH)), with_turns(-TURNS)):
        assert usd.read(data).warnings == ()


@pytest.mark.parametrize(("data", "message"), [
    (with_turns(off(TURNS, (1, 2, 1), 0.2)), "in rotations 1 quaternions are not of unit length, first that of "
                                             "'Hips/Spine/Head' at time code 13"),
    (without_ways(moving(off(SMOOTH, (5, 3, 1), 0.5))), "in translations 1 keys jump away and back at once, first that "
                                                        "of 'Hips/LegL' at time code 5"),
    (without_ways(moving(SMOOTH, (*CODES[:-1], 1e5))), "no key between time codes 10 and 100000"),
    (without_ways(""), "has no translations, which a SkelAnimation is to have"),
    (without_ways("float3[] translationz = [(0, 0, 0)]"), "properties that a SkelAnimation has not: 'translationz'"),
    (without_ways(moving(SMOOTH).replace("4.0: [", "4.5: [(0, 0, 0)], 4.0: [")),
     "1 of 13 samples do not hold 9 values, as the others do"),
    (text('metersPerUnit = 1\n upAxit = "Z"'), "metadata that USD does not know: 'upAxit'"),
    (text('metersPerUnit = 1\n upAxis = "V"'), "upAxis is 'V', where Y or Z is wanted"),
    (text("metersPerUnit = 1\n timeCodesPerSecond = 0.001"), "timeCodesPerSecond is 0.001"),
    (text("metersPerUnit = 1e-7"), "bindTransforms put joints 1.6e-07 m apart"),
    (text().replace(b"(1.0, 0.0, 0.0, 0.0)", b"(1.0, 0.3, 0.0, 0.0)", 1), "of 'Hips' are not rotations with a scale"),
    (text().replace(b'"Hips/Spine/Head"', b'"Hips/Spine/Hezd"', 1).replace(b'"Hips/LegL"', b'"Hips/Le~L"', 1),
     "joints lie below others that do not exist: 'Hips/LegL/FootL'"),
    (text().replace(b'"Hips/Spine/Head"', b'"Hips/Spine/Hezd"', 1), "moves joints that its skeleton does not have")])
def test_what_shows_that_values_are_damaged_is_said(data: bytes, message: str) -> None:
    found = usd.read(data, Path("a.usda"))
    assert any(message in each for each in found.warnings), found.warnings
    assert found.clips


def broken(kind: str) -> bytes:
    """Return a crate file that is damaged in one way."""
    made = Crate()
    made.spec("/", 7, {"upAxis": made.named("Y")})
    made.spec("/Rig", 6, {"specifier": 1 << 62 | 42 << 48, "typeName": made.named("Skeleton")})
    made.spec("/Rig.joints", 1, {"typeName": made.named("token[]"), "default": made.names(JOINTS)})
    rest = resting().reshape(-1, 16).astype("<f8")
    if kind != "type":
        made.spec("/Rig.restTransforms", 1, {"typeName": made.named("matrix4d[]"), "default": made.array(15, rest)})
    else:
        made.spec("/Rig.restTransforms", 1, {"typeName": made.named("float3[]"), "default": made.array(15, rest)})
    if kind == "times":
        value = made.array(24, np.zeros((len(JOINTS), 3), "<f4"))
        made.spec("/Rig.way", 1, {"typeName": made.named("float3[]"),
                                  "timeSamples": made.samples((1.0, 3.0, 2.0), (value,) * 3)})
    data = bytearray(made.written())
    if kind == "token":
        data[data.index(b"Hips/LegL\0") + 2] = 0xFF
    if kind == "header":
        data[40] = 7
    if kind == "section":
        at = data.index(b"FIELDSETS")
        data[at + 24] += 1
    return bytes(data)


@pytest.mark.parametrize(("kind", "message"), [
    ("times", "time code 2 comes after 3; they are to increase"), ("token", r"the token .* is not UTF-8"),
    ("section", "what section FIELDSETS holds ends here, but it is said to end at byte")])
def test_a_crate_that_contradicts_itself_is_refused(kind: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        usd.read(broken(kind), Path("a.usdc"))


@pytest.mark.parametrize(("kind", "message"), [
    ("type", "/Rig.restTransforms is of type 'float3[]', but one of its values is not"),
    ("header", "bytes 11 to 88 should be 0")])
def test_a_crate_that_is_odd_is_read_and_said(kind: str, message: str) -> None:
    assert any(message in each for each in usd.read(broken(kind), Path("a.usdc")).warnings)
    assert not any("damaged" in each for each in usd.read(broken(""), Path("a.usdc")).warnings)


def test_most_damaged_crates_are_refused_or_said() -> None:
    data = crate()
    whole = usd.read(data, Path("a.usdc"))
    found = [outcome(damaged(data, seed, CHANGED), whole) for seed in range(SEEDS)]
    assert found.count("different") <= (1.0 - CAUGHT) * SEEDS


@pytest.mark.parametrize("value", ["1e17", "-1e16"])
def test_numbers_beyond_measure_are_refused(value: str) -> None:
    with pytest.raises(FileError, match=r"holds what is no number up to 1e\+15"):
        usd.read(text().replace(b"(0.0, 1.0, 0.0)", f"(0.0, {value}, 0.0)".encode()))
