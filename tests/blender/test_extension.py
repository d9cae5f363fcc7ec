"""Switching the extension on and off."""

from types import SimpleNamespace
from typing import Any

import bpy

import takt
from takt.bridge.scores import score_tree
from takt.core.score_editor.gestures import presses
from takt.operators.score_editor.insert import InsertsWhatIsChosen
from takt.panels import menu
from takt.panels.score_editor import keymap


def _names() -> set[str]:
    return {name for name in dir(bpy.types) if "TAKT" in name.upper()} | set(dir(bpy.ops.takt))  # type: ignore[attr-defined]


def _handlers() -> list[object]:
    lists = (getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers))
    return [handler for found in lists if isinstance(found, list) for handler in found]


def _menus() -> list[int]:
    menus = (bpy.types.VIEW3D_MT_object_parent, bpy.types.TOPBAR_MT_file_import, bpy.types.VIEW3D_MT_object,
             bpy.types.VIEW3D_MT_pose)
    return [len(getattr(menu.draw, "_draw_funcs", ())) for menu in menus]


def _properties() -> set[str]:
    types = (bpy.types.Object, bpy.types.Scene, bpy.types.WindowManager)
    return {name for kind in types for name in kind.bl_rna.properties.keys()}  # noqa: SIM118  # no plain dict


def test_switching_off_leaves_nothing_behind() -> None:
    takt.unregister()
    before = _names(), _handlers(), _menus(), _properties()
    takt.register()
    assert "takt" in _properties() and all(now > then for now, then in zip(_menus(), before[2], strict=True))
    takt.unregister()
    assert (_names(), _handlers(), _menus(), _properties()) == before
    takt.register()


def test_switching_on_again_brings_the_same() -> None:
    names, handlers = _names(), len(_handlers())
    takt.unregister()
    takt.register()
    assert _names() == names
    assert len(_handlers()) == handlers


def test_the_panels_of_node_editors_stay_out_of_score_editors_alone() -> None:
    area = bpy.context.window_manager.windows[0].screen.areas[0]
    panel: Any = bpy.types.NODE_PT_annotation
    trees: Any = bpy.data.node_groups
    shown = {}
    for kind in ("TaktScoreTree", "GeometryNodeTree"):
        area.ui_type = kind
        area.spaces.active.node_tree = trees.new("canvas", kind)
        shown[kind] = panel.poll(SimpleNamespace(space_data=area.spaces.active))
    assert shown == {"TaktScoreTree": False, "GeometryNodeTree": True}
    takt.unregister()
    native = panel.poll.__module__
    takt.register()
    assert native == "bl_ui.space_node" != panel.poll.__module__
    area.ui_type = "TEXT_EDITOR"


def test_switching_off_leaves_no_score_editor_open() -> None:
    """An editor of an unknown kind has no name, and complains at each drawing."""
    area = bpy.context.window_manager.windows[0].screen.areas[0]
    area.ui_type = "TaktScoreTree"
    score_tree.give_trees()
    assert list(score_tree.trees())
    takt.unregister()
    spaces = [space for screen in bpy.data.screens for each in screen.areas for space in each.spaces]
    takt.register()
    assert not any(score_tree.is_score_editor(space) for space in spaces) and area.type == "TEXT_EDITOR"
    assert not any(tree.bl_idname == "TaktScoreTree" for tree in bpy.data.node_groups)


def test_the_menu_holds_operators_that_there_are() -> None:
    """A menu tells of a mistake on the console only."""
    icons = bpy.types.UILayout.bl_rna.functions["operator"].parameters["icon"].enum_items.keys()  # type: ignore[attr-defined]
    for verb in filter(None, menu._VERBS):
        room, _, name = verb[0].partition(".")
        assert name in dir(getattr(bpy.ops, room)) and verb[1] in icons


def test_each_press_in_the_score_editor_has_its_operator_and_its_shortcut() -> None:
    pressed = [(each.operator, each.ctrl, each.shift) for each in keymap.SHORTCUTS if each.type == "LEFTMOUSE"
               and each.value == "PRESS" and each.operator != "takt.score_shelf"]
    wanted = [(f"takt.score_{press}", held == "ctrl", held == "shift")
              for press, modifiers in presses().items() for held in ("", *modifiers)]
    assert sorted(pressed) == sorted(wanted)
    assert all(name.removeprefix("takt.") in dir(bpy.ops.takt) for name, _, _ in pressed)  # type: ignore[attr-defined]


def test_operators_that_show_a_search_list_name_it_themselves() -> None:
    """Blender looks for bl_property in the class alone; without it, the list is empty."""
    searching = [each for each in (getattr(bpy.types, name) for name in dir(bpy.types) if name.startswith("TAKT_OT_"))
                 if issubclass(each, InsertsWhatIsChosen)]
    assert len(searching) >= 2
    for each in searching:
        assert vars(each)["bl_property"] in each.__annotations__
