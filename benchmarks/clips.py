"""How long it takes to play files of clips, against Blender's importers alone: bench clips [FOLDER].

Each file is read by Blender's own importer, then played by the sample character, which reads, maps, retargets and
writes it. Without a folder, twelve BVH files are made, of ten seconds each.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

import takt
from takt.bridge.play_clips import ClipPlayer, files_in
from takt.core.clips.clip import Clip, Tracks
from takt.core.formats import bvh
from takt.operators.retarget_clips import retargeted
from takt.samples.character import build_character
from takt.tests.core.rewriting import Rewriting, movements, rewritten

LIMIT = 1.3
FILES, SECONDS, FPS = 12, 10.0, 30.0
_IMPORTERS = {".bvh": ("import_anim", "bvh"), ".fbx": ("import_scene", "fbx"), ".glb": ("import_scene", "gltf"),
              ".gltf": ("import_scene", "gltf")}


def make(folder: Path) -> None:
    """Write files of bodies whose bones all rest along one axis."""
    for number in range(FILES):
        clip = movements()[number % len(movements())]
        turns, moves, scales = (Tracks(t.joints, t.starts, t.times_s * SECONDS / clip.duration_s, t.values)
                                for t in (clip.rotations, clip.translations, clip.scales))
        slow = Clip(clip.name, clip.skeleton, SECONDS, turns, moves, scales)
        new = rewritten(slow, Rewriting(zero="LINE", names="Mixamo", fps=FPS)).clip
        (folder / f"clip{number}.bvh").write_bytes(bvh.write(new, 1.0 / FPS))


@contextlib.contextmanager
def timed() -> Iterator[list[float]]:
    """Give a list into which the seconds come that the block took; what it prints is not shown."""
    taken: list[float] = []
    with contextlib.redirect_stdout(io.StringIO()):
        start = time.perf_counter()
        yield taken
        taken.append(time.perf_counter() - start)


def main(folder: Path) -> None:
    """Print both times for each kind of file, and their ratio."""
    by_kind: dict[str, list[Path]] = {}
    for path in files_in([folder]):
        if path.suffix.lower() in _IMPORTERS:
            by_kind.setdefault(path.suffix.lower(), []).append(path)
    for kind, paths in by_kind.items():
        with timed() as alone:
            for path in paths:
                group, name = _IMPORTERS[kind]
                operator: Any = getattr(getattr(bpy.ops, group), name)
                operator(filepath=str(path))
        bpy.ops.wm.read_homefile(use_empty=True)
        rig = build_character(bpy.context)[0]
        scene = bpy.context.scene
        assert scene is not None
        with timed() as played:
            player = ClipPlayer.of(rig, paths)
            outcomes = [each for done in retargeted(player, paths, scene) for each in done]
        refused = sum(bool(each.problem) for each in outcomes)
        ratio = played[0] / alone[0]
        print(f"{kind}: {len(paths)} files, {len(outcomes)} clips, {refused} refused: importer alone {alone[0]:.2f} s, "
              f"played {played[0]:.2f} s, ratio {ratio:.2f} (limit {LIMIT})")


if __name__ == "__main__":
    bpy.ops.wm.read_homefile(use_empty=True)
    takt.register()
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            make(Path(made))
            main(Path(made))
