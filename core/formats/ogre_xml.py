"""OGRE's XML skeleton files (`.skeleton.xml`). Source: OGRE's XMLSkeletonSerializer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

import numpy as np

from ..clips.clip import Clip
from ..errors import FileError, TaktError, quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from .format import MAX_BYTES, Format
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
from .ogre_links import linked_clips
from .ogre_xml_keys import Keys
from .ogre_xml_values import child, error, grandchildren, number, scale, text, vector
from .xml import Documents, Element, parse

_BLEND_MODES: Final[dict[str, BlendMode]] = {"average": "AVERAGE", "cumulative": "CUMULATIVE"}
_XYZ: Final = ("x", "y", "z")
DOCUMENTS: Final = Documents(max_bytes=MAX_BYTES)


def read(data: bytes, path: Path | None = None) -> OgreSkeleton:
    """Read an XML skeleton.

    data: the whole file; path: for messages and the skeleton's name.
    Elements and attributes that are not known are passed over, as OGRE does. Raises FileError with line and
    column where something is missing or does not fit.
    """
    keys = Keys(path)
    root = parse(data, path, DOCUMENTS, taker=keys)
    return assemble(_Reader(path, keys).records(root), name_of(path))


class _Reader:
    """Collects the records of a document, which names bones; records know them by handle."""

    def __init__(self, path: Path | None, keys: Keys) -> None:
        self._path, self._keys = path, keys
        self._handles: dict[str, int] = {}

    def records(self, root: Element) -> Records:
        if root.tag != "skeleton":
            raise self._error(root, f"this is no OGRE skeleton: its root is <{quoted(root.tag)[1:-1]}>, "
                                    f"where <skeleton> is wanted")
        mode = root.attributes.get("blendmode", "average")
        if mode not in _BLEND_MODES:
            raise self._error(root, f"blendmode is {quoted(mode)}; average and cumulative are known")
        bones = [self._bone(element, i) for i, element in enumerate(grandchildren(root, "bones", "bone"))]
        parents = [(self._handle(e, "bone"), self._handle(e, "parent"), e.place(self._path))
                   for e in grandchildren(root, "bonehierarchy", "boneparent")]
        animations = [self._animation(e) for e in grandchildren(root, "animations", "animation")]
        links = tuple(Link(self._text(e, "skeletonName"), self._number(e, "scale", 1.0))
                      for e in grandchildren(root, "animationlinks", "animationlink"))
        return Records(bones, parents, animations, self._keys.table(), self._keys.place, links, _BLEND_MODES[mode])

    def _bone(self, bone: Element, order: int) -> BoneRecord:
        """Read a bone; order: its handle if the file gives no id."""
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
        position, size = child(bone, "position"), child(bone, "scale")
        return BoneRecord(handle, name, vector(position, self._path, 0.0) if position else (0.0,) * 3,
                          self._rotation(bone), scale(size, self._path) if size else (1.0,) * 3,
                          bone.place(self._path))

    def _rotation(self, bone: Element) -> tuple[float, ...]:
        """Return the quaternion of a bone's angle and axis; the identity if they are missing."""
        rotation = child(bone, "rotation")
        if rotation is None:
            return tuple(rot.IDENTITY.tolist())
        axis = child(rotation, "axis")
        if axis is None:
            raise self._error(rotation, "<rotation> has no <axis>")
        return tuple(rot.from_axis_angle(np.array(vector(axis, self._path)), self._number(rotation, "angle")).tolist())

    def _animation(self, animation: Element) -> AnimationRecord:
        tracks = []
        for element in grandchildren(animation, "tracks", "track"):
            keyframes = child(element, "keyframes")
            first, last = self._keys.rows[keyframes.line, keyframes.column] if keyframes else (0, 0)
            tracks.append(TrackRecord(self._handle(element, "bone"), first, last, element.place(self._path)))
        info = child(animation, "baseinfo")
        base = Base(info.attributes.get("baseanimationname", ""),
                    self._number(info, "basekeyframetime", 0.0)) if info else None
        return AnimationRecord(self._text(animation, "name"), self._number(animation, "length"), base, tracks,
                               animation.place(self._path))

    def _number(self, element: Element, attribute: str, default: float | None = None) -> float:
        return number(element, attribute, self._path, default)

    def _text(self, element: Element, attribute: str) -> str:
        return text(element, attribute, self._path)

    def _handle(self, element: Element, attribute: str) -> int:
        name = self._text(element, attribute)
        if name not in self._handles:
            raise self._error(element, f"{attribute} of <{element.tag}> is {quoted(name)}; no bone has that name")
        return self._handles[name]

    def _error(self, element: Element, message: str) -> FileError:
        return error(element, message, self._path)


def write(ogre: OgreSkeleton) -> bytes:
    """Write an XML skeleton. Numbers have all digits that are needed to read the same float64.

    Raises TaktError if a name contains a character that XML cannot hold.
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
    parts = [_text_of(lines), *(part for clip in ogre.clips for part in _animation_parts(ogre, clip))]
    lines = ["\t</animations>"]
    if ogre.links:
        lines += ["\t<animationlinks>", *(f'\t\t<animationlink skeletonName={_name(link.skeleton)} '
                                          f'scale="{float(link.scale)!r}"/>' for link in ogre.links),
                  "\t</animationlinks>"]
    return b"".join((*parts, _text_of([*lines, "</skeleton>"])))


def _text_of(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def _animation_parts(ogre: OgreSkeleton, clip: Clip) -> Iterator[bytes]:
    """Yield the text of an animation track by track: a list of all lines would take several times the memory."""
    lines = [f'\t\t<animation name={_name(clip.name)} length="{float(clip.duration_s)!r}">']
    if base := ogre.bases.get(clip.name):
        lines.append(f'\t\t\t<baseinfo baseanimationname={_name(base.clip)} '
                     f'basekeyframetime="{float(base.time_s)!r}"/>')
    yield _text_of([*lines, "\t\t\t<tracks>"])
    for joint, keys in key_table(clip):
        yield _text_of([f"\t\t\t\t<track bone={_name(ogre.skeleton.names[joint])}>", "\t\t\t\t\t<keyframes>",
                        *_key_lines(keys), "\t\t\t\t\t</keyframes>", "\t\t\t\t</track>"])
    yield _text_of(["\t\t\t</tracks>", "\t\t</animation>"])


def _key_lines(keys: FloatArray) -> Iterable[str]:
    """Return the text of a track's keys (K, 11); values that equal rest are left out."""
    axes, angles = rot.to_axis_angle(keys[:, 1:5])
    table = np.concatenate((keys[:, :1], keys[:, 5:8], angles[:, None], axes, keys[:, 8:11]), axis=1)
    moves, scales = (keys[:, 5:8] != 0.0).any(axis=1), (keys[:, 8:11] != 1.0).any(axis=1)
    for row, is_moved, is_scaled in zip(table.tolist(), moves.tolist(), scales.tolist(), strict=True):
        t, x, y, z, angle, ax, ay, az, sx, sy, sz = row
        move = f'<translate x="{x!r}" y="{y!r}" z="{z!r}"/>' if is_moved else ""
        scale = f'<scale x="{sx!r}" y="{sy!r}" z="{sz!r}"/>' if is_scaled else ""
        yield (f'\t\t\t\t\t\t<keyframe time="{t!r}">{move}<rotate angle="{angle!r}">'
               f'<axis x="{ax!r}" y="{ay!r}" z="{az!r}"/></rotate>{scale}</keyframe>')


def _vector_text(vector: FloatArray) -> str:
    return " ".join(f'{axis}="{value!r}"' for axis, value in zip(_XYZ, vector.tolist(), strict=True))


def _name(text: str) -> str:
    """Quote a name as an attribute; line feeds and tabs are written as references, which parsers keep."""
    if any((ord(c) < 32 and c not in "\t\n\r") or c in "\ufffe\uffff" or "\ud800" <= c <= "\udfff" for c in text):
        raise TaktError(f"the name {quoted(text)} holds a character that XML does not allow; rename it")
    return quoteattr(text)


FORMAT: Final = Format("OGRE_XML", "OGRE XML", (".skeleton.xml",), read=lambda source: read(source.data, source.path),
                       write=lambda file, _fps: write(OgreSkeleton.of_file(file)), follow_links=linked_clips,
                       begins=("<",))
