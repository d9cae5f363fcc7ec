"""OGRE's XML skeleton files (`.skeleton.xml`). Source: OGRE's XMLSkeletonSerializer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

import numpy as np

from .. import rotations as rot
from ..arrays import FloatArray
from ..clip import Clip
from ..errors import FileError, Place, TaktError, quoted
from .ogre import (
    MAX_BONES,
    AnimationRecord,
    Base,
    BlendMode,
    BoneRecord,
    Link,
    OgreSkeleton,
    Records,
    TrackRecord,
    assemble,
    key_table,
    name_of,
)
from .xml import Element, parse

_BLEND_MODES: Final[dict[str, BlendMode]] = {"average": "AVERAGE", "cumulative": "CUMULATIVE"}
_XYZ: Final = ("x", "y", "z")
_MAX_NUMBER: Final = float(np.finfo(np.float32).max)
"""OGRE reads numbers as float32."""


def read(data: bytes, path: Path | None = None) -> OgreSkeleton:
    """Read an XML skeleton.

    data: the whole file; path: for messages and the skeleton's name.
    Elements and attributes that are not known are passed over, as OGRE does. Raises FileError with line and
    column where something is missing or does not fit.
    """
    return assemble(_Reader(path).records(parse(data, path)), name_of(path))


class _Reader:
    """Collects the records of a document; bones are told by name in it, and by handle in the records."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._handles: dict[str, int] = {}
        self._keys: list[tuple[float, ...]] = []
        self._key_places: list[tuple[int, int]] = []

    def records(self, root: Element) -> Records:
        if root.tag != "skeleton":
            raise self._error(root, f"this is no OGRE skeleton: its root is <{quoted(root.tag)[1:-1]}>, "
                                    f"where <skeleton> is wanted")
        mode = root.attributes.get("blendmode", "average")
        if mode not in _BLEND_MODES:
            raise self._error(root, f"blendmode is {quoted(mode)}; average and cumulative are known")
        bones = [self._bone(element, i) for i, element in enumerate(_grandchildren(root, "bones", "bone"))]
        parents = [(self._handle(e, "bone"), self._handle(e, "parent"), e.place(self._path))
                   for e in _grandchildren(root, "bonehierarchy", "boneparent")]
        animations = [self._animation(e) for e in _grandchildren(root, "animations", "animation")]
        links = tuple(Link(self._text(e, "skeletonName"), self._number(e, "scale", 1.0))
                      for e in _grandchildren(root, "animationlinks", "animationlink"))
        return Records(bones, parents, animations, _with_quaternions(self._keys), self._place_of_key, links,
                       _BLEND_MODES[mode])

    def _bone(self, bone: Element, order: int) -> BoneRecord:
        """Read a bone; newer writers leave the id out, then the order of bones is the handle."""
        name = self._text(bone, "name")
        handle = order
        if "id" in bone.attributes:
            number = self._number(bone, "id")
            if number != int(number) or not 0 <= number < MAX_BONES:
                raise self._error(bone, f"id is {quoted(bone.attributes['id'])}; a whole number from 0 to "
                                        f"{MAX_BONES - 1} is wanted")
            handle = int(number)
        if name in self._handles:
            raise self._error(bone, f"a second bone named {quoted(name)}; names must differ")
        self._handles[name] = handle
        position = _child(bone, "position")
        key = (0.0, *self._rotation(bone, "rotation"))
        quaternion = _with_quaternions([(*key, *(0.0,) * 3, *(1.0,) * 3)])[0, 1:5]
        return BoneRecord(handle, name, self._vector(position, 0.0) if position else (0.0,) * 3,
                          tuple(quaternion), self._scale(bone), bone.place(self._path))

    def _animation(self, animation: Element) -> AnimationRecord:
        tracks = []
        for element in _grandchildren(animation, "tracks", "track"):
            first = len(self._keys)
            for key in _grandchildren(element, "keyframes", "keyframe"):
                move = _child(key, "translate")
                self._keys.append((self._number(key, "time"), *self._rotation(key, "rotate"),
                                   *(self._vector(move, 0.0) if move else (0.0,) * 3), *self._scale(key)))
                self._key_places.append((key.line, key.column))
            tracks.append(TrackRecord(self._handle(element, "bone"), first, len(self._keys),
                                      element.place(self._path)))
        info = _child(animation, "baseinfo")
        base = Base(info.attributes.get("baseanimationname", ""),
                    self._number(info, "basekeyframetime", 0.0)) if info else None
        return AnimationRecord(self._text(animation, "name"), self._number(animation, "length"), base, tracks,
                               animation.place(self._path))

    def _rotation(self, element: Element, tag: str) -> tuple[float, float, float, float]:
        """Return angle and axis of the child; without it there is no rotation."""
        rotation = _child(element, tag)
        if rotation is None:
            return 0.0, 1.0, 0.0, 0.0
        axis = _child(rotation, "axis")
        if axis is None:
            raise self._error(rotation, f"<{tag}> has no <axis>")
        x, y, z = self._vector(axis)
        return self._number(rotation, "angle"), x, y, z

    def _scale(self, element: Element) -> tuple[float, float, float]:
        scale = _child(element, "scale")
        if scale is None:
            return 1.0, 1.0, 1.0
        if "factor" in scale.attributes:
            factor = self._number(scale, "factor")
            return factor, factor, factor
        return self._vector(scale, 1.0)

    def _vector(self, element: Element, default: float | None = None) -> tuple[float, float, float]:
        x, y, z = (self._number(element, axis, default) for axis in _XYZ)
        return x, y, z

    def _number(self, element: Element, attribute: str, default: float | None = None) -> float:
        if default is not None and attribute not in element.attributes:
            return default
        text = self._text(element, attribute)
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not abs(value) <= _MAX_NUMBER:
            raise self._error(element, f"{attribute} of <{element.tag}> is {quoted(text)}; a number between "
                                       f"{-_MAX_NUMBER:g} and {_MAX_NUMBER:g} is wanted")
        return value

    def _text(self, element: Element, attribute: str) -> str:
        if attribute not in element.attributes:
            raise self._error(element, f"<{element.tag}> has no {attribute}")
        return element.attributes[attribute]

    def _handle(self, element: Element, attribute: str) -> int:
        name = self._text(element, attribute)
        if name not in self._handles:
            raise self._error(element, f"{attribute} of <{element.tag}> is {quoted(name)}; no bone has that name")
        return self._handles[name]

    def _place_of_key(self, key: int) -> Place:
        return Place(self._path, *self._key_places[key])

    def _error(self, element: Element, message: str) -> FileError:
        return FileError.at(message, self._path, element.line, element.column)


def _child(element: Element, tag: str) -> Element | None:
    return next((child for child in element.children if child.tag == tag), None)


def _grandchildren(element: Element, group: str, tag: str) -> Iterator[Element]:
    """Yield the tags in the first group, as OGRE reads them."""
    found = _child(element, group)
    return (child for child in found.children if child.tag == tag) if found else iter(())


def _with_quaternions(keys: list[tuple[float, ...]]) -> FloatArray:
    """Turn the angle and axis in columns 1 to 4 into quaternions wxyz."""
    table = np.array(keys, dtype=np.float64).reshape(-1, 11)
    table[:, 1:5] = rot.from_axis_angle(table[:, 2:5], table[:, 1])
    return table


def write(ogre: OgreSkeleton) -> bytes:
    """Write an XML skeleton. Numbers keep all the digits that tell them apart as float64.

    Raises TaktError where a name holds a character that XML does not.
    """
    skeleton = ogre.skeleton
    order = np.argsort(ogre.handles, kind="stable")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<skeleton blendmode="{ogre.blend_mode.lower()}">', "\t<bones>"]
    axes, angles = rot.to_axis_angle(skeleton.rest_rotations)
    for joint in order:
        lines += [f'\t\t<bone id="{ogre.handles[joint]}" name={_name(skeleton.names[joint])}>',
                  f'\t\t\t<position {_vector_text(skeleton.rest_translations[joint])}/>',
                  f'\t\t\t<rotation angle="{float(angles[joint])!r}"><axis {_vector_text(axes[joint])}/></rotation>']
        if (skeleton.rest_scales[joint] != 1.0).any():
            lines.append(f'\t\t\t<scale {_vector_text(skeleton.rest_scales[joint])}/>')
        lines.append("\t\t</bone>")
    lines += ["\t</bones>", "\t<bonehierarchy>"]
    lines += [f"\t\t<boneparent bone={_name(skeleton.names[joint])} parent={_name(skeleton.names[parent])}/>"
              for joint in order if (parent := skeleton.parents[joint]) >= 0]
    lines += ["\t</bonehierarchy>", "\t<animations>"]
    for clip in ogre.clips:
        lines += _animation_lines(ogre, clip)
    lines.append("\t</animations>")
    if ogre.links:
        lines += ["\t<animationlinks>", *(f'\t\t<animationlink skeletonName={_name(link.skeleton)} '
                                          f'scale="{float(link.scale)!r}"/>' for link in ogre.links),
                  "\t</animationlinks>"]
    lines.append("</skeleton>\n")
    return "\n".join(lines).encode("utf-8")


def _animation_lines(ogre: OgreSkeleton, clip: Clip) -> list[str]:
    lines = [f'\t\t<animation name={_name(clip.name)} length="{float(clip.duration_s)!r}">']
    if base := ogre.bases.get(clip.name):
        lines.append(f'\t\t\t<baseinfo baseanimationname={_name(base.clip)} '
                     f'basekeyframetime="{float(base.time_s)!r}"/>')
    lines.append("\t\t\t<tracks>")
    for joint, keys in key_table(clip):
        lines += [f"\t\t\t\t<track bone={_name(ogre.skeleton.names[joint])}>", "\t\t\t\t\t<keyframes>",
                  *_key_lines(keys), "\t\t\t\t\t</keyframes>", "\t\t\t\t</track>"]
    return [*lines, "\t\t\t</tracks>", "\t\t</animation>"]


def _key_lines(keys: FloatArray) -> Iterable[str]:
    """Return the text of a track's keys (K, 11)."""
    axes, angles = rot.to_axis_angle(keys[:, 1:5])
    table = np.concatenate((keys[:, :1], keys[:, 5:8], angles[:, None], axes, keys[:, 8:11]), axis=1)
    plain = (keys[:, 8:11] == 1.0).all(axis=1)
    for (t, x, y, z, angle, ax, ay, az, sx, sy, sz), is_plain in zip(table.tolist(), plain.tolist(), strict=True):
        scale = "" if is_plain else f'<scale x="{sx!r}" y="{sy!r}" z="{sz!r}"/>'
        yield (f'\t\t\t\t\t\t<keyframe time="{t!r}"><translate x="{x!r}" y="{y!r}" z="{z!r}"/>'
               f'<rotate angle="{angle!r}"><axis x="{ax!r}" y="{ay!r}" z="{az!r}"/></rotate>{scale}</keyframe>')


def _vector_text(vector: FloatArray) -> str:
    return " ".join(f'{axis}="{value!r}"' for axis, value in zip(_XYZ, vector.tolist(), strict=True))


def _name(text: str) -> str:
    """Quote a name as an attribute; line feeds and tabs are written as references, which parsers keep."""
    if any((ord(c) < 32 and c not in "\t\n\r") or c in "\ufffe\uffff" or "\ud800" <= c <= "\udfff" for c in text):
        raise TaktError(f"the name {quoted(text)} holds a character that XML does not allow; rename it")
    return quoteattr(text)
