"""Where X_ITE, a player of X3D, has the dancer's joints and skin, beside where Blender has them: bench x_ite_skin.

The sample character is exported with its dance, both ways, from Blender, and opened in Chromium without a window. The
skin is what X_ITE's shader makes of the matrices and weights that it is given, read back from the graphics memory.
Prints for each way the greatest distances at 20 times; exits with 1 where a joint is farther than 0.0001 m away, or a
vertex farther than 0.001 m. See x_ite_player.py for what it needs.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np

import takt
from takt.benchmarks.timing import say
from takt.benchmarks.x_ite_player import SHARES, TIMES, farthest, missing, played
from takt.bridge.axes import BLENDER_FROM_HANIM
from takt.core.clips.clip import Clip
from takt.core.formats import x3d
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons import hanim
from takt.core.skeletons.skeleton import world_from_pose

JOINTS_M, SKIN_M = 1e-4, 1e-3
_context: Any = bpy.context
_ops: Any = bpy.ops


class Agreement(NamedTuple):
    """Greatest distances in metres, of joints from Takt's and Blender's, and of the skin from Blender's."""

    way: str
    joints_m: float
    joints_of_blender_m: float
    skin_m: float
    vertices: int
    version: str


def agreements() -> Iterator[Agreement]:
    """Compare both ways in which X3D holds motion."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    takt.register()
    _ops.takt.add_sample()
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    _context.view_layer.objects.active = rig
    _ops.takt.rebuild(write_long=True)
    with tempfile.TemporaryDirectory() as folder:
        for way in ("interpolators", "HAnimMotion"):
            path = Path(folder) / "dance.x3d"
            _ops.takt.export_performance(filepath=str(path), hanim_motion=way == "HAnimMotion")
            found = played(path.read_bytes())
            if "error" in found:
                raise RuntimeError(found["error"])
            (clip,) = x3d.read(path.read_bytes(), path).clips
            yield Agreement(way, farthest(clip, found["frames"]), *_of_blender(rig, clip, found["skin"]),
                            found["version"])


def _of_blender(rig: Any, clip: Clip, skins: list[list[float]]) -> tuple[float, float, int]:
    """Return the greatest distances of the clip's joints, and of X_ITE's skin, from Blender's, and the vertices."""
    scene = _context.scene
    back, fps = rot.conjugate(BLENDER_FROM_HANIM), scene.render.fps / scene.render.fps_base
    worst_joint = worst_skin = 0.0
    vertices = 0
    for share, points in zip(SHARES, skins, strict=True):
        time_s = share * clip.duration_s
        frame = rig.takt.frame_start + time_s * fps
        scene.frame_set(int(frame), subframe=frame - int(frame))
        world = world_from_pose(clip.skeleton, clip.sample(np.array((time_s,))))[0, :, :, 3]
        there = {hanim.canonical(bone.name) or bone.name: rot.rotate(back, np.array(rig.matrix_world @ bone.head))
                 for bone in rig.pose.bones}
        for joint, name in enumerate(clip.skeleton.names):
            worst_joint = max(worst_joint, float(np.linalg.norm(world[joint] - there[hanim.canonical(name) or name])))
        own = rot.rotate(back, _skin(rig))
        vertices = len(own)  # further points are vertices with further texture coordinates
        moved = np.array(points).reshape(-1, 3)[:vertices]
        worst_skin = max(worst_skin, float(np.linalg.norm(moved - own, axis=1).max()))
    return worst_joint, worst_skin, vertices


def _skin(rig: Any) -> FloatArray:
    """Return where Blender has the vertices of a rig's meshes, without modifiers but the armature's."""
    found = []
    for ob in _context.scene.objects:
        if ob.type == "MESH" and ob.visible_get() and ob.find_armature() == rig:
            for modifier in ob.modifiers:
                modifier.show_viewport = modifier.type == "ARMATURE"
            mesh = ob.evaluated_get(_context.evaluated_depsgraph_get()).to_mesh()
            flat = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
            mesh.vertices.foreach_get("co", flat)
            matrix = np.array(ob.matrix_world, dtype=np.float64)
            found.append(flat.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3])
    return np.concatenate(found)


def main() -> int:
    """Compare, and print."""
    if missing():
        say(missing())
        return 2
    failed = False
    for each in agreements():
        failed |= each.joints_m > JOINTS_M or each.joints_of_blender_m > JOINTS_M or each.skin_m > SKIN_M
        say(f"X_ITE {each.version}, {each.way:13}: {TIMES} times, joints {each.joints_m:.1e} m from Takt's, which are "
            f"{each.joints_of_blender_m:.1e} from Blender's (≤ {JOINTS_M:g}); {each.vertices} vertices "
            f"{each.skin_m:.1e} m from Blender's (≤ {SKIN_M:g})")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
