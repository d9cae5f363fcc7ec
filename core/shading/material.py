"""Materials as a shader needs them: colours as small programmes over images, a painted colour and plain numbers.

A programme is a list of steps in postfix order: each takes its operands from a stack of RGBA values and pushes one
result. So a chain of nodes becomes data that the GPU runs for each pixel (shaders/material.glsl). `evaluate` runs it
here, as the shader's reference. Colours are linear.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ..maths.arrays import FloatArray

Extension = Literal["REPEAT", "EXTEND", "CLIP", "MIRROR"]
EXTENSIONS: tuple[Extension, ...] = ("REPEAT", "EXTEND", "CLIP", "MIRROR")
"""What is seen beyond an image's edges: the image again, its edge, nothing, its mirror image."""
AlphaMode = Literal["STRAIGHT", "PREMULTIPLIED", "NONE"]
ALPHA_MODES: tuple[AlphaMode, ...] = ("STRAIGHT", "PREMULTIPLIED", "NONE")
MAX_TEXTURES = 4
"""In one material."""
MAX_DEPTH = 6
"""Greatest depth of the stack."""
_RED, _GREEN, _BLUE = 0.2126, 0.7152, 0.0722
LUMINANCE = 4
"""The channel after red, green, blue and alpha: how bright a colour looks (Rec. 709)."""

UvMatrix = tuple[tuple[float, float, float], tuple[float, float, float]]
UV_IDENTITY: UvMatrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


@dataclass(frozen=True)
class Texture:
    """An image laid onto a surface.

    image: its number. uv_map: which of a surface's two UV maps, 0 or 1. image_from_uv: a matrix (2, 3).
    """

    image: int
    uv_map: int = 0
    image_from_uv: UvMatrix = UV_IDENTITY
    extension: Extension = "REPEAT"
    alpha_mode: AlphaMode = "STRAIGHT"
    is_smooth: bool = True


Colour = tuple[float, float, float, float]
"""Red, green, blue and alpha."""


class ProgrammeStep(NamedTuple):
    """One step of a programme: a key of OPERATIONS; which texture or channel; constants; colours to look up.

    table: for RAMP, two or more colours, evenly from 0 to 1.
    """

    operation: str
    which: int = 0
    values: Colour = (0.0, 0.0, 0.0, 0.0)
    table: tuple[Colour, ...] = ()


Programme = tuple[ProgrammeStep, ...]


def number(red: float, green: float | None = None, blue: float | None = None, alpha: float = 1.0) -> Programme:
    """Return the programme of a constant: a grey value, or a colour."""
    return (ProgrammeStep("NUMBER", 0, (red, red if green is None else green, red if blue is None else blue, alpha)),)


_GREY, _ONE, _NONE, _HALF_ROUGH = number(0.8), number(1.0), number(0.0), number(0.4)
DARK: Programme = number(0.0)
"""What does not glow."""


@dataclass(frozen=True)
class Material:
    """The material of a surface.

    colour, alpha, metallic, roughness: programmes; of the last three the red channel is used. textures: those of the
    programmes and of the normal map, at most MAX_TEXTURES. normal: the index of the normal map among them, or −1.
    cutoff: below this alpha nothing is drawn, or, if is_blended, the surface is blended over its background.
    painted: the name of the painted colour that ATTRIBUTE reads, "": the mesh's default. emission: a programme
    for emitted light, which is added to the reflected light.
    """

    colour: Programme = _GREY
    alpha: Programme = _ONE
    metallic: Programme = _NONE
    roughness: Programme = _HALF_ROUGH
    textures: tuple[Texture, ...] = ()
    normal: int = -1
    normal_strength: float = 1.0
    cutoff: float = 0.0
    is_blended: bool = False
    painted: str = ""
    emission: Programme = DARK

    def __post_init__(self) -> None:
        """Check every programme and the number of textures; raise ValueError if one is not valid."""
        if len(self.textures) > MAX_TEXTURES:
            raise ValueError(f"a material has {len(self.textures)} textures; {MAX_TEXTURES} is the most")
        for name in ("colour", "alpha", "metallic", "roughness", "emission"):
            check_programme(getattr(self, name), len(self.textures))

    @property
    def programmes(self) -> tuple[Programme, Programme, Programme, Programme]:
        """Colour, alpha, metallic, roughness."""
        return self.colour, self.alpha, self.metallic, self.roughness


def check_programme(programme: Programme, textures: int) -> None:
    """Raise ValueError unless a programme leaves one value, stays within MAX_DEPTH, and uses only existing textures.

    >>> check_programme((ProgrammeStep("ADD"),), textures=0)
    Traceback (most recent call last):
    ValueError: ADD takes 2 values, there are 0
    """
    depth = 0
    for step in programme:
        if step.operation not in OPERATIONS:
            raise ValueError(f"{step.operation!r} is no operation; there are {', '.join(OPERATIONS)}")
        takes = OPERATIONS[step.operation].takes
        if depth < takes:
            raise ValueError(f"{step.operation} takes {takes} values, there are {depth}")
        depth += 1 - takes
        if depth > MAX_DEPTH:
            raise ValueError(f"a programme holds more than {MAX_DEPTH} values at once")
        if step.operation == "RAMP" and len(step.table) < 2:
            raise ValueError(f"RAMP takes a table of 2 colours or more, there are {len(step.table)}")
        if step.operation == "TEXTURE" and not 0 <= step.which < textures:
            raise ValueError(f"texture {step.which} is not among {textures}")
    if depth != 1:
        raise ValueError(f"a programme leaves {depth} values, not one")


def evaluate(programme: Programme, texels: Sequence[FloatArray] = (), painted: FloatArray | None = None,
             object_colour: FloatArray | None = None) -> FloatArray:
    """Return the result of a programme, (N, 4), or (4,) if it uses no input with N values.

    texels: (N, 4) of each texture. painted: (N, 4). object_colour: (4,), one for the whole object.

    >>> evaluate((*number(0.5), *number(0.25), ProgrammeStep("ADD"))).tolist()
    [0.75, 0.75, 0.75, 2.0]
    """
    stack: list[FloatArray] = []
    for step in programme:
        operation = OPERATIONS[step.operation]
        taken = [stack.pop() for _ in range(operation.takes)][::-1]
        if step.operation == "TEXTURE":
            stack.append(texels[step.which])
        elif step.operation == "ATTRIBUTE" and painted is not None:
            stack.append(painted)
        elif step.operation == "OBJECT" and object_colour is not None:
            stack.append(object_colour)
        elif step.operation == "RAMP":
            stack.append(_ramp(np.array(step.table), *taken))
        else:
            stack.append(np.asarray(operation.work(step.which, np.array(step.values), *taken)))
    return stack[0]


class Operation(NamedTuple):
    """The number of values that a step takes from the stack, and the function of its number, constants and these."""

    takes: int
    work: Callable[..., FloatArray]


def _white(_: int, __: FloatArray) -> FloatArray:
    return np.ones(4)


def _channel(which: int, _: FloatArray, a: FloatArray) -> FloatArray:
    found = a[..., :3] @ np.array((_RED, _GREEN, _BLUE)) if which == LUMINANCE else a[..., which]
    return np.repeat(np.asarray(found)[..., None], 4, axis=-1)


def _blend(mixed: Callable[[FloatArray, FloatArray], FloatArray]) -> Operation:
    """Return an operation on factor, a, b that blends a with the mixed colour by the factor. The alpha is a's."""
    def work(_: int, __: FloatArray, factor: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
        share = factor[..., :1]
        return _with_alpha_of(a, a * (1.0 - share) + mixed(a, b) * share)

    return Operation(3, work)


def _of_two(combined: Callable[[FloatArray, FloatArray], FloatArray]) -> Operation:
    return Operation(2, lambda _, __, a, b: combined(a, b))


def _with_alpha_of(a: FloatArray, colour: FloatArray) -> FloatArray:
    alpha = np.broadcast_to(a[..., 3:], (*colour.shape[:-1], 1))
    return np.concatenate((colour[..., :3], alpha), axis=-1)


def _ramp(table: FloatArray, a: FloatArray) -> FloatArray:
    """Return a colour for each red channel, from 0 to 1, interpolated in the table."""
    place = np.clip(a[..., 0], 0.0, 1.0) * (len(table) - 1)
    before = np.minimum(place.astype(np.intp), len(table) - 2)
    share = (place - before)[..., None]
    return np.asarray(table[before] * (1.0 - share) + table[before + 1] * share)


def _hue(_: int, values: FloatArray, a: FloatArray) -> FloatArray:
    """Change hue (0.5: unchanged), saturation and value, blended by a factor, as Blender's node does."""
    hue, saturation, value, share = values
    top, bottom = a[..., :3].max(axis=-1), a[..., :3].min(axis=-1)
    chroma = np.where(top > bottom, top - bottom, 1.0)[..., None]
    red, green, blue = np.moveaxis((top[..., None] - a[..., :3]) / chroma, -1, 0)
    angle = np.where(a[..., 0] == top, blue - green, np.where(a[..., 1] == top, 2.0 + red - blue, 4.0 + green - red))
    angle = np.where(top > bottom, angle / 6.0, 0.0) + hue + 0.5
    strength = np.clip(np.where(top > 0.0, (top - bottom) / np.where(top > 0.0, top, 1.0), 0.0) * saturation, 0.0, 1.0)
    wheel = np.clip(np.abs((angle[..., None] + np.array((0.0, 2.0, 1.0)) / 3.0) % 1.0 * 6.0 - 3.0) - 1.0, 0.0, 1.0)
    turned = (top * value)[..., None] * (1.0 + (wheel - 1.0) * strength[..., None])
    return _with_alpha_of(a, np.maximum(a[..., :3] * (1.0 - share) + turned * share, 0.0))


OPERATIONS: dict[str, Operation] = {
    "NUMBER": Operation(0, lambda _, values: values),
    "TEXTURE": Operation(0, _white),
    "ATTRIBUTE": Operation(0, _white),
    "OBJECT": Operation(0, _white),
    "CHANNEL": Operation(1, _channel),
    "COLOUR": Operation(3, lambda _, __, *rgb: np.stack(
        np.broadcast_arrays(*(part[..., 0] for part in rgb), np.float64(1.0)), axis=-1)),
    "MIX": _blend(lambda a, b: b),
    "BLEND_ADD": _blend(lambda a, b: a + b),
    "BLEND_MULTIPLY": _blend(lambda a, b: a * b),
    "BLEND_SUBTRACT": _blend(lambda a, b: a - b),
    "BLEND_SCREEN": _blend(lambda a, b: 1.0 - (1.0 - a) * (1.0 - b)),
    "BLEND_DIFFERENCE": _blend(lambda a, b: np.abs(a - b)),
    "BLEND_DARKEN": _blend(np.minimum),
    "BLEND_LIGHTEN": _blend(np.maximum),
    "BLEND_OVERLAY": _blend(lambda a, b: np.where(a < 0.5, 2.0 * a * b, 1.0 - 2.0 * (1.0 - a) * (1.0 - b))),
    "ADD": _of_two(np.add),
    "SUBTRACT": _of_two(np.subtract),
    "MULTIPLY": _of_two(np.multiply),
    "LESS": _of_two(lambda a, b: np.asarray(a < b, dtype=np.float64)),
    "GREATER": _of_two(lambda a, b: np.asarray(a > b, dtype=np.float64)),
    "SMALLER_OF": _of_two(np.minimum),
    "LARGER_OF": _of_two(np.maximum),
    "POWER": _of_two(lambda a, b: np.maximum(a, 0.0) ** b),
    "ROUND": Operation(1, lambda _, __, a: np.floor(a + 0.5)),
    "CLAMP": Operation(1, lambda _, __, a: np.clip(a, 0.0, 1.0)),
    "HUE": Operation(1, _hue),
    "GAMMA": Operation(1, lambda _, values, a: _with_alpha_of(a, np.maximum(a, 0.0) ** values[0])),
    "CONTRAST": Operation(1, lambda _, values, a: _with_alpha_of(
        a, np.maximum(a * (1.0 + values[1]) + values[0] - values[1] / 2.0, 0.0))),
    "INVERT": Operation(1, lambda _, values, a: _with_alpha_of(a, a * (1.0 - values[0]) + (1.0 - a) * values[0])),
    "RAMP": Operation(1, _white),
}
"""By name; the shader knows each by its index. Three look something up, white where there is nothing; RAMP looks it up
in its table."""
