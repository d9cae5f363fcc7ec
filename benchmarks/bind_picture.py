"""Draw our own character, with loose parts and open seams, bound in three ways and bent.

From left to right: by 1/d² of the distance, by Blender's bone heat, by Takt; above the surface, below the zones.
"""

import sys
from pathlib import Path
from typing import Any

import bpy
import checkout
import numpy as np
from mathutils import Matrix, Quaternion

import takt
from takt.bridge.files.film import write_picture
from takt.bridge.versions import start_gpu
from takt.preview.offscreen import Renderer
from takt.samples import film
from takt.samples.character import build_character

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "bind.png"
_SIZE = 420, 560
_LOW, _HIGH = np.array((-0.7, -0.2, 0.02)), np.array((0.5, 0.2, 1.72))
_TURNS = {
    "r_shoulder": ((0, 1, 0), 75), "r_elbow": ((0, 1, 0), 75), "l_shoulder": ((0, 1, 0), -60),
    "l_elbow": ((1, 0, 0), -80), "r_hip": ((1, 0, 0), -75), "r_knee": ((1, 0, 0), 95), "l_hip": ((0, 1, 0), -12),
    "vl3": ((0, 1, 0), -16), "vt10": ((0, 1, 0), -14), "vt6": ((0, 0, 1), 14), "skullbase": ((0, 1, 0), 20),
}
"""Which joints turn: about which axis of the room (the character faces −Y), by how many degrees."""
_BUTTONS = [(0.0, -0.125, 1.12 + 0.07 * i) for i in range(4)]
_PADS = [(side * 0.19, 0.0, 1.44) for side in (-1.0, 1.0)]
_BUTTON_M, _PAD_M = 0.016, 0.055


def main() -> int:
    """Draw it."""
    columns = [drawn(*bound_character(button)) for button in (seed, heat, ours)]
    PICTURE.parent.mkdir(exist_ok=True)
    write_picture(np.concatenate(columns, axis=1), PICTURE)
    print(f"drawn into {PICTURE}")
    return 0


def seed() -> None:
    """Bind by distance alone."""
    bpy.ops.takt.auto_bind(method="EUCLIDEAN")  # type: ignore[attr-defined]


def heat() -> None:
    """Bind as Blender does."""
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")


def ours() -> None:
    """Bind by Takt's default method."""
    bpy.ops.takt.auto_bind()  # type: ignore[attr-defined]


def bound_character(button: Any) -> tuple[Any, Any]:
    """Build the character, press a button, and bend it; return armature and mesh."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    context: Any = bpy.context
    rig, body = build_character(context)
    take_apart(body)
    for ob in (rig, body):
        ob.select_set(True)
    context.view_layer.objects.active = rig
    button()
    bend(rig)
    context.view_layer.update()
    return rig, body


def take_apart(body: Any) -> None:
    """Open the mesh wherever the material changes, as importers do, and add parts that touch nothing."""
    import bmesh  # is there once bpy is

    mesh = bmesh.new()
    mesh.from_mesh(body.data)
    seams = [edge for edge in mesh.edges if len({face.material_index for face in edge.link_faces}) > 1]
    bmesh.ops.split_edges(mesh, edges=seams)
    for positions, radius in ((_BUTTONS, _BUTTON_M), (_PADS, _PAD_M)):
        for position in positions:
            bmesh.ops.create_uvsphere(mesh, u_segments=16, v_segments=8, radius=radius,
                                      matrix=Matrix.Translation(position))
    mesh.to_mesh(body.data)
    mesh.free()
    body.data.shade_smooth()


def bend(rig: Any) -> None:
    """Turn the joints."""
    for name, (axis, degrees) in _TURNS.items():
        bone = rig.pose.bones[name]
        rest = bone.bone.matrix_local.to_quaternion()
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = rest.inverted() @ Quaternion(axis, np.radians(degrees)) @ rest


def drawn(rig: Any, body: Any) -> Any:
    """Return the picture of the surface above that of the zones."""
    context: Any = bpy.context
    camera = film.Camera.framing(_LOW, _HIGH, *_SIZE)
    with Renderer(context.scene, [body], *_SIZE, motion=lambda _: None) as renderer:
        pictures = [film.over(renderer.draw(camera.view_from_world, camera.clip_from_view, kind),
                              camera.ground(np.array(rig.location[:2]))) for kind in ("SHADED", "ZONES")]
    return np.concatenate(pictures)


if __name__ == "__main__":
    takt.register()
    reason = start_gpu()
    if reason:
        sys.exit(reason)
    checkout.run(main)
