"""A picture of each transition method: the angle of a joint over the seam of two clips."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..clips.clip import Clip, Tracks
from ..library.library import Library
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Skeleton
from .motion import Motion
from .performer import Performer
from .score import Settings, perform

PICTURE_PX: Final = 128
_SEAM_S: Final = 2.0
_SHOWN_S: Final = (1.0, 3.6)
"""Span of time in the picture: methods that insert time begin the next clip after the seam."""
_SCORE: Final = ('<pha tickLength="1"><load src="a"/><procedure name="main"><call name="a.before" duration="2" '
                 'transition="0.8"/><call name="a.after" duration="2"/></procedure></pha>')
_BEFORE, _AFTER, _BETWEEN, _OWN = (0.40, 0.60, 0.92), (0.34, 0.74, 0.54), (0.96, 0.64, 0.14), (0.5, 0.5, 0.5)
_LINE_PX, _THIN_PX, _MARGIN, _BEAT_ALPHA = 6.0, 2.0, 0.12, 0.5
_X: Final = np.array((1.0, 0.0, 0.0))
_LOWEST_RAD, _HIGHEST_RAD = -0.9, 1.4


def method_picture(method: str, pixels: int = PICTURE_PX) -> FloatArray:
    """Draw the angle of a joint in a transition by a method: colours (H, W, 4) from 0 to 1, the lowest row first.

    Blue is the clip before, orange the transition, green the clip after. Thin lines are the clips as authored, the
    vertical line is the beat of the seam. Raises TaktError if there is no such method.

    >>> method_picture("LEAD", 32).shape
    (32, 32, 4)
    """
    motion = _danced(method)
    times_s = np.linspace(*_SHOWN_S, pixels)
    begin_s, end_s = motion.layout.window_begin_s[0], motion.layout.window_end_s[0]
    picture = np.zeros((pixels, pixels, 4))
    picture[:, np.abs(times_s - _SEAM_S) <= (_SHOWN_S[1] - _SHOWN_S[0]) / pixels] = (*_OWN, _BEAT_ALPHA)
    colours = np.where((times_s < begin_s)[:, None], _BEFORE, np.where((times_s > end_s)[:, None], _AFTER, _BETWEEN))
    for clip in range(2):
        start_s, stop_s = motion.layout.begin_s[clip], motion.layout.end_s[clip]
        own = motion.clips[clip].sample((times_s - start_s) / (stop_s - start_s) * 2.0, "SLERP").rotations[:, 0]
        is_there = (times_s >= start_s) & (times_s <= stop_s)
        _draw_line(picture, np.where(is_there, _angles(own), np.nan), np.tile(_OWN, (pixels, 1)), _THIN_PX)
    _draw_line(picture, _angles(motion.sample(times_s).rotations[:, 0]), colours, _LINE_PX)
    return picture


def _danced(method: str) -> Motion:
    """Return the motion of a joint in two clips: the first swings up with an accent, the second begins lower."""
    skeleton = Skeleton.from_arrays(("joint",), (-1,), rot.identities(1), np.zeros((1, 3)))
    times = np.linspace(0.0, 2.0, 41)
    accent = 0.25 * np.exp(-((times - 1.8) / 0.1)**2)
    angles = 0.3 + 0.7 * np.sin(2.2 * times - 2.6) + accent, -0.15 - 0.5 * np.sin(2.4 * times - 0.4)
    clips = tuple(Clip(name, skeleton, 2.0, Tracks.uniform(
        np.array((0,)), times, rot.from_axis_angle(_X, angle)[:, None]), Tracks.empty(3), Tracks.empty(3))
        for name, angle in zip(("before", "after"), angles, strict=True))
    settings = Settings(method=method, root_motion="AS_AUTHORED", lock_feet=False)
    return perform(_SCORE, None, Library(other_clips=lambda _: clips), Performer(skeleton, _X), settings)


def _angles(rotations: FloatArray) -> FloatArray:
    return np.asarray(2.0 * np.arctan2(rotations[:, 1], rotations[:, 0]))


def _draw_line(picture: FloatArray, angles: FloatArray, colours: FloatArray, wide_px: float) -> None:
    """Draw a line over a picture. angles: (W,) of each column, NaN for none. colours: (W, 3)."""
    pixels = len(picture)
    share = _MARGIN + (1.0 - 2.0 * _MARGIN) * (angles - _LOWEST_RAD) / (_HIGHEST_RAD - _LOWEST_RAD)
    rows = np.arange(pixels)[:, None] + 0.5
    away = np.abs(rows - share * pixels) / np.hypot(1.0, np.gradient(share * pixels))
    cover = np.nan_to_num(np.clip(wide_px * pixels / PICTURE_PX / 2.0 + 0.5 - away, 0.0, 1.0))[..., None]
    picture[..., :3] = picture[..., :3] * (1.0 - cover) + colours * cover
    picture[..., 3:] = cover + picture[..., 3:] * (1.0 - cover)
