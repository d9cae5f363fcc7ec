"""What panels and operators say goes through the language, by what their source says."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DRAWN = ("label", "operator", "operator_menu_enum", "prop", "menu", "popover", "column", "row")
ASKED = ("invoke_confirm", "invoke_props_dialog", "popup_menu")
SHOWN = ("text", "heading", "title", "message", "confirm_text")


def method_calls(room: str) -> Iterator[tuple[str, str, ast.Call]]:
    """Yield all calls of methods in a room: the file and line, the method's name, and the call."""
    for path in sorted((ROOT / room).rglob("*.py")):
        for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
                yield f"{path.relative_to(ROOT).as_posix()}:{each.lineno}", each.func.attr, each


def is_bare(where: str, method: str, call: ast.Call) -> bool:
    """Tell whether a call shows words without asking the language."""
    if method == "report":
        return "/reports.py:" not in where
    if method in ("poll_message_set", "status_text_set"):
        return "say(" not in ast.unparse(call) and ast.unparse(call.args[0]) not in ("None", "said")
    return method in (*DRAWN, *ASKED) and any(
        isinstance(each.value, ast.JoinedStr | ast.Constant)
        and re.search("[A-Za-z]{2}", re.sub("{.*?}", "", ast.unparse(each.value)))
        for each in call.keywords if each.arg in SHOWN)


@pytest.mark.parametrize("room", ["panels", "operators", "bridge", "preview"])
def test_nothing_is_shown_past_the_language(room: str) -> None:
    """Written words are drawn by say(…); reports go through `bridge/reports.py`."""
    calls = list(method_calls(room))
    assert len(calls) > 100
    assert [where for where, method, call in calls if is_bare(where, method, call) and "/guard.py:" not in where] == []


@pytest.mark.parametrize("room", ["panels", "operators", "bridge"])
def test_texts_that_are_drawn_are_not_translated(room: str) -> None:
    """Blender would look for a translation of its own, in its own sense."""
    def says(method: str, call: ast.Call) -> bool:
        words = [each.value for each in call.keywords if each.arg in ("text", "heading")]
        return method in DRAWN and any(not isinstance(each, ast.Constant) or each.value for each in words)

    assert [where for where, method, call in method_calls(room)
            if says(method, call) and "translate" not in {each.arg for each in call.keywords}] == []
