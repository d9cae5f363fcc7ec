"""Switching the extension on and off."""

import bpy

import takt


def _names() -> set[str]:
    return {name for name in dir(bpy.types) if "TAKT" in name.upper()} | set(dir(bpy.ops.takt))  # type: ignore[attr-defined]


def _handlers() -> list[object]:
    lists = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    return [handler for found in lists if isinstance(found, list) for handler in found]


def _menus() -> list[int]:
    menus = (bpy.types.VIEW3D_MT_object_parent, bpy.types.TOPBAR_MT_file_import)
    return [len(getattr(menu.draw, "_draw_funcs", ())) for menu in menus]


def _properties() -> set[str]:
    types = (bpy.types.Object, bpy.types.Scene, bpy.types.WindowManager)
    return {name for kind in types for name in kind.bl_rna.properties.keys()}  # noqa: SIM118  # no plain dict


def test_switching_off_leaves_nothing_behind() -> None:
    takt.unregister()
    before = _names(), _handlers(), _menus(), _properties()
    takt.register()
    assert "takt" in _properties() and _menus() != before[2]
    takt.unregister()
    assert (_names(), _handlers(), _menus(), _properties()) == before
    takt.register()


def test_switching_on_again_brings_the_same() -> None:
    names, handlers = _names(), len(_handlers())
    takt.unregister()
    takt.register()
    assert _names() == names
    assert len(_handlers()) == handlers
