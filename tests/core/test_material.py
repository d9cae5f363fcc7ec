"""Materials as programmes: what each operation gives, and what cannot be gone through."""

import colorsys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.shading.material import (
    LUMINANCE,
    MAX_DEPTH,
    MAX_TEXTURES,
    OPERATIONS,
    Material,
    Programme,
    ProgrammeStep,
    Texture,
    evaluate,
    number,
)

CLOSE = 1e-12
A, B, SHARE = (0.2, 0.6, 0.9, 0.5), (0.5, 0.25, 0.1, 1.0), 0.25
levels = st.floats(0.0, 1.0)
colours = st.tuples(levels, levels, levels)


def of(*values: float) -> Programme:
    return number(*values)


def made(operation: str, *values: tuple[float, ...] | float, which: int = 0,
         by: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)) -> list[float]:
    """Return the colour of an operation on constants."""
    steps = [step for value in values for step in (of(*value) if isinstance(value, tuple) else of(value))]
    return list(evaluate((*steps, ProgrammeStep(operation, which, by)))[:3])


@pytest.mark.parametrize(("operation", "expected"), [
    ("MIX", (0.275, 0.5125, 0.7)),
    ("BLEND_ADD", (0.325, 0.6625, 0.925)),
    ("BLEND_MULTIPLY", (0.175, 0.4875, 0.6975)),
    ("BLEND_SUBTRACT", (0.075, 0.5375, 0.875)),
    ("BLEND_SCREEN", (0.3, 0.625, 0.9025)),
    ("BLEND_DIFFERENCE", (0.225, 0.5375, 0.875)),
    ("BLEND_DARKEN", (0.2, 0.5125, 0.7)),
    ("BLEND_LIGHTEN", (0.275, 0.6, 0.9)),
    ("BLEND_OVERLAY", (0.2, 0.55, 0.88)),
])
def test_a_quarter_of_each_blend(operation: str, expected: tuple[float, ...]) -> None:
    np.testing.assert_allclose(made(operation, SHARE, A, B), expected, atol=CLOSE)


@pytest.mark.parametrize(("operation", "expected"), [
    ("ADD", 0.75), ("SUBTRACT", 0.25), ("MULTIPLY", 0.125), ("LESS", 0.0), ("GREATER", 1.0), ("SMALLER_OF", 0.25),
    ("LARGER_OF", 0.5), ("POWER", 0.5 ** 0.25)])
def test_sums(operation: str, expected: float) -> None:
    np.testing.assert_allclose(made(operation, 0.5, 0.25), expected, atol=CLOSE)


def test_what_takes_one() -> None:
    assert made("ROUND", (0.49, 0.5, 1.2)) == [0.0, 1.0, 1.0]
    assert made("CLAMP", (-1.0, 0.5, 1.2)) == [0.0, 0.5, 1.0]
    assert made("CHANNEL", A, which=2) == [0.9] * 3
    np.testing.assert_allclose(made("CHANNEL", A, which=LUMINANCE), 0.2126 * 0.2 + 0.7152 * 0.6 + 0.0722 * 0.9)
    np.testing.assert_allclose(made("GAMMA", A, by=(2.0, 0.0, 0.0, 0.0)), (0.04, 0.36, 0.81))
    np.testing.assert_allclose(made("INVERT", A, by=(1.0, 0.0, 0.0, 0.0)), (0.8, 0.4, 0.1))
    np.testing.assert_allclose(made("CONTRAST", A, by=(0.1, 1.0, 0.0, 0.0)), (0.0, 0.8, 1.4), atol=CLOSE)
    assert made("COLOUR", 0.1, 0.2, 0.3) == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(("place", "expected"), [(-1.0, A), (0.0, A), (0.25, (0.35, 0.425, 0.5)), (0.5, B), (0.6, B),
                                                 (1.0, B), (3.0, B)])
def test_a_ramp_lies_between_its_nearest_colours(place: float, expected: tuple[float, ...]) -> None:
    found = evaluate((*number(place), ProgrammeStep("RAMP", table=(A, B, B))))
    np.testing.assert_allclose(found[:3], expected[:3], atol=CLOSE)


@given(colours, levels, st.floats(0.0, 2.0), st.floats(0.0, 2.0))
def test_hue_is_that_of_the_colour_wheel(colour: tuple[float, float, float], hue: float, saturation: float,
                                         value: float) -> None:
    h, s, v = colorsys.rgb_to_hsv(*colour)
    expected = colorsys.hsv_to_rgb((h + hue + 0.5) % 1.0, min(s * saturation, 1.0), v * value)
    np.testing.assert_allclose(made("HUE", colour, by=(hue, saturation, value, 1.0)), expected, atol=1e-9)


@given(colours)
def test_hue_in_the_middle_changes_nothing(colour: tuple[float, float, float]) -> None:
    np.testing.assert_allclose(made("HUE", colour, by=(0.5, 1.0, 1.0, 1.0)), colour, atol=1e-9)


def test_what_is_looked_up() -> None:
    texels, painted = np.array(((0.1, 0.2, 0.3, 0.4), (0.5, 0.6, 0.7, 0.8))), np.array(((0.5,) * 4, (1.0,) * 4))
    programme = (*number(1.0), ProgrammeStep("TEXTURE"), ProgrammeStep("ATTRIBUTE"), ProgrammeStep("BLEND_MULTIPLY"))
    np.testing.assert_allclose(evaluate(programme, [texels], painted)[:, :3], texels[:, :3] * painted[:, :3])
    np.testing.assert_array_equal(evaluate((ProgrammeStep("OBJECT"),), object_colour=np.array(A)), A)
    np.testing.assert_array_equal(evaluate((ProgrammeStep("ATTRIBUTE"),)), np.ones(4))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_works_on_many_places_at_once(operation: str) -> None:
    texels = np.random.default_rng(1).uniform(0.1, 1.0, (5, 4))
    step = ProgrammeStep(operation, 0, (0.5, 0.8, 0.9, 0.7), (A, B) if operation == "RAMP" else ())
    programme = (*(ProgrammeStep("TEXTURE"),) * OPERATIONS[operation].takes, step)
    many, one = evaluate(programme, [texels]), evaluate(programme, [texels[:1]])
    np.testing.assert_allclose(np.broadcast_to(many, (5, 4))[0], np.broadcast_to(one, (1, 4))[0])


@pytest.mark.parametrize(("programme", "said"), [
    ((ProgrammeStep("NO_SUCH"),), "'NO_SUCH' is no operation; there are NUMBER, "),
    ((*number(1.0), ProgrammeStep("ADD")), "ADD takes 2 values, there are 1"),
    (number(1.0) * 2, "a programme leaves 2 values, not one"),
    ((), "a programme leaves 0 values, not one"),
    (number(1.0) * (MAX_DEPTH + 1), f"holds more than {MAX_DEPTH} values at once"),
    ((ProgrammeStep("TEXTURE", 1),), "texture 1 is not among 1"),
    ((*number(1.0), ProgrammeStep("RAMP", table=(A,))), "RAMP takes a table of 2 colours or more, there are 1"),
])
def test_what_cannot_be_gone_through_is_said(programme: Programme, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Material(colour=programme, textures=(Texture(7),))


def test_too_many_textures_are_said() -> None:
    with pytest.raises(ValueError, match=f"a material has 5 textures; {MAX_TEXTURES} is the most"):
        Material(textures=(Texture(7),) * 5)
