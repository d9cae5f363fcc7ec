"""Every clip on every character as pictures to look at: bench pair_sheet FOLDER [WORD in clips' names].

A row for each clip, a column for each character, one moment of the clip, in which its hands touch its body if they ever
do; several sheets. Clips and characters are those of the test data, which is not part of the project: nor are these
pictures.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import checkout
import numpy as np
from mathutils import Matrix, Quaternion

import takt
from takt.benchmarks.skin_measures import touches
from takt.bridge import axes
from takt.bridge.files.film import write_picture
from takt.bridge.meshes.skin_points import read_points
from takt.bridge.rigs import armature
from takt.bridge.versions import start_gpu
from takt.core.clips.clip import Clip
from takt.core.maths import rotations as rot
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.preview.cast import ClipAlone
from takt.preview.offscreen import Renderer
from takt.samples import film
from takt.samples.character import build_character
from takt.tests.beside import DATA
from takt.tests.blender.test_all_pairs import source
from takt.tests.characters import real_character
from takt.tests.core.every_pair import SOURCES

CELL = 150
ROWS = 12
HEIGHT_M = 1.75
MOMENT = 0.45
"""Of the length of a clip whose hands touch nothing."""
REAL = ("mpfb_game_engine", "Rogue_Hooded", "Male_Suit", "cesium_man")
_ops: Any = bpy.ops
_context: Any = bpy.context


def characters() -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield name, armature and meshes of all characters, brought to one size."""
    rig, mesh = build_character(_context)
    for ob in (mesh, rig):
        ob.select_set(True)
    _context.view_layer.objects.active = rig
    _ops.takt.auto_bind()
    yield "sample", rig, [mesh]
    for name in REAL:
        rig, mesh, _ = real_character(name)
        yield name, rig, [mesh]
    _ops.takt.import_ogre(filepath=str(DATA / "ogre" / "Sinbad.mesh"))
    rig = _context.view_layer.objects.active
    rig = rig if rig.type == "ARMATURE" else rig.find_armature()
    rig.animation_data_clear()
    yield "Sinbad", rig, [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.find_armature() == rig]


def stand_up(rig: Any, meshes: list[Any]) -> None:
    """Bring a character to one size, upright and with its soles on the ground, as users' files have them."""
    turn = find_map(armature.read_skeleton(rig)).turn
    assert turn is not None
    upright = rot.multiply(axes.BLENDER_FROM_HANIM, rot.conjugate(turn))
    moved = (rig, *(mesh for mesh in meshes if mesh.parent != rig))
    for ob in moved:
        ob.matrix_world = Quaternion(upright.tolist()).to_matrix().to_4x4() @ ob.matrix_world
    _context.view_layer.update()
    corners = np.array([mesh.matrix_world @ vertex.co for mesh in meshes for vertex in mesh.data.vertices])
    size = HEIGHT_M / float(np.ptp(corners[:, 2]))
    for ob in moved:
        ob.matrix_world = (Matrix.Translation((0.0, 0.0, -size * float(corners[:, 2].min()))) @ Matrix.Scale(size, 4)
                           @ ob.matrix_world)
    _context.view_layer.update()


def moment(clip: Clip) -> float:
    """Return the middle of what its hands touch, as a share of a clip; where they touch nothing, MOMENT."""
    times = np.linspace(0.0, clip.duration_s, 60)
    found = touches(clip, find_map(clip.skeleton), times)
    touching = np.flatnonzero(np.any([is_on.any(axis=1) for is_on in found.values()], axis=0)) if found else ()
    return float(touching[len(touching) // 2]) / (len(times) - 1) if len(touching) else MOMENT


def column(rig: Any, meshes: list[Any], clips: list[Any]) -> Iterator[film.Picture]:
    """Draw one character in the middle of each clip."""
    skeleton = armature.read_skeleton(rig)
    hips = find_map(skeleton).joint_of["HumanoidRoot"]
    played: dict[str, Any] = {}
    points = read_points(rig)
    with Renderer(_context.scene, meshes, CELL, CELL, lambda _: played["now"]) as renderer:
        for clip in clips:
            done = retarget(clip, skeleton, axes.armature_from_hanim(rig), points=points, keep_contacts=True).clip
            at = moment(clip) * done.duration_s
            played["now"] = ClipAlone(done)
            rig.takt.frame_start = 1 - round(at * 24)
            _context.scene.frame_set(1)
            world = np.array(rig.matrix_world)[:3]
            foot = world[:, :3] @ world_from_pose(skeleton, done.sample(np.array((at,))))[0, hips, :, 3] + world[:, 3]
            reach = np.array((0.8, 0.8, 0.0))
            low = np.append(foot[:2], 0.0)
            camera = film.Camera.framing(low - reach, low + reach + (0.0, 0.0, 1.9), CELL, CELL)
            picture = renderer.draw(camera.view_from_world, camera.clip_from_view)
            yield film.over(picture, camera.ground(low[:2]))


def main(folder: Path, word: str) -> None:
    """Draw the sheets and say what is in their rows."""
    if reason := start_gpu():
        raise RuntimeError(reason)
    _ops.wm.read_factory_settings(use_empty=True)
    takt.register()
    clips = [clip for of in SOURCES for clip in source(of) if word in clip.name]
    columns = []
    for name, rig, meshes in characters():
        stand_up(rig, meshes)
        columns.append(list(column(rig, meshes, clips)))
        print(name, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(0, len(clips), ROWS):
        rows = [np.concatenate([pictures[row] for pictures in columns], axis=1)
                for row in range(start, min(start + ROWS, len(clips)))]
        write_picture(np.concatenate(rows), folder / f"pairs_{start // ROWS + 1:02}.png")
        print(f"pairs_{start // ROWS + 1:02}.png:", *(clip.name for clip in clips[start:start + ROWS]))


if __name__ == "__main__":
    folder, word = (*sys.argv[1:3], *("build/pairs", "")[len(sys.argv[1:3]):])
    checkout.run(lambda: main(Path(folder), word))
