"""Write a clip as BVH; see bvh.py."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..errors import TaktError, quoted
from ..maths.arrays import FloatArray
from ..maths.euler import to_euler
from ..skeletons.hierarchy import children_of
from ..skeletons.skeleton import Skeleton

LONGEST_FRAME_S: Final = 4.0
"""Longest frame time; a longer one is read as milliseconds: 240 frames per second make 4.17 ms."""
MAX_VALUES: Final = 100_000_000
"""Frames × joints; no more are written."""
_SAME_AXES: Final = 1e-9
"""Sine of half the angle up to which axes at rest count as the model's."""


def write(clip: Clip, frame_time_s: float, ends: Mapping[str, FloatArray] | None = None) -> bytes:
    """Write a clip as BVH, sampled at frame_time_s; scales are left out, since BVH has none.

    clip: on a skeleton whose axes at rest are the model's. Roots and joints that move get position channels.
    ends: offsets of End Sites by joint; other End Sites have offset zero.
    Raises TaktError for a joint with axes or a scale of its own at rest, a name with { or }, and more than MAX_VALUES
    frames × joints. The frame time must be greater than 0 and at most LONGEST_FRAME_S.
    """
    skeleton = clip.skeleton
    own = (np.abs(skeleton.rest_rotations[:, 1:]) > _SAME_AXES).any(axis=1) | (skeleton.rest_scales != 1.0).any(axis=1)
    if own.any():
        raise TaktError(f"joint {quoted(skeleton.names[int(np.argmax(own))])} has axes or a scale of its own at rest, "
                        "which BVH cannot hold; put the clip on a skeleton with the model's axes first")
    if not 0.0 < frame_time_s <= LONGEST_FRAME_S:
        raise TaktError(f"a frame time of {frame_time_s} s; seconds greater than 0 are wanted, and at most "
                        f"{LONGEST_FRAME_S:g}: longer ones are taken for milliseconds")
    frames = int(min(np.rint(clip.duration_s / frame_time_s), 1e15)) + 1
    if frames * len(skeleton) > MAX_VALUES:
        raise TaktError(f"{clip.duration_s:g} s in frames of {frame_time_s:g} s make more frames of "
                        f"{len(skeleton)} joints than are written; take a longer frame time")
    moving = (skeleton.parents < 0) | np.isin(np.arange(len(skeleton)), clip.translations.joints)
    order: list[int] = []
    lines = ["HIERARCHY"]
    for root in np.flatnonzero(skeleton.parents < 0):
        lines += _joint_lines(skeleton, int(root), moving, ends or {}, order)
    pose = clip.sample(np.arange(frames, dtype=np.float64) * frame_time_s)
    columns = []
    for joint in order:
        if moving[joint]:
            columns.append(skeleton.rest_translations[joint] + pose.translations[:, joint])
        columns.append(_zyx_degrees(pose.rotations[:, joint]))
    text = io.BytesIO()
    np.savetxt(text, np.concatenate(columns, axis=1), fmt="%.9g")
    lines += ["MOTION", f"Frames: {frames}", f"Frame Time: {frame_time_s:.9g}", ""]
    return "\n".join(lines).encode("utf-8") + text.getvalue()


def _joint_lines(skeleton: Skeleton, root: int, moving: np.ndarray, ends: Mapping[str, FloatArray],
                 order: list[int]) -> list[str]:
    """Return the lines of a joint and all its descendants; each joint is appended to order as it is written."""
    children = children_of(skeleton.parents)
    lines: list[str] = []
    stack: list[tuple[int, int, bool]] = [(root, 0, False)]
    while stack:
        joint, depth, is_done = stack.pop()
        tabs = "\t" * depth
        if is_done:
            lines.append(tabs + "}")
            continue
        name = skeleton.names[joint]
        if not name.strip() or re.search(r"[{}\n\r]", name) or name != name.strip():
            raise TaktError(f"the name {quoted(name)} does not fit into a BVH file: it is empty, or holds a brace, a "
                            f"line's end or outer blanks; rename it")
        order.append(joint)
        channels = "6 Xposition Yposition Zposition " if moving[joint] else "3 "
        lines += [f"{tabs}{'JOINT' if depth else 'ROOT'} {name}", tabs + "{",
                  f"{tabs}\tOFFSET {_vector_text(skeleton.rest_translations[joint])}",
                  f"{tabs}\tCHANNELS {channels}Zrotation Yrotation Xrotation"]
        own_children = children[joint]
        if not own_children or name in ends:
            lines += [f"{tabs}\tEnd Site", tabs + "\t{",
                      f"{tabs}\t\tOFFSET {_vector_text(np.asarray(ends.get(name, np.zeros(3))))}", tabs + "\t}"]
        stack.append((joint, depth, True))
        stack.extend((child, depth + 1, False) for child in reversed(own_children))
    return lines


def _vector_text(vector: FloatArray) -> str:
    return " ".join(f"{value:.9g}" for value in vector)


def _zyx_degrees(q: FloatArray) -> FloatArray:
    """Return angles (F, 3) about z, y, x of q = z · y · x, without jumps."""
    return np.degrees(to_euler(q, "XYZ"))[:, ::-1]
