"""Write a skeleton with clips, and a character's skin, as X3D 4 with H-Anim 2.

Files meet the needs of players (X_ITE's and Castle's trackers). All joints are listed in the humanoid's joints.
skinCoord is the same node as that of the shapes, by DEF and USE. There are as many normals as points. Motion is written
as interpolators, which every player knows, or as frames in HAnimMotion.
Source: ISO/IEC 19775-1:2023 (X3D), 19 and 26; ISO/IEC 19774:2019 (H-Anim).
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.clip_file import ClipFile
from ..clips.tracks import Tracks
from ..errors import TaktError, quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..maths.euler import to_euler
from ..maths.srgb import srgb
from ..skeletons import hanim
from ..skeletons.hierarchy import children_of
from ..skeletons.maps import SkeletonMap, find_map
from ..skeletons.skeleton import Skeleton
from ..skinning.influences import Influences
from .character import Look
from .x3d_scene import FULL_NAME, Names, attribute, text_value, token, tokens
from .x3d_skin import X3dSkin as X3dSkin

MAX_VALUES: Final = 20_000_000
"""Numbers of motion; as many are read."""
_SAME_AXES: Final = 1e-9
"""Sine of half the angle up to which axes at rest count as the model's."""
_STANDS: Final = 1e-6
"""Radians and metres up to which a humanoid stands at the origin."""
_STILL_S: Final = 1.0
"""How long a sensor's interval is for a clip that lasts no time."""
_SKIN_PARTS: Final = ("points", "normals", "uvs")
_MOVES: Final = "6 Xposition Yposition Zposition"
_IMAGES: Final = {b"\x89PNG": "png", b"\xff\xd8": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
_HEAD: Final = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE X3D PUBLIC "ISO//Web3D//DTD X3D 4.0//EN" "https://www.web3d.org/specifications/x3d-4.0.dtd">
<X3D profile="Immersive" version="4.0" xmlns:xsd="http://www.w3.org/2001/XMLSchema-instance" \
xsd:noNamespaceSchemaLocation="https://www.web3d.org/specifications/x3d-4.0.xsd">
<head>
<component name="HAnim" level="2"/>
<meta name="title" content={title}/>
<meta name="generator" content="Takt"/>
</head>
<Scene>
"""


@dataclass(frozen=True, eq=False)
class X3dFile(ClipFile):
    """The contents of an X3D file to write. as_frames: write evenly spaced frames in HAnimMotion, not interpolators.

    place: a matrix (4, 4), a rotation and a translation, that places the humanoid in the scene; None for the origin.
    """

    skin: X3dSkin | None = None
    as_frames: bool = False
    place: FloatArray | None = None


def write(file: ClipFile, fps: float) -> bytes:
    """Write a skeleton with its clips as X3D in XML; an X3dFile with its skin.

    file: all on one skeleton, whose axes at rest are the model's. Known joints get the names of H-Anim 2, and a body
    with a known map is written in H-Anim's axes. The first clip plays when the file is opened, in a loop. fps: frames
    per second, for HAnimMotion, in which scales are left out.
    Raises TaktError for a joint with axes or a scale of its own at rest, and for clips of another skeleton. It also
    does for weights of joints that do not exist, and for more than MAX_VALUES numbers.
    """
    skin, as_frames = (file.skin, file.as_frames) if isinstance(file, X3dFile) else (None, False)
    skeleton = file.skeleton
    own = (np.abs(skeleton.rest_rotations[:, 1:]) > _SAME_AXES).any(axis=1) | (skeleton.rest_scales != 1.0).any(axis=1)
    if own.any():
        raise TaktError(f"joint {quoted(skeleton.names[int(np.argmax(own))])} has axes or a scale of its own at rest, "
                        "which X3D cannot hold; put the clip on a skeleton with the model's axes first")
    other = next((clip.name for clip in file.played if clip.skeleton is not skeleton), None)
    if other is not None:
        raise TaktError(f"clip {quoted(other)} belongs to another skeleton; a file holds one")
    if skin is not None and skin.influences.joints.max(initial=0) >= len(skeleton):
        raise TaktError(f"a vertex is moved by joint {skin.influences.joints.max()}; there are {len(skeleton)}")
    writer = _Writer(skeleton, file.place if isinstance(file, X3dFile) else None)
    return writer.file(file.played, fps, skin, as_frames).encode("utf-8")


class _Writer:
    """Writes one humanoid. Everything is converted to H-Anim's axes while it is written."""

    def __init__(self, skeleton: Skeleton, place: FloatArray | None) -> None:
        found = find_map(skeleton)
        self._skeleton = skeleton
        known = found.is_humanoid and found.is_sure
        is_turned = known and found.turn is not None and not np.array_equal(np.abs(found.turn), rot.IDENTITY)
        self._turn = rot.conjugate(found.turn) if is_turned and found.turn is not None else rot.IDENTITY
        heading = rot.IDENTITY if place is None else rot.from_matrix(place[:3, :3])
        self._heading = rot.multiply(heading, rot.conjugate(self._turn)) if place is not None else rot.IDENTITY
        self._shift = np.zeros(3) if place is None else place[:3, 3]
        self.names = _names(skeleton, found if known else None)
        self._humanoid = token(skeleton.name) or "Humanoid"
        self._defs = Names((self._humanoid, *(f"{self._humanoid}_skin_{part}" for part in _SKIN_PARTS)))
        self._joints = [self._defs.new(f"{self._humanoid}_{name}") for name in self.names]
        self._texts: dict[bytes, str] = {}
        self._images: dict[str, str] = {}

    def file(self, clips: Sequence[Clip], fps: float, skin: X3dSkin | None, as_frames: bool) -> str:
        """Return the whole file."""
        sensors = [self._defs.new(clip.name or "Clip") for clip in clips]
        named = [self._defs.new(f"{self._humanoid}_{clip.name or 'Clip'}") for clip in clips]
        motions = list(chain.from_iterable(self._frames(*each, fps) for each in zip(clips, named, strict=True))
                       ) if as_frames else []
        after = list(chain.from_iterable(self._interpolators(clip, sensor, clip is clips[0])
                                         for clip, sensor in zip(clips, sensors, strict=True))) if not as_frames else []
        title = attribute(self._skeleton.name or self._humanoid)
        parts = [_HEAD.format(title=title), self._viewpoint(), *self._humanoid_parts(skin, motions), *after,
                 "</Scene>\n</X3D>\n"]
        return "".join(parts)

    def _turned(self, vectors: FloatArray) -> FloatArray:
        return vectors if self._turn is rot.IDENTITY else rot.rotate(self._turn, vectors)

    def _viewpoint(self) -> str:
        """Look at the whole body from in front, where it stands."""
        places = self._turned(self._skeleton.rest_world[:, :, 3])
        low, high = places.min(axis=0), places.max(axis=0)
        middle = (low + high) / 2.0
        eye = middle + np.array((0.0, 0.0, 2.5 * max(float((high - low).max()), 1e-3)))
        eye, middle = (rot.rotate(self._heading, point) + self._shift for point in (eye, middle))
        axis, angle = rot.to_axis_angle(self._heading)
        turned = f' orientation="{_text(np.append(axis, angle))}"' if angle > _STANDS else ""
        return f'<Viewpoint description="Front" position="{_text(eye)}" centerOfRotation="{_text(middle)}"{turned}/>\n'

    def _humanoid_parts(self, skin: X3dSkin | None, motions: list[str]) -> Iterator[str]:
        name, uvs = self._humanoid, None
        if skin is not None:
            skin, uvs = skin.split()
        yield f'<HAnimHumanoid DEF="{name}" name="{name}" version="2.0"{self._placed()}>\n'
        if self._skeleton.name not in ("", name):
            yield _full_name(self._skeleton.name)
        if skin is not None:
            points, normals = self._turned(skin.positions), self._turned(skin.normals)
            yield f'<Coordinate containerField="skinCoord" DEF="{name}_skin_points" point="{_text(points)}"/>\n'
            yield f'<Normal containerField="skinNormal" DEF="{name}_skin_normals" vector="{_text(normals)}"/>\n'
        yield from self._joint_parts(skin.influences if skin is not None else None)
        for joint in self._joints:
            yield f'<HAnimJoint USE="{joint}" containerField="joints"/>\n'
        yield from motions
        if skin is not None:
            yield from self._shapes(skin, uvs)
        yield "</HAnimHumanoid>\n"

    def _placed(self) -> str:
        """Return the humanoid's place in the scene, as attributes; "" for the origin."""
        axis, angle = rot.to_axis_angle(self._heading)
        turned = f' rotation="{_text(np.append(axis, angle))}"' if angle > _STANDS else ""
        return turned + (f' translation="{_text(self._shift)}"' if np.abs(self._shift).max() > _STANDS else "")

    def _joint_parts(self, influences: Influences | None) -> Iterator[str]:
        """Yield the tree of joints."""
        weights = _by_joint(influences, len(self._skeleton)) if influences is not None else {}
        centers = self._turned(self._skeleton.rest_world[:, :, 3])
        children = children_of(self._skeleton.parents)
        stack = [(root, False) for root in np.flatnonzero(self._skeleton.parents < 0)[::-1].tolist()]
        while stack:
            joint, is_done = stack.pop()
            if is_done:
                yield "</HAnimJoint>\n"
                continue
            where = ' containerField="skeleton"' if self._skeleton.parents[joint] < 0 else ""
            yield (f'<HAnimJoint DEF="{self._joints[joint]}" name="{self.names[joint]}"{where} '
                   f'center="{_text(centers[joint])}"{weights.get(joint, "")}>\n')
            if self._skeleton.names[joint] != self.names[joint]:
                yield _full_name(self._skeleton.names[joint])
            stack.append((joint, True))
            stack.extend((child, False) for child in reversed(children[joint]))

    def _shapes(self, skin: X3dSkin, uvs: FloatArray | None) -> Iterator[str]:
        """Yield a shape for each look of each mesh; all share the points, normals and texture coordinates."""
        name, is_first = self._humanoid, True
        looks = list(dict.fromkeys(skin.looks))
        material = np.array([looks.index(look) for look in skin.looks], np.int64)[skin.material]
        kinds, kind_of = np.unique(skin.of_mesh * len(looks) + material, return_inverse=True)
        for kind, whole in enumerate(kinds.tolist()):
            mesh, look, coordinates = skin.names[whole // len(looks)], looks[whole % len(looks)], ""
            index = " ".join(map(str, skin.triangles[kind_of == kind].ravel().tolist()))
            if uvs is not None and (look.image or look.texture):
                coordinates = (f'<TextureCoordinate DEF="{name}_skin_uvs" point="{_text(uvs)}"/>\n' if is_first else
                               f'<TextureCoordinate USE="{name}_skin_uvs"/>\n')
                is_first = False
            seen = self._appearance(look, bool(coordinates))
            called = self._defs.new(mesh) if mesh else ""
            defined = f' DEF="{called}"' if called else ""
            full_name = _full_name(mesh) if called != mesh else ""
            yield (f'<Shape{defined} containerField="skin">\n{full_name}<Appearance>{seen}</Appearance>\n'
                   f'<IndexedTriangleSet index="{index}" solid="false">\n<Coordinate USE="{name}_skin_points"/>\n'
                   f'<Normal USE="{name}_skin_normals"/>\n{coordinates}</IndexedTriangleSet>\n</Shape>\n')

    def _appearance(self, look: Look, is_textured: bool) -> str:
        """Return the material of a look, and its texture: the bytes of an image in the file, else its path."""
        colour = "1 1 1" if is_textured else _text(srgb(np.array(look.colour)))
        name = self._defs.new(look.name) if look.name else ""
        defined = f' DEF="{name}"' if name else ""
        material = f'<Material{defined} diffuseColor="{colour}"'
        material += "/>" if name == look.name else f">{_full_name(look.name)}</Material>"
        if not is_textured:
            return material
        kind = next((kind for magic, kind in _IMAGES.items() if look.image.startswith(magic)), "png")
        url = f"data:image/{kind};base64,{base64.b64encode(look.image).decode()}" if look.image else look.texture
        if url in self._images:
            return f'{material}<ImageTexture USE="{self._images[url]}"/>'
        self._images[url] = self._defs.new(f"{self._humanoid}_image")
        return f'{material}<ImageTexture DEF="{self._images[url]}" url={attribute(text_value(url))}/>'

    def _interpolators(self, clip: Clip, sensor: str, is_first: bool) -> Iterator[str]:
        """Yield a sensor for a clip, an interpolator for each track, and the routes that lead to joints."""
        interval = clip.duration_s or _STILL_S
        enabled = "" if is_first else ' enabled="false"'
        said = "" if clip.name == sensor else f" description={attribute(clip.name)}"
        yield f'<TimeSensor DEF="{sensor}"{said} cycleInterval="{interval:.12g}" loop="true"{enabled}/>\n'
        _check_size(sum(each.values.size + each.times_s.size for each in (clip.rotations, clip.translations,
                                                                          clip.scales)), clip)
        for tracks, taken in ((clip.rotations, "rotation"), (clip.translations, "translation"),
                              (clip.scales, "scale")):
            closed = tracks.closed(clip.duration_s) if clip.is_looping else tracks
            kind = "OrientationInterpolator" if taken == "rotation" else "PositionInterpolator"
            values = self._in_hanim(closed, taken)
            for track, joint in enumerate(closed.joints.tolist()):
                rows = slice(*closed.starts[track:track + 2].tolist())
                name = self._defs.new(f"{sensor}_{self._joints[joint]}_{taken}")
                yield (f'<{kind} DEF="{name}" key="{self._shares(closed.times_s[rows], interval)}" '
                       f'keyValue="{_text(values[rows])}"/>\n'
                       f'<ROUTE fromNode="{sensor}" fromField="fraction_changed" toNode="{name}" '
                       f'toField="set_fraction"/>\n<ROUTE fromNode="{name}" fromField="value_changed" '
                       f'toNode="{self._joints[joint]}" toField="set_{taken}"/>\n')

    def _in_hanim(self, tracks: Tracks, taken: str) -> FloatArray:
        """Return the values of all keys: rotations as axes and angles (N, 4), the others (N, 3)."""
        values = tracks.values
        if taken == "rotation":
            axes, angles = rot.to_axis_angle(values)
            return np.concatenate((self._turned(axes), angles[:, None]), axis=1)
        if taken == "scale":  # the diagonal of R · diag(s) · Rᵀ, which keeps mirrored axes mirrored
            return np.asarray(values @ np.square(rot.to_matrix(self._turn)).T)
        return self._turned(values)

    def _shares(self, times_s: FloatArray, interval_s: float) -> str:
        """Write times as shares of an interval; the same text for the same times."""
        key = times_s.tobytes() + np.float64(interval_s).tobytes()
        if key not in self._texts:
            self._texts[key] = _text(times_s / interval_s, 12)
        return self._texts[key]

    def _frames(self, clip: Clip, full_name: str, fps: float) -> Iterator[str]:
        """Yield a clip as HAnimMotion. full_name: its DEF, which is the humanoid's name before its own."""
        name = full_name.removeprefix(self._humanoid + "_")
        frames = int(min(np.rint(clip.duration_s * fps), 1e15)) + 1
        joints = np.flatnonzero(clip.moved)
        moves = np.isin(joints, clip.translations.joints)
        _check_size(frames * int((3 + 3 * moves).sum()), clip)
        pose = clip.sample(np.arange(frames) / fps)
        columns, channels = [], []
        for joint, is_moving in zip(joints.tolist(), moves.tolist(), strict=True):
            if is_moving:
                columns.append(self._turned(pose.translations[:, joint]))
            turns = pose.rotations[:, joint]
            if self._turn is not rot.IDENTITY:
                turns = rot.multiply(rot.multiply(self._turn, turns), rot.conjugate(self._turn))
            columns.append(np.degrees(to_euler(turns, "XYZ"))[:, ::-1])
            channels.append(f"{_MOVES if is_moving else '3'} Zrotation Yrotation Xrotation")
        names = " ".join(self.names[joint] for joint in joints.tolist())
        values = _text(np.concatenate(columns, axis=1)) if columns else ""
        said = "" if clip.name == name else f" description={attribute(clip.name)}"
        yield (f'<HAnimMotion containerField="motions" DEF="{full_name}" name="{name}"{said} enabled="true" '
               f'loop="true" frameDuration="{1.0 / fps:.12g}" joints="{names}" channels="{", ".join(channels)}" '
               f'values="{values}"/>\n')


def _names(skeleton: Skeleton, found: SkeletonMap | None) -> list[str]:
    """Return a name for each joint: that of H-Anim 2 if it is known, else its own, in characters valid in X3D."""
    newer = {old: new for new, old in hanim.VERSION_2.items()}
    meant = found.meant if found is not None else (None,) * len(skeleton)
    standard = [newer.get(name, name) if name is not None else None for name in meant]
    taken = {name for name in standard if name is not None}
    own = tokens(skeleton.names, taken)
    return [name or other for name, other in zip(standard, own, strict=True)]


def _by_joint(influences: Influences, joints: int) -> dict[int, str]:
    """Return for each joint that moves vertices their indices and weights, as attributes."""
    vertices, column = np.nonzero(influences.weights > 0.0)
    which, weights = influences.joints[vertices, column], influences.weights[vertices, column]
    order = np.argsort(which, kind="stable")
    edges = np.searchsorted(which[order], np.arange(joints + 1))
    found = {}
    for joint in np.unique(which).tolist():
        rows = order[edges[joint]:edges[joint + 1]]
        found[joint] = (f' skinCoordIndex="{" ".join(map(str, vertices[rows].tolist()))}" '
                        f'skinCoordWeight="{_text(weights[rows])}"')
    return found


def _full_name(name: str) -> str:
    """Return a name that no DEF and no standard joint can have, as metadata of its node."""
    return (f'<MetadataString containerField="metadata" name="{FULL_NAME}" '
            f'value={attribute(text_value(name))}/>\n')


def _check_size(values: int, clip: Clip) -> None:
    if values > MAX_VALUES:
        raise TaktError(f"clip {quoted(clip.name)} has {values} numbers; at most {MAX_VALUES} are written: take fewer "
                        "frames per second")


def _text(values: FloatArray, digits: int = 9) -> str:
    """Write numbers with blanks between them."""
    flat = values.ravel().tolist()
    return " ".join([f"%.{digits}g"] * len(flat)) % tuple(flat)
