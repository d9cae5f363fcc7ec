"""The motion of HAnimMotion: evenly spaced frames of channels in degrees and lengths, as in BVH files.

Source: ISO/IEC 19774-2:2019, H-Anim motion, 4 and 6.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from ..errors import quoted, some_of
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons import hanim
from .number_text import words
from .x3d_body import Body
from .x3d_carrier import Keys
from .x3d_scene import Node, Scene

Moves = Mapping[tuple[int, str], Keys]
"""The keys of a joint's property, by the joint's index in a body and the property."""
_CHANNELS: Final = {f"{axis}{kind}".lower(): (kind, number) for kind in ("position", "rotation", "scale")
                    for number, axis in enumerate("XYZ")}
_LONGEST_S: Final = 1e6


def seconds_of(scene: Scene, node: Node, name: str, default: float) -> float:
    """Return a time of a field, in seconds, which must be greater than 0."""
    found = float(scene.vector(node, name, (default,))[0])
    if not 0.0 < found <= _LONGEST_S:
        raise scene.error(f"{node.said}: {name} is {found:g}; seconds greater than 0 and up to {_LONGEST_S:g} are "
                          "wanted", node.fields[name].line)
    return found


def frames_of(scene: Scene, body: Body, motion: Node) -> tuple[float, Moves]:
    """Return the duration of an HAnimMotion, and the motion of its joints."""
    frame_s = seconds_of(scene, motion, "frameDuration", 0.1)
    channels = _channels(scene, motion)
    count = sum(map(len, channels))
    values = scene.numbers(motion, "values", 1)[:, 0]
    if not count or not len(values) or len(values) % count:
        line = motion.fields["values"].line if "values" in motion.fields else motion.line
        raise scene.error(f"{motion.said}: values holds {len(values)} numbers, expected a multiple of its {count} "
                          "channels, and at least one frame", line)
    named = words(scene.text(motion, "joints"))
    if len(named) != len(channels):
        line = motion.fields["joints"].line if "joints" in motion.fields else motion.line
        raise scene.error(f"{motion.said}: joints names {len(named)} joints, but channels are for {len(channels)}; as "
                          "many are wanted", line)
    frames = values.reshape(-1, count)
    times: FloatArray = np.arange(len(frames), dtype=np.float64) * frame_s
    joint_of, unknown = _by_name(body), list[str]()
    enabled = words(scene.text(motion, "channelsEnabled").lower())
    moves: dict[tuple[int, str], Keys] = {}
    at = 0
    for number, (name, own) in enumerate(zip(named, channels, strict=True)):
        columns = frames[:, at:at + len(own)]
        at += len(own)
        joint = joint_of.get(hanim.canonical(name) or name)
        if joint is None and name != "IGNORED":
            unknown.append(name)
        if joint is not None and enabled[number:number + 1] != ["false"]:
            moves |= {(joint, taken): Keys(times, each) for taken, each in _of_columns(own, columns)}
    if unknown:
        names = some_of([quoted(name) for name in unknown], 3)
        scene.note(f"{motion.said} moves joints that {body.name} does not have: {names}", motion.line)
    return float(times[-1]), moves


def _by_name(body: Body) -> dict[str, int]:
    """Return the joints of a body by their names; standard joints by those of version 1."""
    names = zip(body.called, hanim.canonical_names(body.called), strict=True)
    return {meant or name: joint for joint, (name, meant) in enumerate(names)}


def _channels(scene: Scene, motion: Node) -> list[list[str]]:
    """Return the channels, in lower case, of each joint that a motion names."""
    found: list[list[str]] = []
    wanted = list[int]()
    text = scene.text(motion, "channels")
    for word in words(text):
        if word.isdecimal():
            found.append([])
            wanted.append(int(word[:9]))
        else:
            if not found:
                found.append([])
            found[-1].append(word.lower())
    if wanted and len(wanted) == len(found):
        wrong = next((i for i, own in enumerate(found) if len(own) != wanted[i]), None)
        if wrong is not None:
            raise scene.error(f"{motion.said}: channels announces {wanted[wrong]} for joint {wrong + 1}, but names "
                              f"{len(found[wrong])}", motion.fields["channels"].line)
    return found


def _of_columns(channels: list[str], columns: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Yield the properties that channels give, with their values (F, C) in frames (F, N) of degrees and lengths."""
    kinds: dict[str, list[tuple[int, int]]] = {}
    for column, word in enumerate(channels):
        if word in _CHANNELS:
            kind, axis = _CHANNELS[word]
            kinds.setdefault(kind, []).append((column, axis))
    for kind, taken, rest in (("position", "translation", 0.0), ("scale", "scale", 1.0)):
        if kind in kinds:
            values = np.full((len(columns), 3), rest)
            for column, axis in kinds[kind]:
                values[:, axis] = columns[:, column]
            yield taken, values
    if "rotation" in kinds:
        q = rot.identities(len(columns))
        for column, axis in kinds["rotation"]:
            q = rot.multiply(q, rot.from_axis_angle(np.eye(3)[axis], np.radians(columns[:, column])))
        yield "rotation", rot.continuous(q)
