"""How long a folder of clips takes to play on a character, beside Blender's importers alone: folder [COUNT [FOLDER]].

The files are parts of the sample's dance, 5 to 20 s long, at 30 and at 60 fps, of bodies under the names of three
tools: written as BVH, or by Blender's own exporters as FBX and glTF, with skeletons alone, as libraries of clips have
them. Each file is read by Blender's importer into an empty file; then the command reads, maps, retargets, writes and
saves them, for the sample character with its skin and without. Both take turns, and of each the quickest turn counts,
since other work on the machine slows down some. Of each kind there are a few to copy: equal files take as long as
others. FOLDER: real files instead.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import bpy
import checkout
import numpy as np

import takt
from takt.bridge.actions.play_clips import files_in
from takt.core.clips.clip import Clip
from takt.core.clips.excerpt import Excerpt
from takt.core.formats import bvh
from takt.core.library.library import Library
from takt.core.playing.bake import bake
from takt.core.playing.performer import Performer
from takt.core.playing.score import perform
from takt.core.retargeting.retarget import retarget
from takt.operators import command
from takt.samples.character import build_character
from takt.samples.dancer import DANCE, bind
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rewriting import Rewriting, rewritten

from .timing import say

COUNT, DIFFERENT, LIMIT, TURNS = 100, 12, 1.3, 3
KINDS: Final = (".fbx", ".bvh", ".glb")
LENGTHS_S, RATES, TOOLS = (5.0, 8.0, 12.0, 20.0), (30.0, 60.0), ("Mixamo", "MotionBuilder", "Unreal's mannequin")
_UP: Final = np.array((0.0, 1.0, 0.0))


@dataclass(frozen=True)
class Taken:
    """How long something took, in s; cpu: of all processors."""

    wall: float
    cpu: float

    @classmethod
    def by(cls, work: Callable[[], object]) -> Taken:
        """Do the work."""
        start = time.perf_counter(), time.process_time()
        work()
        return cls(time.perf_counter() - start[0], time.process_time() - start[1])

    @classmethod
    def least(cls, turns: Iterable[Taken]) -> Taken:
        """Return the least of what several turns took."""
        return cls(*map(min, zip(*((turn.wall, turn.cpu) for turn in turns), strict=True)))

    @classmethod
    def total(cls, parts: Iterable[Taken]) -> Taken:
        """Return what all parts took."""
        return cls(*map(sum, zip(*((part.wall, part.cpu) for part in parts), strict=True)))


def make(folder: Path, count: int) -> None:
    """Write files of all kinds, each kind into a folder of its own."""
    library = Library((DANCE.parent,))
    dance = perform(DANCE.read_bytes(), DANCE, library, Performer(build_skeleton(), _UP))
    whole = bake(dance, 120.0, "dance")
    for place, kind in enumerate(KINDS):
        (folder / kind[1:]).mkdir()
        of_kind = len(range(place, count, len(KINDS)))
        made = [_written(folder / kind[1:] / f"clip{number:03}{kind}", _part(whole, number), number)
                for number in range(min(of_kind, DIFFERENT))]
        for number in range(len(made), of_kind):
            shutil.copy(made[number % len(made)], folder / kind[1:] / f"clip{number:03}{kind}")


def _part(whole: Clip, number: int) -> Clip:
    """Return a part of the dance on the skeleton of a tool."""
    length_s = min(LENGTHS_S[number % len(LENGTHS_S)], whole.duration_s)
    begin_s = (whole.duration_s - length_s) * (number % 5) / 4.0
    tool, fps = TOOLS[number % len(TOOLS)], RATES[number // 2 % len(RATES)]
    clip = rewritten(bake(Excerpt(whole, begin_s, begin_s + length_s), fps, f"clip{number}"),
                     Rewriting(names=tool, fps=fps, spine=3 + number % 2)).clip
    return retarget(clip, clip.skeleton.with_model_axes()).clip  # as BVH wants it


def _written(path: Path, clip: Clip, number: int) -> Path:
    """Write a clip as BVH; what is to be of another kind is exported by Blender out of that."""
    as_bvh, fps = path.with_suffix(".bvh"), RATES[number // 2 % len(RATES)]
    as_bvh.write_bytes(bvh.write(clip, 1.0 / fps))
    if path == as_bvh:
        return path
    bpy.ops.wm.read_homefile(use_empty=True)
    operators: Any = bpy.ops
    with contextlib.redirect_stdout(io.StringIO()):
        operators.import_anim.bvh(filepath=str(as_bvh), update_scene_fps=True)
        scene: Any = bpy.context.scene
        scene.frame_end = round(clip.duration_s * fps) + 1
        if path.suffix == ".fbx":
            operators.export_scene.fbx(filepath=str(path), bake_anim_use_all_actions=False,
                                       bake_anim_use_nla_strips=False, bake_anim_simplify_factor=number % 2)
        else:
            operators.export_scene.gltf(filepath=str(path))
    as_bvh.unlink()
    return path


def importers() -> dict[str, dict[str, Any]]:
    """Return Blender's importers by endings and names; of FBX the one in C++ and the older one in Python."""
    operators: Any = bpy.ops
    gltf = {"": operators.import_scene.gltf}
    return {".fbx": {"C++": operators.wm.fbx_import, "Python": operators.import_scene.fbx},
            ".bvh": {"": operators.import_anim.bvh}, ".glb": gltf, ".gltf": gltf}


def imported(paths: list[Path], importer: Any) -> Taken:
    """Read each file by Blender's own importer into an empty file; emptying it does not count."""
    taken = []
    for path in paths:
        bpy.ops.wm.read_homefile(use_empty=True)
        with contextlib.redirect_stdout(io.StringIO()):
            taken.append(Taken.by(partial(importer, filepath=str(path))))
    return Taken.total(taken)


def commanded(rig: Path, paths: list[Path]) -> tuple[Taken, str]:
    """Run the command; return how many clips play, too."""
    said = io.StringIO()
    arguments = ["retarget", str(rig), *map(str, paths), "--out", str(rig.with_name("out.blend"))]
    with contextlib.redirect_stdout(said):
        taken = Taken.by(lambda: command.run(arguments))
    return taken, re.findall(r"\d+ of \d+ play", said.getvalue())[-1]


@contextlib.contextmanager
def characters() -> Iterator[dict[str, Path]]:
    """Yield files with the sample character, by what there is of it."""
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name in ("skeleton", "skin"):
            bpy.ops.wm.read_homefile(use_empty=True)
            armature, mesh = build_character(bpy.context)
            if name == "skin":
                bind(armature, mesh)
            found[name] = Path(folder) / f"{name}.blend"
            bpy.ops.wm.save_as_mainfile(filepath=str(found[name]))
        yield found


def main() -> None:
    """Make files where none are given, and compare."""
    bpy.ops.wm.read_homefile(use_empty=True)
    takt.register()
    if len(sys.argv) > 2:
        compare(Path(sys.argv[2]))
        return
    with tempfile.TemporaryDirectory() as temporary:
        make(Path(temporary), int(sys.argv[1]) if len(sys.argv) > 1 else COUNT)
        compare(Path(temporary))


def compare(folder: Path) -> None:
    """Print both times for each kind of file and for all of them, and their ratios."""
    by_kind = {kind: [path for path in files_in([folder, *sorted(p for p in folder.iterdir() if p.is_dir())])
                      if path.suffix.lower() == kind] for kind in importers()}
    all_theirs, all_ours = defaultdict[str, list[Taken]](list), defaultdict[str, list[Taken]](list)
    with characters() as rigs:
        for kind, paths in ((kind, paths) for kind, paths in by_kind.items() if paths):
            alone, ours = defaultdict[str, list[Taken]](list), defaultdict[str, list[Taken]](list)
            play = dict[str, str]()
            for _ in range(TURNS):
                for name, importer in importers()[kind].items():
                    alone[name].append(imported(paths, importer))
                for name, rig in rigs.items():
                    taken, play[name] = commanded(rig, paths)
                    ours[name].append(taken)
            theirs = {name: Taken.least(turns) for name, turns in alone.items()}
            for name, taken in theirs.items():
                say(f"{len(paths):3} {kind}", "importer", name, f"{taken.cpu:6.2f} s, on the clock {taken.wall:6.2f} s")
            for name, turns in ours.items():
                own = Taken.least(turns)
                all_ours[name].append(own)
                tell(f"{len(paths):3} {kind}", name, own, theirs.values(), play[name])
            for name in importers()[".fbx"]:
                all_theirs[name].append(theirs.get(name) or theirs[""])
    for name, each in all_ours.items():
        count, every = sum(map(len, by_kind.values())), [Taken.total(taken) for taken in all_theirs.values()]
        tell(f"{count:3} all ", name, Taken.total(each), every, f"FBX by {' and by '.join(all_theirs)}")


def tell(what: str, name: str, own: Taken, theirs: Iterable[Taken], besides: str) -> None:
    """Print what the command took for a character, against importers."""
    ratios, clocks = (", ".join(f"{each:.2f}" for each in times) for times in zip(*(
        (own.cpu / taken.cpu, own.wall / taken.wall) for taken in theirs), strict=True))
    say(what, "command", name, f"{own.cpu:6.2f} s, on the clock {own.wall:6.2f} s; ratio {ratios} (limit {LIMIT}), "
        f"on the clock {clocks}; {besides}")


if __name__ == "__main__":
    checkout.run(main)
