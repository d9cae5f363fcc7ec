"""What is written for the interface is also listed there: each class is registered, each operator has a manual page."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def trees(room: str) -> Iterator[ast.Module]:
    for path in sorted((ROOT / room).rglob("*.py")):
        yield ast.parse(path.read_text(encoding="utf-8"))


def written(room: str) -> dict[str, str]:
    """Return the classes of Takt's that a room writes, with the name that Blender knows them by."""
    return {node.name: next((str(each.value.value) for each in node.body if isinstance(each, ast.Assign)
                             and isinstance(each.value, ast.Constant) and isinstance(each.targets[0], ast.Name)
                             and each.targets[0].id == "bl_idname"), "")
            for tree in trees(room) for node in tree.body if isinstance(node, ast.ClassDef)
            and node.name.startswith("TAKT_")}


def listed(room: str) -> set[str]:
    """Return the names in tuples called CLASSES or _CLASSES, and those that are registered by themselves."""
    found: set[str] = set()
    for tree in trees(room):
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(each, ast.Name) and each.id in ("CLASSES", "_CLASSES") for each in targets):
                    found |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("register_class"):
                found |= {each.id for each in node.args if isinstance(each, ast.Name)}
    return found


@pytest.mark.parametrize("room", ["operators", "panels"])
def test_each_class_is_registered(room: str) -> None:
    assert len(written(room)) > 10
    missing = written(room).keys() - listed(room)
    assert not missing, f"put these into _CLASSES of {room}/__init__.py: {sorted(missing)}"


def test_each_operator_has_a_page_of_the_manual() -> None:
    operators = {name.partition(".")[2] for cls, name in written("operators").items() if cls.startswith("TAKT_OT_")}
    source = ast.parse((ROOT / "operators" / "help.py").read_text(encoding="utf-8"))
    pages = next(ast.literal_eval(node.value) for node in source.body if isinstance(node, ast.AnnAssign)
                 and isinstance(node.target, ast.Name) and node.target.id == "_OPERATORS" and node.value is not None)
    given = Counter(name for names in pages.values() for name in names)
    missing, gone = operators - given.keys(), given.keys() - operators
    assert not missing, f"give these a page in operators/help.py: {sorted(missing)}"
    assert not gone, f"operators/help.py names these, which are no operators: {sorted(gone)}"
    assert [name for name, count in given.items() if count > 1] == []
    assert [page for page in pages if not (ROOT / "docs" / f"{page}.md").exists()] == []
