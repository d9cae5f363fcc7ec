"""Install one version of the extension, let a character be previewed, and install another over it: a script of tests.

python update_over.py OLDER.zip NEWER.zip, in a Blender whose folder of user resources is empty. What is wrong is
printed, and the process ends with 1.
"""

import importlib
import os
import sys
import traceback
from typing import Any

import bpy

PACKAGE = "bl_ext.user_default.takt"
ops: Any = bpy.ops


def module(name: str) -> Any:
    return importlib.import_module(f"{PACKAGE}.{name}")


def install(archive: str) -> None:
    ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True, overwrite=True)


def alive() -> list[Any]:
    """Return the functions of Takt's modules that Blender calls by itself."""
    lists = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    return [each for found in lists if isinstance(found, list) for each in found
            if str(getattr(each, "__module__", "")).startswith(PACKAGE)]


def callbacks() -> list[str]:
    """Return the names of those functions."""
    return sorted(f"{each.__module__}.{getattr(each, '__qualname__', each)}" for each in alive())


def main(older: str, newer: str) -> None:
    ops.wm.read_factory_settings(use_empty=True)
    install(older)
    ops.takt.add_sample()
    rig = bpy.context.view_layer.objects.active
    plain = callbacks()
    ops.takt.preview()
    assert module("preview.life").is_running() and len(callbacks()) > len(plain)
    before, said = alive(), rig.takt.version
    install(newer)
    life = module("preview.life")
    assert not life.is_running(), "a preview of the older version runs on"
    assert callbacks() == plain, f"handlers are left: {callbacks()}"
    assert not any(one is other for one in before for other in alive()), "functions of the older version are called"
    bpy.context.view_layer.update()
    mesh = next(child for child in rig.children_recursive if child.type == "MESH")
    assert not mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()).hide_viewport, "the character stays hidden"
    assert rig.takt.version == said and rig.takt.text is not None
    assert ops.takt.rebuild() == {"FINISHED"}
    ops.takt.preview()
    assert module("preview.life").is_running()
    bpy.context.scene.frame_set(7)
    bpy.context.view_layer.update()


if __name__ == "__main__":
    code = 0
    try:
        main(*sys.argv[1:])
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stderr.flush()
    os._exit(code)
