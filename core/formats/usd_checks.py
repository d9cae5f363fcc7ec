"""Detect damaged values in a USD layer that can still be read; these give warnings, and are played.

A crate file has no checksum. But quaternions of UsdSkel have unit length, keys follow each other smoothly, and matrices
of joints are rotations with a scale. The schema defines which properties a prim may have.
Source: OpenUSD, UsdSkel manual (SkelAnimation, Skeleton); Sdf, SdfSchema (fields of the pseudo root).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..errors import quoted, some_of
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from .usd_layer import Layer, Prim

_OFF_UNIT: Final = 2e-3
"""Tolerance of the length of quaternions from 1: in half precision, it is off by 5e-4."""
_STEPS: Final = 12.0
"""A value is wrong if its neighbours are close to each other, but it is far from both: by this many times the usual
step and the steps around it."""
_LEAST: Final = {"translations": 0.02, "rotations": 0.5, "scales": 0.02}
"""Least distances that count as far: a share of the longest bone, radians, and a factor."""
_APART: Final = 100.0
"""Times are wrong if they are farther from all others than this many times the usual time between keys."""
_SHEAR: Final = 1e-3
_LARGEST, _SMALLEST = 1e4, 1e-3
"""Plausible distances between the farthest joints at rest, in metres."""
_RATES: Final = (1.0, 10_000.0)
_FEW: Final = 4
_NAMED: Final = 3
_OWN: Final = {
    "Skeleton": frozenset(("joints", "jointNames", "bindTransforms", "restTransforms")),
    "SkelAnimation": frozenset(("joints", "translations", "rotations", "scales", "blendShapes", "blendShapeWeights"))}
_OF_ALL: Final = frozenset(("visibility", "purpose", "xformOpOrder", "proxyPrim", "extent"))
_METADATA: Final = frozenset((
    "defaultPrim", "documentation", "comment", "customLayerData", "startTimeCode", "endTimeCode", "timeCodesPerSecond",
    "framesPerSecond", "framePrecision", "owner", "sessionOwner", "upAxis", "metersPerUnit", "kilogramsPerUnit",
    "subLayers", "subLayerOffsets", "primChildren", "hasOwnedSubLayers", "layerRelocates", "relocates",
    "expressionVariables", "renderSettingsPrimPath", "colorConfiguration", "colorManagementSystem", "autoPlay",
    "playbackMode", "startFrame", "endFrame", "primOrder", "properties", "fallbackPrimTypes", "doc"))


def check_layer(layer: Layer) -> None:
    """Warn of metadata unknown to USD, an axis that does not exist, and an implausible frame rate."""
    unknown = [quoted(name) for name in layer.metadata if name not in _METADATA and ":" not in name]
    if unknown:
        layer.note(f"has metadata that USD does not know: {some_of(unknown, _NAMED)}; {_DAMAGED}")
    up = layer.words(layer.metadata["upAxis"])[:1] if "upAxis" in layer.metadata else ()
    if up and up[0] not in ("Y", "Z"):
        layer.note(f"upAxis is {quoted(up[0])}, where Y or Z is wanted; {_DAMAGED}")
    for name in ("timeCodesPerSecond", "framesPerSecond"):
        value = layer.number(name, _RATES[0])
        if not _RATES[0] <= value <= _RATES[1]:
            layer.note(f"{name} is {value:g}, where {_RATES[0]:g} to {_RATES[1]:g} is usual; {_DAMAGED}")


_DAMAGED: Final = "the file may be damaged"


def check_prim(layer: Layer, prim: Prim) -> None:
    """Warn of properties of a skeleton or an animation that are not in the schema, and of missing transforms."""
    own = _OWN[prim.kind] | _OF_ALL
    unknown = [quoted(name) for name in (*prim.attributes, *prim.targets) if ":" not in name and name not in own]
    if unknown:
        layer.note(f"{prim.path} has properties that a {prim.kind} has not: {some_of(unknown, _NAMED)}; {_DAMAGED}")
    wanted = ("translations", "rotations", "scales") if prim.kind == "SkelAnimation" else (
        "restTransforms", "bindTransforms")
    missing = [name for name in wanted if name not in prim.attributes]
    if missing:
        layer.note(f"{prim.path} has no {' and no '.join(missing)}, which a {prim.kind} is to have")


def check_paths(layer: Layer, prim: Prim, joints: Sequence[str]) -> None:
    """Warn of joints whose parents are not joints, if the parents of most others are."""
    known = frozenset(joints)
    below = [path for path in joints if "/" in path]
    lost = [quoted(path) for path in below if path.rpartition("/")[0] not in known]
    if lost and len(lost) * _FEW < len(below):
        layer.note(f"{prim.path}: joints lie below others that do not exist: {some_of(lost, _NAMED)}; {_DAMAGED}")


def check_known(layer: Layer, prim: Prim, known: int, unknown: Sequence[str]) -> None:
    """Warn of joints of an animation that its skeleton does not have, if it has most others."""
    if unknown and _FEW * len(unknown) < known:
        layer.note(f"{prim.path} moves joints that its skeleton does not have: "
                   f"{some_of([quoted(path) for path in unknown], _NAMED)}; {_DAMAGED}")


def check_matrices(layer: Layer, prim: Prim, name: str, rows: FloatArray, joints: Sequence[str], unit_m: float) -> None:
    """Warn of matrices (J, 4, 4), in rows as in the layer, that are not a rotation with a scale and a translation."""
    last = np.abs(rows[:, :, 3] - (0.0, 0.0, 0.0, 1.0)).max(axis=1)
    length = np.linalg.norm(rows[:, :3, :3], axis=2)
    is_flat = (length <= 0.0).any(axis=1)
    axes = rows[:, :3, :3] / np.where(length > 0.0, length, 1.0)[:, :, None]
    shear = np.abs(axes @ axes.swapaxes(1, 2) - np.eye(3)).max(axis=(1, 2))
    wrong = np.flatnonzero((last > _SHEAR) | is_flat | (shear > _SHEAR))
    if len(wrong):
        layer.note(f"{prim.path}: {name} of {_named(joints, wrong)} are not rotations with a scale; {_DAMAGED}")
    places = rows[:, 3, :3]
    size = unit_m * float(np.ptp(places, axis=0).max())
    if name == "bindTransforms" and len(rows) > _FEW and not _SMALLEST <= size <= _LARGEST:
        layer.note(f"{prim.path}: {name} put joints {size:.3g} m apart, where {_SMALLEST:g} to {_LARGEST:g} is usual; "
                   f"{_DAMAGED}")
    far = np.linalg.norm(places - np.median(places, axis=0), axis=1)
    alone = np.flatnonzero(far > _APART * np.median(far))
    if len(rows) > _FEW and len(alone) and np.median(far) > 0.0:
        layer.note(f"{prim.path}: {name} put {_named(joints, alone)} far from all other joints; {_DAMAGED}")


def _named(joints: Sequence[str], rows: IntArray) -> str:
    return some_of([quoted(joints[row]) for row in rows.tolist()], _NAMED)


def check_keys(layer: Layer, prim: Prim, name: str, joints: Sequence[str], codes: FloatArray, values: FloatArray,
               size: float) -> None:
    """Warn of keys that differ much from others of their joint, and of times far from all others.

    codes: (F,) time codes; values: (F, N, C) of N joints, quaternions wxyz. size: the longest bone in the layer's unit.
    """
    if name == "rotations":
        length = np.linalg.norm(values, axis=2)
        is_off = np.asarray(np.abs(length - 1.0) > _OFF_UNIT)
        _note(layer, prim, name, joints, codes, is_off, "quaternions are not of unit length")
    if name == "scales":
        _note(layer, prim, name, joints, codes, np.asarray((values <= 0.0).any(axis=2)), "scales are 0 or less")
    if len(codes) < _FEW:
        return
    gaps = np.diff(codes)
    wide = int(gaps.argmax())
    if gaps[wide] > _APART * np.median(gaps):
        layer.note(f"{prim.path}: {name} have no key between time codes {codes[wide]:g} and {codes[wide + 1]:g}; "
                   f"{_DAMAGED}")
    if name == "rotations":
        steps, across = (rot.angle_between(_unit(values[by:]), _unit(values[:-by])) for by in (1, 2))
    else:
        steps, across = (np.linalg.norm(values[by:] - values[:-by], axis=2) for by in (1, 2))
    least = _LEAST[name] * (size if name == "translations" else 1.0)
    far = np.minimum(steps[1:], steps[:-1])
    padded = np.pad(steps, ((2, 2), (0, 0)), mode="edge")
    padded[:2] = padded[-2:] = 0.0
    beside = np.max([padded[by:by + len(far)] for by in (0, 1, 4, 5)], axis=0)  # the steps before and after, both
    is_alone = np.zeros(values.shape[:2], np.bool_)
    is_alone[1:-1] = (far > _STEPS * np.maximum(beside, np.median(steps, axis=0)) + least) & (far > 2.0 * across)
    _note(layer, prim, name, joints, codes, is_alone, "keys jump away and back at once")


def _unit(q: FloatArray) -> FloatArray:
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(length > 0.0, q / np.where(length > 0.0, length, 1.0), rot.IDENTITY)


def _note(layer: Layer, prim: Prim, name: str, joints: Sequence[str], codes: FloatArray, is_wrong: BoolArray,
          what: str) -> None:
    """Note what is wrong with some values (F, N) of an animation, and where the first of them is."""
    if is_wrong.any():
        frame, joint = (int(each[0]) for each in np.nonzero(is_wrong))
        where = f" at time code {codes[frame]:g}" if len(codes) else ""
        layer.note(f"{prim.path}: in {name} {int(is_wrong.sum())} {what}, first that of {quoted(joints[joint])}"
                   f"{where}; {_DAMAGED}")
