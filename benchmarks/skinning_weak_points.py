"""The weak points of skinning: a limb that is twisted, an elbow that is bent, by each method.

python3 dev.py bench skinning_weak_points PICTURE.png draws the preview of both (left: twisted by 180°, right: bent by
120°; above linear, below dual quaternion) and prints how much of the limb's volume each method leaves, and how thin
it becomes at its thinnest between the two bones, in hundredths of the straight limb.
"""

import sys
from pathlib import Path
from typing import Any

import bpy
import checkout
import numpy as np
from mathutils import Quaternion

import takt
from takt.bridge.files.film import write_picture
from takt.bridge.meshes.groups import read_influences, write_influences
from takt.bridge.rigs.armature import read_pose_world, read_skeleton
from takt.bridge.versions import start_gpu
from takt.core.maths.arrays import FloatArray
from takt.core.skinning import SKINNING_METHODS, Palette
from takt.core.skinning.influences import Influences
from takt.preview.offscreen import Renderer
from takt.samples.film import Camera
from takt.tests.characters import own_character
from takt.windowless import missing_graphics

POSES = {"twisted by 180°": ((0.0, 1.0, 0.0), np.pi), "bent by 120°": ((0.0, 0.0, 1.0), np.radians(120.0))}
"""Axis in the bone's own space (its length is y), and angle."""
SIDES, RINGS = 48, 97
NEAR_THE_JOINT = 0.35
PICTURE_SIZE = 360, 300
_context: Any = bpy.context


def main(path: Path | None) -> int:
    """Print the table, and draw the picture if it is wanted and can be."""
    takt.register()
    print(f"{'':18} {'method':18} {'volume %':>9} {'thinnest %':>11}")
    rows = []
    reason = "no picture was asked for" if path is None else missing_graphics() or start_gpu()
    for name, (axis, angle) in POSES.items():
        rig, mesh = limb()
        rest = measures(mesh, points(mesh))
        rig.pose.bones["bone1"].rotation_mode = "QUATERNION"
        rig.pose.bones["bone1"].rotation_quaternion = Quaternion(axis, angle)
        _context.view_layer.update()
        for method, entry in SKINNING_METHODS.items():
            volume, radius = measures(mesh, skinned(rig, mesh, method))
            print(f"{name:18} {entry.label:18} {100 * volume / rest[0]:9.1f} {100 * radius / rest[1]:11.1f}")
        if not reason:
            rows.append([drawn(mesh, preserves) for preserves in (False, True)])
    if reason:
        print(f"no picture: {reason}")
    elif path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_picture(np.concatenate([np.concatenate(column, axis=0) for column in rows], axis=1), path)
        print(path)
    return 0


def limb() -> tuple[Any, Any]:
    """Return a limb of two bones, the influence of one fading into the other's around the joint."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    takt.register() if not hasattr(bpy.types.Object, "takt") else None
    rig, mesh = own_character(bones=2, influences=2, sides=SIDES, rings=RINGS)
    share = np.clip((points(mesh)[:, 2] - 1.0) / (2.0 * NEAR_THE_JOINT) + 0.5, 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    weights = np.stack((1.0 - share, share), axis=-1)
    order = np.argsort(-weights, axis=1, kind="stable")
    write_influences(mesh, ["bone0", "bone1"], Influences(order, np.take_along_axis(weights, order, axis=1)))
    return rig, mesh


def points(mesh: Any) -> FloatArray:
    """Return the vertices at rest, (V, 3)."""
    return np.array([vertex.co for vertex in mesh.data.vertices], dtype=np.float64)


def skinned(rig: Any, mesh: Any, method: str) -> FloatArray:
    """Return the vertices (V, 3) as a method moves them."""
    skeleton = read_skeleton(rig)
    palette = Palette.from_matrices(read_pose_world(rig), skeleton.rest_world)
    rest = points(mesh)
    influences = read_influences(mesh, list(skeleton.names))
    moved, _ = SKINNING_METHODS[method].skin(palette, influences, rest, np.ones_like(rest))
    return moved


def measures(mesh: Any, vertices: FloatArray) -> tuple[float, float]:
    """Return the volume, open ends closed by fans, and the smallest mean radius of a ring near the joint."""
    rings = vertices.reshape(RINGS, SIDES, 3)
    centres = rings.mean(axis=1)
    a, b = rings[:-1], rings[1:]
    a_next, b_next = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
    volume = tetrahedra(a, a_next, b_next) + tetrahedra(a, b_next, b)
    for ring, centre, side in ((rings[0], centres[0], -1.0), (rings[-1], centres[-1], 1.0)):
        volume += side * tetrahedra(np.broadcast_to(centre, ring.shape), ring, np.roll(ring, -1, axis=0))
    radii = np.linalg.norm(rings - centres[:, None], axis=-1).mean(axis=1)
    heights = points(mesh).reshape(RINGS, SIDES, 3)[:, 0, 2]
    return float(volume), float(radii[np.abs(heights - 1.0) < NEAR_THE_JOINT].min())


def tetrahedra(a: FloatArray, b: FloatArray, c: FloatArray) -> float:
    """Return the signed volume between triangles (..., 3) and the origin."""
    return float((np.cross(a, b) * c).sum() / 6.0)


def drawn(mesh: Any, preserves_volume: bool) -> Any:
    """Return the preview's picture, (H, W, 3)."""
    mesh.modifiers[0].use_deform_preserve_volume = preserves_volume
    _context.view_layer.update()
    camera = Camera.framing(np.array((-1.2, -0.3, 0.0)), np.array((1.2, 0.3, 2.0)), *PICTURE_SIZE)
    with Renderer(_context.scene, [mesh], *PICTURE_SIZE) as renderer:
        picture = renderer.draw(np.asarray(camera.view_from_world), np.asarray(camera.clip_from_view), "ZONES",
                             (0.93, 0.94, 0.95, 1.0))
    return np.ascontiguousarray(picture[..., :3])


if __name__ == "__main__":
    checkout.run(lambda: main(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
