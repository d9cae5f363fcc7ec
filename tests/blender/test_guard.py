"""Whatever Blender calls by itself raises nothing: one report takes its place."""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

import takt
from takt.bridge import guard
from takt.bridge.guard import IS_GUARDED, guarded

ROOT = Path(takt.__file__).parent
ROOMS = ("bridge", "preview", "operators", "panels")
CALLED = ("draw", "draw_header", "draw_header_preset", "draw_item", "setup", "test_select", "poll", "poll_drop",
          "description")


@pytest.fixture(autouse=True)
def nothing_told() -> Iterator[None]:
    guard.forget()
    yield
    guard.forget()


def test_a_failure_is_told_once_and_the_call_returns(caplog: pytest.LogCaptureFixture) -> None:
    @guarded(0.5)
    def timer(said: str) -> float | None:
        raise ValueError(said)

    with caplog.at_level(logging.ERROR):
        assert [timer(said) for said in ("one", "one", "two", "one")] == [0.5] * 4
    assert [record.exc_info[1].args[0] for record in caplog.records if record.exc_info and record.exc_info[1]] == [
        "one", "two"]


def test_failures_that_differ_each_time_fill_nothing(caplog: pytest.LogCaptureFixture) -> None:
    @guarded(None)
    def handler(number: int) -> None:
        raise ValueError(number)

    for number in range(1000):
        handler(number)
    assert len(caplog.records) < 300


def test_what_fails_to_draw_says_so_in_its_place(caplog: pytest.LogCaptureFixture) -> None:
    class Layout:
        def label(self, **said: object) -> None:
            labels.append(said["text"])

    class Panel:
        layout = Layout()

        def draw(self, _context: object) -> None:
            raise ValueError

        @classmethod
        def poll(cls, _context: object) -> bool:
            raise ValueError

    labels: list[object] = []
    guard.guard_class(Panel, Panel.__module__)
    Panel().draw(None)
    assert labels == ["Takt failed here: see the console"] and Panel.poll(None) is False
    assert len(caplog.records) == 2


def test_all_handlers_are_guarded() -> None:
    lists = [each for name in dir(bpy.app.handlers) if isinstance(each := getattr(bpy.app.handlers, name), list)]
    ours = [function for handlers in lists for function in handlers if function.__module__.startswith("takt.")]
    assert len(ours) > 15
    assert not [function.__qualname__ for function in ours if not hasattr(function, IS_GUARDED)]


def test_all_that_is_drawn_is_guarded() -> None:
    ours = [cls for base in (bpy.types.Operator, bpy.types.Panel, bpy.types.Menu, bpy.types.UIList, bpy.types.Gizmo,
                             bpy.types.GizmoGroup, bpy.types.FileHandler, bpy.types.AddonPreferences)
            for cls in base.__subclasses__() if cls.__module__.startswith("takt.") and cls.__name__.startswith("TAKT_")]
    methods = [(cls.__name__, name, method) for cls in ours for name in CALLED
               if (method := getattr(cls, name, None)) is not None and hasattr(method, "__code__")]
    assert len(methods) > 80
    assert not [(cls, name) for cls, name, method in methods if not hasattr(method, IS_GUARDED)
                and method.__module__.startswith("takt.")]


def test_all_timers_drawings_and_additions_to_menus_are_guarded() -> None:
    """Found in the source: what is given to Blender by name must be guarded where it is defined."""
    modules = [ast.parse(path.read_text(encoding="utf-8"))
               for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    defined = [(node.name, module, any(ast.unparse(each).removeprefix("guard.").startswith("guarded(")
                                       for each in node.decorator_list))
               for module in modules for node in module.body if isinstance(node, ast.FunctionDef)]
    count, unguarded = 0, []
    for module in modules:
        for name in set(_given_to_blender(module)) - IN_LOOPS:
            there = [is_guarded for named, home, is_guarded in defined if named == name and home is module]
            anywhere = [is_guarded for named, _, is_guarded in defined if named == name]
            count += 1
            if not any(there or anywhere):
                unguarded.append(name)
    assert count > 15 and not unguarded


IN_LOOPS = {"what", "draw", "handler", "function"}
"""Names that stand for several: of `_soon`, of lists of handlers and of menus, whose members other tests look at."""


def _given_to_blender(tree: ast.Module) -> Iterator[str]:
    """Yield the names of functions that are given to timers, drawings, handlers and menus."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not call.args or not isinstance(call.args[0], (ast.Name, ast.Attribute)):
            continue
        said = ast.unparse(call.func)
        if said.endswith(("timers.register", "draw_handler_add")) or said == "_soon" or (
                said.endswith(("append", "prepend")) and ("_MT_" in said or "handlers." in said)):
            given: Any = call.args[0]
            yield given.id if isinstance(given, ast.Name) else given.attr
