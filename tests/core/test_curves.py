import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.errors import TaktError
from takt.core.playing.transitions.curves import CURVES, curve_named

EXACT = 1e-12
PRINTED = 5e-4
"""The specification prints three digits."""
QUARTERS = np.array((0.0, 0.25, 0.5, 0.75, 1.0))
RISES = {
    "LINEAR": (0.0, 0.25, 0.5, 0.75, 1.0),
    "COSINE": (0.0, 0.146, 0.5, 0.854, 1.0),
    "CIRCULAR": (0.0, 0.067, 0.5, 0.933, 1.0),
    "CUBIC": (0.0, 0.103, 0.5, 0.897, 1.0),
}


@pytest.mark.parametrize("identifier", RISES)
def test_rises_as_the_specification_tabulates(identifier):
    assert curve_named(identifier).shaped("RISE")(QUARTERS) == pytest.approx(RISES[identifier], abs=PRINTED)


@pytest.mark.parametrize("identifier", [i for i, c in CURVES.items() if c.pulse])
def test_pulses_as_the_specification_tabulates(identifier):
    assert curve_named(identifier).shaped("PULSE")(QUARTERS) == pytest.approx((0, 0.5, 1, 0.5, 0), abs=EXACT)


def test_every_tabulated_curve_is_there():
    assert set(RISES) <= set(CURVES)


@pytest.mark.parametrize("identifier", CURVES)
@given(x=st.floats(0.0, 1.0))
def test_rises_from_0_to_1_symmetrically(identifier, x):
    rise = curve_named(identifier).shaped("RISE")
    here, mirrored = rise(np.array((x, 1.0 - x)))
    assert 0.0 <= here <= 1.0
    assert here + mirrored == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("identifier", CURVES)
def test_rises_never_fall(identifier):
    assert (np.diff(curve_named(identifier).shaped("RISE")(np.linspace(0, 1, 1001))) >= -EXACT).all()


@pytest.mark.parametrize("identifier", [i for i, c in CURVES.items() if c.pulse])
def test_pulses_mirror_and_rise_as_their_rise_does_in_half_the_time(identifier):
    curve, x = CURVES[identifier], np.linspace(0, 1, 1001)
    pulse = curve.shaped("PULSE")(x)
    assert pulse == pytest.approx(pulse[::-1], abs=1e-7)
    assert pulse[:501] == pytest.approx(curve.rise(2 * x[:501]), abs=1e-7)


def test_a_curve_without_pulse_says_so_and_names_others():
    others = ", ".join(name for name, curve in CURVES.items() if curve.pulse is not None)
    assert "COSINE" in others and "CUBIC" not in others
    with pytest.raises(TaktError, match=f"CUBIC only rises from 0 to 1; .* can have {others}, or"):
        curve_named("CUBIC").shaped("PULSE")


def test_an_unknown_curve_is_refused():
    with pytest.raises(TaktError, match=f"no curve 'WAVY'; there are {', '.join(CURVES)}$"):
        curve_named("WAVY")
