"""Switching the extension on and off."""

import bpy

import takt


def _names() -> set[str]:
    return {name for name in dir(bpy.types) if "TAKT" in name.upper()} | set(dir(bpy.ops.takt))  # type: ignore[attr-defined]


def _handlers() -> list[object]:
    lists = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    return [handler for found in lists if isinstance(found, list) for handler in found]


def test_switching_off_leaves_nothing_behind() -> None:
    takt.unregister()
    names, handlers = _names(), _handlers()
    takt.register()
    takt.unregister()
    assert _names() == names
    assert _handlers() == handlers
    takt.register()


def test_switching_on_again_brings_the_same() -> None:
    names, handlers = _names(), len(_handlers())
    takt.unregister()
    takt.register()
    assert _names() == names
    assert len(_handlers()) == handlers
