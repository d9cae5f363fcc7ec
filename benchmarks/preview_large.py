"""The preview of a character with 2,000 bones and a million vertices: how long, how much memory, how exact.

python3 dev.py bench preview_large [VERTICES [BONES]] prints the seconds until the mesh is read and uploaded, the
memory of the process before and after, what a drawn picture costs the processor, and how far the shader's vertices lie
from those that core computes.
"""

import sys
import time
from typing import Any

import bpy
import checkout
import gpu
import numpy as np

import takt
from takt.benchmarks.preview import drawing_ms, memory_mb
from takt.bridge.meshes.groups import write_influences
from takt.bridge.rigs.armature import read_pose_world, read_skeleton
from takt.bridge.versions import start_gpu
from takt.core.skinning import SKINNING_METHODS, Palette
from takt.core.skinning.influences import Influences
from takt.preview import life
from takt.preview.batch import read_geometry
from takt.tests.gpu.readback import posed_on_gpu
from takt.windowless import missing_graphics

VERTICES, BONES = 1_000_000, 2_000
_LENGTH_M = 2.0
_TURN_RAD = 0.002
_context: Any = bpy.context


def main(vertices: int, bones: int) -> int:
    """Make it, switch the preview on, and measure."""
    if reason := missing_graphics() or start_gpu():
        print(f"no pictures: {reason}")
        return 1
    takt.register()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rig = chain(bones)
    mesh = cloth(rig, vertices)
    for bone in rig.pose.bones:
        bone.rotation_mode, bone.rotation_euler.x = "XYZ", _TURN_RAD
    _context.view_layer.update()
    print(f"Blender {bpy.app.version_string}, {gpu.platform.renderer_get()}")
    print(f"{len(mesh.data.vertices):,} vertices, {bones:,} bones; the process has {memory_mb():,.0f} MB")
    life.start([rig])
    began = time.perf_counter()
    life.read_large_meshes(_context.view_layer, lambda share: print(f"  {share:4.0%} after {elapsed(began)}"))
    print(f"read after {elapsed(began)}")
    processor_ms, _ = drawing_ms(pictures=20)
    print(f"first picture and 20 more after {elapsed(began)}; the process has {memory_mb():,.0f} MB")
    print(f"processor time per picture: {processor_ms:.2f} ms")
    life.stop()
    skeleton = read_skeleton(rig)
    geometry = read_geometry(mesh, list(skeleton.names), np.zeros((bones, 3)))
    palette = Palette.from_matrices(read_pose_world(rig), skeleton.rest_world)
    influences = Influences(geometry.bones.astype(np.int64), geometry.weights.astype(np.float64))
    for name, method in SKINNING_METHODS.items():
        positions, _ = posed_on_gpu(geometry, palette, name)
        expected, _ = method.skin(palette, influences, geometry.positions.astype(np.float64),
                                  geometry.normals.astype(np.float64))
        off = np.linalg.norm(positions - expected, axis=1).max() / np.ptp(expected, axis=0).max()
        print(f"{name:16} {off:.1e} of the height from core at most")
    return 0


def chain(bones: int) -> Any:
    """Return an armature in which each bone is the child of the one before, upwards."""
    armature = bpy.data.armatures.new("Chain")
    rig: Any = bpy.data.objects.new("Chain", armature)
    _context.scene.collection.objects.link(rig)
    _context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for number, height in enumerate(np.linspace(0.0, _LENGTH_M, bones, endpoint=False).tolist()):
        bone = armature.edit_bones.new(f"bone{number}")
        bone.head, bone.tail, bone.parent = (0.0, 0.0, height), (0.0, 0.0, height + _LENGTH_M / bones), parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def cloth(rig: Any, vertices: int) -> Any:
    """Return a cloth, each of whose vertices follows the four bones beside it."""
    columns = round(np.sqrt(vertices))
    x, z = np.meshgrid(np.linspace(-1.0, 1.0, columns), np.linspace(0.0, _LENGTH_M, round(vertices / columns)))
    points = np.stack((x, np.zeros_like(x), z), axis=-1).reshape(-1, 3)
    corners = np.arange(len(points), dtype=np.int32).reshape(x.shape)
    faces = np.stack((corners[:-1, :-1], corners[:-1, 1:], corners[1:, 1:], corners[1:, :-1]), axis=-1).reshape(-1, 4)
    data: Any = bpy.data.meshes.new("Cloth")
    data.vertices.add(len(points))
    data.vertices.foreach_set("co", points.astype(np.float32).ravel())
    data.loops.add(faces.size)
    data.loops.foreach_set("vertex_index", faces.ravel())
    data.polygons.add(len(faces))
    data.polygons.foreach_set("loop_start", np.arange(0, faces.size, 4, dtype=np.int32))
    data.update(calc_edges=True)
    data.shade_smooth()
    mesh: Any = bpy.data.objects.new("Cloth", data)
    _context.scene.collection.objects.link(mesh)
    names = [bone.name for bone in rig.data.bones]
    lowest = np.clip((points[:, 2] / _LENGTH_M * len(names)).astype(int) - 2, 0, len(names) - 4)
    write_influences(mesh, names, Influences(lowest[:, None] + np.arange(4), np.tile((0.4, 0.3, 0.2, 0.1),
                                                                                     (len(points), 1))))
    mesh.modifiers.new("Armature", "ARMATURE").object = rig
    return mesh


def elapsed(began: float) -> str:
    """Return the seconds since then."""
    return f"{time.perf_counter() - began:.1f} s"


if __name__ == "__main__":
    arguments = [int(number.replace(",", "")) for number in sys.argv[1:]]
    checkout.run(lambda: main(*(arguments + [VERTICES, BONES][len(arguments):])))
