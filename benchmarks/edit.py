"""What an edit of a score costs that plays 50 MB of clips, before the new motion can be drawn.

python3 dev.py bench edit writes clips for the sample character into a temporary folder (seeded; half of the bytes OGRE
skeletons, half BVH), plays all of them by one score, and prints for each kind of edit, in milliseconds of the
processor, what its parts took: read (files), parse, resolve, expand, retarget, compose, the first sample, all that lies
between them as other, and all together; medians of several edits, and the worst of them. At most 20 ms are wanted for a
setting or a duration. Then it edits as one does with the preview on, where scores are performed beside the main thread:
for how long at most nothing else could be done there (50 ms are wanted), and after how long the new motion is drawn; by
the clock on the wall, so nothing else should run meanwhile. The last line says what the store holds.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np

import takt
from takt.bridge import properties
from takt.bridge.files.clip_store import CLIPS
from takt.bridge.rigs import joint_map
from takt.bridge.scores import performing, score
from takt.core.clips.clip import Clip, Tracks
from takt.core.formats import bvh, ogre_binary
from takt.core.formats.ogre import OgreSkeleton
from takt.core.library import library, store
from takt.core.maths import rotations as rot
from takt.core.playing import score as playing
from takt.samples.character import build_character
from takt.samples.skeleton import build_skeleton

from .timing import say

BYTES = 50_000_000
FRAMES, FPS, ROUNDS, RUNS = 300, 30.0, 3, 9
_REDRAW_S = 0.001
_PARTS: dict[str, tuple[Any, str]] = {
    "read": (library, "read_clip_file"), "parse": (performing, "parse"), "resolve": (performing, "resolve"),
    "expand": (playing, "expand"), "retarget": (store, "retarget"), "compose": (playing, "compose")}
"""Where each part is called; files are read before names are looked up, when the clips are listed."""
_context: Any = bpy.context


def main() -> int:
    """Write the clips, then measure one kind of edit after the other."""
    takt.register()
    with tempfile.TemporaryDirectory() as folder:
        names = write_clips(Path(folder), BYTES)
        rig, _ = build_character(_context)
        kept = properties.character(rig)
        kept.text, kept.library = bpy.data.texts.new("bench.pha"), folder
        say(f"Blender {bpy.app.version_string}, {len(names)} files, "
            f"{sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6:.1f} MB, {len(names) * ROUNDS} calls")
        say(f"{'':22}{''.join(f'{part:>10}' for part in (*_PARTS, 'sample', 'other', 'all', 'worst'))}")
        text = _score(names)
        _edit("first of all", rig, [_write(kept, text)])
        _edit("a curve", rig, [_set(rig, "curve", name) for name in _alternating("COSINE", "LINEAR")])
        _edit("a method", rig, [_set(rig, "method", name) for name in _alternating("BOTH", "LEAD")])
        _edit("an interpolation", rig, [_set(rig, "interpolation", name) for name in _alternating("LERP", "SLERP")])
        _edit("another skeleton map", rig, [lambda: _correct_map(rig)])
        _edit("a duration", rig, _typed(kept, text, 'duration="10"', 'duration="1{}"'))
        _edit("a transition", rig, _typed(kept, text, 'duration="10"', 'duration="10" transition="0.{}"'))
        _edit("a line", rig, _typed(kept, text, "<procedure", "<!-- {} -->\n<procedure"))
        _edit("a call more", rig, _typed(kept, text, "</procedure>",
                                         f'<call name="{names[0]}" duration="1{{}}"/></procedure>'))
        _edit("a call less", rig, [_write(kept, _score(names[:-at])) for at in range(1, RUNS + 1)])
        _edit("half a word", rig, _typed(kept, text, 'name="main"', 'name="main{}'))
        new = write_clips(Path(folder), BYTES // 20, len(names))
        _edit("another clip", rig, [_write(kept, _score((*names, *new[:at + 1]))) for at in range(len(new))])
        (Path(folder) / f"{names[0].partition('.')[0]}.skeleton").touch()
        _edit("Rebuild, one changed", rig, [lambda: score.forget(rig)])
        _edit("Rebuild", rig, [lambda: score.forget(rig)] * RUNS)
        say(f"\n{'with the preview on':22}{'blocked':>10}{'drawn':>10}{'worst':>10}")
        _watched("half a word", rig, _typed(kept, text, 'name="main"', 'name="main{}'))
        _watched("a duration", rig, _typed(kept, text, 'duration="10"', 'duration="1{}"'))
        more = write_clips(Path(folder), BYTES // 20, len(names) + len(new))
        _watched("another clip", rig, [_write(kept, _score((*names, *more[:at + 1]))) for at in range(len(more))])
        _watched("first of all", rig, [CLIPS.clear])
        say(f"\nthe store holds {CLIPS.size / 2**20:.0f} MiB, as it counts them, of at most "
            f"{CLIPS.max_bytes / 2**20:.0f}")
    return 0


def write_clips(folder: Path, size: int, first: int = 0) -> tuple[str, ...]:
    """Write clips of the sample character, half of the bytes OGRE skeletons, half BVH; return what calls name them."""
    skeleton, written = build_skeleton(), 0
    names: list[str] = []
    while written < size:
        name = f"clip{first + len(names)}"
        clip = _clip(name, skeleton, first + len(names))
        is_ogre = written < size / 2
        data = ogre_binary.write(OgreSkeleton.of(skeleton, (clip,))) if is_ogre else bvh.write(clip, 1.0 / FPS)
        (folder / (name + (".skeleton" if is_ogre else ".bvh"))).write_bytes(data)
        names.append(f"{name}.{name}" if is_ogre else name)
        written += len(data)
    return tuple(names)


def _clip(name: str, skeleton: Any, seed: int) -> Clip:
    """Make a clip in which every joint swings in two rhythms and the root walks."""
    random, times, joints = np.random.default_rng(seed), np.arange(FRAMES) / FPS, len(skeleton)
    turns = sum(random.normal(0.0, 0.2, (1, joints, 3)) * np.sin(times[:, None, None] * random.uniform(
        0.5, 6.0, (1, joints, 3)) + random.uniform(0.0, 6.0, (1, joints, 3))) for _ in range(2))
    way = np.cumsum(random.normal(0.0, 0.01, (FRAMES, 1, 3)), axis=0)
    return Clip(name, skeleton, float(times[-1]), Tracks.uniform(np.arange(joints), times, rot.exp(np.asarray(turns))),
                Tracks.uniform(np.array((0,)), times, way), Tracks.empty(3))


def _score(names: tuple[str, ...]) -> str:
    loads = "".join(f'<load src="{name.partition(".")[0]}"/>' for name in names)
    calls = "\n".join(f'<call name="{name}" duration="10"/>' for name in names * ROUNDS)
    return f'<pha tickLength="1">{loads}\n<procedure name="main">{calls}</procedure></pha>'


def _alternating(first: str, second: str) -> list[str]:
    return [(first, second)[number % 2] for number in range(RUNS)]


def _set(rig: Any, name: str, value: str) -> Callable[[], None]:
    def edit() -> None:
        setattr(properties.character(rig), name, value)
        score._performances.clear()  # else every second motion would be found as it was made before
    return edit


def _correct_map(rig: Any) -> None:
    joint_map.fill(rig)
    properties.character(rig).joints["l_pinky3"].meant = properties.NO_JOINT


def _write(kept: Any, text: str) -> Callable[[], None]:
    return partial(kept.text.from_string, text)


def _typed(kept: Any, text: str, old: str, new: str) -> list[Callable[[], None]]:
    """Return edits that put something else in place of the last of what stands there, each time another."""
    head, _, tail = text.rpartition(old)
    return [_write(kept, head + new.format(number) + tail) for number in range(1, RUNS + 1)]


def _edit(what: str, rig: Any, edits: Sequence[Callable[[], object]]) -> None:
    """Make edits one after the other and print the median of what each part of what follows took."""
    rows = []
    for edit in edits:
        edit()
        with _taken() as parts:
            began = time.thread_time()
            motion = score.motion_of(rig)
            done = time.thread_time()
            if motion is not None:
                motion.sample(np.array((motion.duration_s / 3.0,)))
            ended = time.thread_time()
        row = [*parts.values(), ended - done, done - began - sum(parts.values()), ended - began]
        rows.append(row)
    medians = [statistics.median(column) * 1e3 for column in zip(*rows, strict=True)]
    say(f"{what:22}{''.join(f'{part:10.1f}' for part in (*medians, max(row[-1] for row in rows) * 1e3))}")


def _watched(what: str, rig: Any, edits: Sequence[Callable[[], object]]) -> None:
    """Make edits while the preview draws; print the longest time that the main thread was held up, and all of it."""
    rows = []
    for edit in edits:
        edit()
        score.forget(rig)
        timers: list[Callable[[], float | None]] = []
        manager: Any = bpy.app.timers
        real, manager.register = manager.register, timers.append
        began = last = time.perf_counter()
        longest = 0.0
        try:
            while True:
                with score.while_drawing(_nothing):
                    score.look()
                    score.shown(rig)
                while timers and timers[0]() is not None:
                    time.sleep(_REDRAW_S)
                    last, longest = time.perf_counter(), max(longest, time.perf_counter() - last - _REDRAW_S)
                last, longest = time.perf_counter(), max(longest, time.perf_counter() - last)
                if not timers:
                    break
                timers.clear()
        finally:
            manager.register = real
        rows.append((longest, time.perf_counter() - began))
    longest, drawn = (statistics.median(column) * 1e3 for column in zip(*rows, strict=True))
    say(f"{what:22}{longest:10.1f}{drawn:10.1f}{max(row[0] for row in rows) * 1e3:10.1f}")


def _nothing() -> None:
    """Stand in for a redraw."""


@contextmanager
def _taken() -> Iterator[dict[str, float]]:
    """Count the seconds of each part."""
    taken, kept = dict.fromkeys(_PARTS, 0.0), {part: getattr(*place) for part, place in _PARTS.items()}

    def counted(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            began = time.thread_time()
            try:
                return function(*arguments, **more)
            finally:
                taken[part] += time.thread_time() - began
        return call

    for part, (module, name) in _PARTS.items():
        setattr(module, name, counted(part, kept[part]))
    try:
        yield taken
    finally:
        for part, (module, name) in _PARTS.items():
            setattr(module, name, kept[part])


if __name__ == "__main__":
    sys.exit(main())
