"""Mesh data shared by several objects: vertex groups belong to the data, so all users have the same weights."""

from collections.abc import Sequence
from typing import cast

import bpy
import numpy as np

from ...core.skinning.influences import Influences


def part_meshes(mesh_objects: Sequence[bpy.types.Object], influences: Sequence[Influences]) -> list[str]:
    """Give objects a copy of their mesh data if other users of the data get other weights, or none.

    influences: of each object. Objects with the same weights still share their data. Returns the names of the objects
    that got a copy.
    """
    copied: list[str] = []
    for data in {ob.data: None for ob in mesh_objects}:
        users = [ob for ob in bpy.data.objects if ob.data == data]
        ours = [index for index, ob in enumerate(mesh_objects) if ob.data == data]
        alike = _alike(ours, influences)
        kept = alike[:1] if len(ours) == len(users) else []
        for some in alike:
            if some not in kept:
                own = cast(bpy.types.Mesh, data).copy()
                for index in some:
                    mesh_objects[index].data = own
                    copied.append(mesh_objects[index].name)
    return copied


def _alike(indices: Sequence[int], influences: Sequence[Influences]) -> list[list[int]]:
    """Return indices grouped by equal influences."""
    found: list[list[int]] = []
    for index in indices:
        own = influences[index]
        for some in found:
            other = influences[some[0]]
            if np.array_equal(other.joints, own.joints) and np.allclose(other.weights, own.weights):
                some.append(index)
                break
        else:
            found.append([index])
    return found
