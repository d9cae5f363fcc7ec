"""Materials on the GPU: a table for each colour mode, and their images."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Any, cast

import bpy
import gpu
import numpy as np

from ..bridge.materials.material_nodes import is_there
from ..bridge.materials.materials import ColourMode, Surface
from ..core.shading.material import (
    ALPHA_MODES,
    DARK,
    EXTENSIONS,
    MAX_TEXTURES,
    OPERATIONS,
    Colour,
    Material,
    Programme,
    ProgrammeStep,
    Texture,
)
from .instances import Rows, texture_of
from .shader import MATERIAL_ROWS

_OPERATIONS = {name: index for index, name in enumerate(OPERATIONS)}
NO_IMAGE = 0
"""The number for "no image"."""
Images = tuple[int, ...]
"""The numbers of a material's images, MAX_TEXTURES of them."""
NO_IMAGES: Images = (NO_IMAGE,) * MAX_TEXTURES


def images_of(material: Material) -> Images:
    """Return the images of a material's textures."""
    images = tuple(texture.image for texture in material.textures)
    return (*images, *(NO_IMAGE,) * (MAX_TEXTURES - len(images)))


def material_rows(materials: Sequence[Material]) -> Rows:
    """Return the rows that shaders/material.glsl reads: a header for each material, all steps, and their tables."""
    told = [_told(material) for material in materials]
    begin = len(materials) * MATERIAL_ROWS
    end = begin + 2 * sum(map(len, told))
    table_rows: dict[tuple[Colour, ...], int] = {}
    for table in (step.table for step in chain(*told) if step.table):
        table_rows.setdefault(table, end + sum(map(len, table_rows)))
    begins = [begin + 2 * before for before in accumulate(map(len, told), initial=0)]
    headers = [_header(material, first) for material, first in zip(materials, begins, strict=False)]
    rows = [row for step in chain(*told) for row in _step_rows(step, table_rows)]
    return np.concatenate((*headers, np.array([*rows, *chain(*table_rows)], dtype=np.float32).reshape(-1, 4)),
                          dtype=np.float32)


def _told(material: Material) -> Programme:
    """Return the steps of all of a material's programmes that are not constants."""
    return tuple(chain(*(programme for programme in material.programmes if _constant(programme) is None),
                       _glow(material)))


def _step_rows(step: ProgrammeStep, table_rows: dict[tuple[Colour, ...], int]) -> tuple[Colour, Colour]:
    """Return the rows of a step; for a table, the constants hold its first row and its length."""
    values = (float(table_rows[step.table]), float(len(step.table)), 0.0, 0.0) if step.table else step.values
    return (float(_OPERATIONS[step.operation]), float(step.which), float(OPERATIONS[step.operation].takes), 0.0), values


def material_table(surfaces: Iterable[Surface], mode: ColourMode) -> gpu.types.GPUTexture:
    """Upload the materials of surfaces in one colour mode."""
    return texture_of((material_rows([surface.materials[mode] for surface in surfaces]),))


def _header(material: Material, begin: int) -> Rows:
    header = np.zeros((MATERIAL_ROWS, 4), dtype=np.float32)
    constants = [_constant(programme) for programme in material.programmes]
    header[0] = [len(programme) if constant is None else 0
                 for programme, constant in zip(material.programmes, constants, strict=True)]
    header[1] = begin, material.normal, material.normal_strength, material.cutoff
    header[2] = constants[0] or 0.0
    header[3, 3] = len(_glow(material))
    header[3, :3] = [0.0 if constant is None else constant[0] for constant in constants[1:]]
    for index, texture in enumerate(material.textures):
        first, second = header[4 + 2 * index:6 + 2 * index]
        first[:3], second[:3] = texture.image_from_uv
        first[3], second[3] = texture.uv_map, _how_read(texture)
    return header


def _glow(material: Material) -> Programme:
    """Return the steps of a material's emission, empty if it emits nothing."""
    return () if material.emission == DARK else material.emission


def _constant(programme: Programme) -> tuple[float, float, float, float] | None:
    """Return the constant value of a programme, which then needs no steps, or None."""
    return programme[0].values if len(programme) == 1 and programme[0].operation == "NUMBER" else None


def _how_read(texture: Texture) -> int:
    return (EXTENSIONS.index(texture.extension) + 4 * ALPHA_MODES.index(texture.alpha_mode)
            + 16 * (not texture.is_smooth))


@dataclass(eq=False)
class ImagesOnGpu:
    """Images in Blender's own GPU copies, which also follow painting.

    They are requested for each picture, since an image may have been edited, reloaded, or deleted.
    """

    _images: dict[int, bpy.types.Image] | None = None
    _textures: dict[int, gpu.types.GPUTexture] = field(default_factory=dict)
    _white: gpu.types.GPUTexture | None = None

    def begin_picture(self) -> None:
        """Clear the images of the last picture."""
        self._images = None
        self._textures.clear()

    def texture(self, number: int) -> gpu.types.GPUTexture:
        """Return an image, or white if it no longer exists."""
        if number == NO_IMAGE:
            return self._nothing()
        if number not in self._textures:
            if self._images is None:
                self._images = {image.session_uid: image for image in bpy.data.images}
            image = self._images.get(number)
            there = image is not None and is_there(image)
            self._textures[number] = gpu.texture.from_image(cast(Any, image)) if there else self._nothing()
        return self._textures[number]

    def _nothing(self) -> gpu.types.GPUTexture:
        if self._white is None:
            white: Any = gpu.types.Buffer("FLOAT", 4, cast(Any, (1.0, 1.0, 1.0, 1.0)))
            self._white = gpu.types.GPUTexture((1, 1), format="RGBA32F", data=white)
        return self._white
