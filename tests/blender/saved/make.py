"""Save a character with a score as some version of Takt saves it: python make.py SCORE FILE.blend.

BLENDER_USER_RESOURCES names a folder in which that version is installed. The files beside this script were made in
Blender 4.5: version_0.blend by commit aae94b5, version_1.blend by 65d8fb6, version_2.blend by the one that added it.
"""

import importlib
import os
import sys
import traceback
from typing import Any

import bpy
from mathutils import Matrix

PACKAGE = "bl_ext.user_default.takt"
ops: Any = bpy.ops
CHOSEN = {"method": "INSERT_BOTH", "curve": "CUBIC", "interpolation": "SQUAD", "translation": "SPLINE",
          "pace": "ACCELERATING", "joint_time": "LATE", "root_motion": "IN_PLACE", "rotations": "AS_RIG", "loop": True}


def main(score: str, out: str) -> None:
    ops.wm.read_factory_settings(use_empty=True)
    ops.preferences.addon_enable(module=PACKAGE)
    skeleton = importlib.import_module(f"{PACKAGE}.samples.skeleton").build_skeleton()
    turn = importlib.import_module(f"{PACKAGE}.bridge.axes").BLENDER_FROM_HANIM
    rig: Any = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    ops.object.mode_set(mode="EDIT")
    worlds = skeleton.turned(turn).rest_world.tolist()
    for name, parent, world in zip(skeleton.names, skeleton.parents.tolist(), worlds, strict=True):
        bone = rig.data.edit_bones.new(name)
        bone.length = 0.1
        bone.matrix = Matrix((*world, (0, 0, 0, 1)))
        bone.parent = rig.data.edit_bones[skeleton.names[parent]] if parent >= 0 else None
    ops.object.mode_set(mode="OBJECT")
    ops.takt.import_pha(filepath=score)
    ops.takt.find_map()
    for name, value in CHOSEN.items():
        setattr(rig.takt, name, value)
    action = rig.animation_data.action
    rig.animation_data_clear()
    bpy.data.actions.remove(action)  # it is large, and made anew
    ops.wm.save_as_mainfile(filepath=out, compress=True)


if __name__ == "__main__":
    code = 0
    try:
        main(*sys.argv[1:])
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stderr.flush()
    os._exit(code)
