"""Rank transition methods and curves by what they do to the speed of joints over the seams.

python3 -m benchmarks.seams CLIP_FILE… plays all clips of each file in turn, at several tempos and transition
lengths, and prints for each method and curve: `speed`, the worst ratio of a joint's turn in one frame to the
larger of its clips' own fastest frame and the transition's mean (at most 3 is wanted of linear and cosine);
`jerk`, the mean and the worst change of angular velocity between neighbouring frames of the whole motion.
"""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from takt.core import rotations as rot
from takt.core.clip import Clip
from takt.core.formats import read_clips
from takt.core.motion import Motion, compose
from takt.core.pha.document import parse
from takt.core.pha.library import Library
from takt.core.pha.programme import resolve
from takt.core.pha.sequence import expand
from takt.core.skeleton import Pose
from takt.core.transitions.blending import Style
from takt.core.transitions.curves import CURVES
from takt.core.transitions.methods import METHODS

FRAME_S = 1.0 / 24.0
TEMPOS = (0.5, 1.0, 2.0)
TRANSITIONS_S = ("", "0.1", "0.3", "0.8")
STILL_RAD = 1e-4
"""A frame's turn below this says nothing about speed."""
UP = np.array((0.0, 1.0, 0.0))


def main(paths: list[str]) -> int:
    """Measure and print the table."""
    rows: dict[tuple[str, str], list[tuple[float, np.ndarray]]] = {}
    for path in map(Path, paths):
        clips = tuple(c for c in read_clips(path.read_bytes(), path) if c.duration_s > 0.0)
        for method, curve in _combinations():
            for tempo, transition in itertools.product(TEMPOS, TRANSITIONS_S):
                rows.setdefault((method, curve), []).append(
                    _measure(_motion(clips, tempo, transition, method, curve)))
    table = [(m, c, max(s for s, _ in found), np.concatenate([j for _, j in found])) for (m, c), found in rows.items()]
    sys.stdout.write(f"{'method':12} {'curve':9} {'speed':>7} {'jerk':>7} {'worst':>8}   (°/frame²)\n")
    for method, curve, speed, jerk in sorted(table, key=lambda row: float(row[3].mean())):
        sys.stdout.write(f"{method:12} {curve:9} {speed:7.2f} {np.degrees(jerk.mean()):7.3f} "
                         f"{np.degrees(jerk.max()):8.2f}\n")
    return 0


def _combinations() -> Iterator[tuple[str, str]]:
    for method in METHODS.values():
        for curve in CURVES.values():
            if method.shape == "ALONE" and curve.identifier != "LINEAR":
                continue
            if method.shape != "PULSE" or curve.pulse is not None:
                yield method.identifier, curve.identifier


def _motion(clips: tuple[Clip, ...], tempo: float, transition: str, method: str, curve: str) -> Motion:
    wished = f'transition="{transition}"' if transition else ""
    calls = "".join(f'<call name="{a}" duration="{clips[a].duration_s / tempo}" {wished}/>'
                    for pair in itertools.permutations(range(len(clips)), 2) for a in pair)
    named = tuple(Clip(str(i), c.skeleton, c.duration_s, c.rotations, c.translations, c.scales)
                  for i, c in enumerate(clips))
    text = f'<pha tickLength="1"><load src="x"/><procedure name="main">{calls}</procedure></pha>'
    programme = resolve(parse(text), Library(other_clips=lambda src: named))
    return compose(expand(programme), programme.clips, Style(method, curve, "SLERP"), root_motion="AS_AUTHORED", up=UP)


def _measure(motion: Motion) -> tuple[float, np.ndarray]:
    """Return the worst ratio of speeds in frames that transitions touch, and all changes of angular velocity."""
    times = np.arange(0.0, motion.duration_s, FRAME_S)
    velocity = _velocity(motion.sample(times))
    turned = np.linalg.norm(velocity, axis=-1)
    layout = motion.layout
    natural, touched = np.full(turned.shape, STILL_RAD), np.zeros(len(turned), dtype=np.bool_)
    for i, fastest in enumerate(_fastest(motion)):
        frames = _frames(times, layout.begin_s[i], layout.end_s[i])
        natural[frames] = np.maximum(natural[frames], fastest)
        if layout.window_end_s[i] > layout.window_begin_s[i]:
            frames = _frames(times, layout.window_begin_s[i], layout.window_end_s[i])
            mean = _gap(motion, i) * FRAME_S / (layout.window_end_s[i] - layout.window_begin_s[i])
            natural[frames] = np.maximum(natural[frames], np.maximum(mean, fastest))
            touched[frames] = True
    ratio = (turned / natural)[touched]
    return float(ratio.max(initial=0.0)), np.linalg.norm(np.diff(velocity, axis=0), axis=-1).ravel()


def _frames(times: np.ndarray, begin: float, end: float) -> slice:
    """Return the steps from frame to frame that a stretch of time touches."""
    return slice(max(int(np.searchsorted(times, begin, side="right")) - 1, 0), int(np.searchsorted(times, end)))


def _velocity(poses: Pose) -> np.ndarray:
    """Return rotation vectors between neighbouring frames, (F − 1, J, 3)."""
    axis, angle = rot.to_axis_angle(rot.multiply(rot.conjugate(poses.rotations[:-1]), poses.rotations[1:]))
    return axis * angle[..., None]


def _fastest(motion: Motion) -> list[np.ndarray]:
    """Return for each segment how far its clip's fastest frame turns each joint, at the played tempo."""
    found: dict[tuple[int, float], np.ndarray] = {}
    result = []
    for clip, length in zip(motion.sequence.clip, motion.layout.end_s - motion.layout.begin_s, strict=True):
        key = int(clip), round(float(length), 9)
        if key not in found:
            own = motion.clips[clip]
            step = FRAME_S * own.duration_s / length
            poses = own.sample(np.arange(0.0, own.duration_s + step, step / 4), "SLERP").rotations
            found[key] = rot.angle_between(poses[4:], poses[:-4]).max(axis=0, initial=0.0)
        result.append(found[key])
    return result


def _gap(motion: Motion, seam: int) -> np.ndarray:
    """Return how far each joint turns from the pose before a seam's window to the one after it."""
    a, b = motion.clips[motion.sequence.clip[seam]], motion.clips[motion.sequence.clip[seam + 1]]
    held = motion.sample(np.array((motion.layout.window_begin_s[seam] - 1e-9, motion.layout.window_end_s[seam])))
    last, first = a.sample(np.array((a.duration_s,))).rotations[0], b.sample(np.zeros(1)).rotations[0]
    last = np.where(a.moved[:, None], last, held.rotations[0])
    first = np.where(b.moved[:, None], first, last)
    return rot.angle_between(last, first)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
