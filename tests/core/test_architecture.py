"""The arrows of docs/architecture.md: panels → operators → bridge, preview → core → nothing but numpy."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLENDER = {"bpy", "bpy_extras", "bpy_types", "bl_ext", "blf", "bmesh", "gpu", "gpu_extras", "mathutils"}

# What each room may import from the others.
ROOMS: dict[str, set[str]] = {
    "core": set(),
    "cli": {"core"},
    "bridge": {"core"},
    "preview": {"bridge", "core"},
    "operators": {"bridge", "core", "preview", "samples"},
    "panels": {"bridge", "core", "operators", "preview"},
}

# The same for the rooms inside core; `errors` is open to all. What stands lower knows nothing of what stands higher.
CORE_ROOMS: dict[str, set[str]] = {
    "maths": set(),
    "skeletons": {"maths"},
    "clips": {"maths", "skeletons"},
    "music": {"maths"},
    "shading": {"maths"},
    "skinning": {"maths", "skeletons"},
    "binding": {"maths", "skeletons", "skinning"},
    "fitting": {"binding", "maths", "skeletons"},
    "formats": {"clips", "maths", "skeletons", "skinning"},
    "retargeting": {"clips", "maths", "skeletons"},
    "pha": {"clips", "formats", "maths", "skeletons"},
    "library": {"clips", "formats", "maths", "pha", "retargeting", "skeletons"},
    "playing": {"clips", "library", "maths", "pha", "retargeting", "skeletons"},
    "classes": {"clips", "library", "maths", "playing", "retargeting", "skeletons"},
    "score_editor": {"clips", "maths", "music", "pha", "playing", "skeletons"},
}

# And inside rooms of those: by what they may know of the files and rooms beside them.
INNER_ROOMS: dict[str, set[str]] = {
    "retargeting/comparing": {"limbs", "skin_points"},
    "retargeting/ground": {"comparing", "hips", "limbs", "skin_points"},
    "retargeting/contacts": {"comparing", "ground", "limbs", "skin_points"},
    "playing/placing": set(),
}
BLOCKS = "body", "orelse", "handlers", "finalbody", "cases"
"""Where statements hold others."""


@cache
def statements(source: str) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Return all that a module's source imports by; kept, as several tests ask for it.

    Expressions, which are most of a source, hold no statements.
    """
    nodes = list[ast.AST]((ast.parse(source),))
    for node in nodes:  # which grows meanwhile
        nodes += [inner for block in BLOCKS for inner in getattr(node, block, ())]
    return tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))


def imports(source: str, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield all that a module of a package imports; what comes from Takt itself starts with "takt".

    `from . import x` counts as the import of x, since it may be a module.
    """
    for node in statements(source):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        else:
            base = package[:len(package) - node.level + 1] if node.level else ()
            base += tuple((node.module or "").split(".")) if node.module else ()
            yield from ((*base, alias.name) for alias in node.names)


def files(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imported(path: Path) -> Iterator[tuple[str, ...]]:
    return imports(path.read_text(encoding="utf-8"), ("takt", *path.relative_to(ROOT).parent.parts))


def strangers(path: Path, allowed: set[str]) -> list[str]:
    """Return what a file imports from other rooms than those allowed."""
    room = path.relative_to(ROOT).parts[0]
    return [".".join(name) for name in imported(path)
            if name[0] == "takt" and name[1:2] != (room,) and not set(name[1:2]) <= allowed]


@pytest.mark.parametrize("room", ROOMS)
def test_arrows_go_one_way(room: str) -> None:
    found = {str(path.relative_to(ROOT)): names for path in files(room) if (names := strangers(path, ROOMS[room]))}
    assert found == {}


def test_core_has_these_rooms_and_the_errors() -> None:
    found = {path.relative_to(ROOT / "core").with_suffix("").parts[0] for path in files("core")} - {"__init__"}
    assert found == {*CORE_ROOMS, "errors"}


@pytest.mark.parametrize("room", CORE_ROOMS)
def test_arrows_in_core_go_one_way(room: str) -> None:
    allowed = {*CORE_ROOMS[room], "errors", room}
    found = {(str(path.relative_to(ROOT)), name[2]) for path in files(f"core/{room}") for name in imported(path)
             if name[:2] == ("takt", "core") and len(name) > 2 and name[2] not in allowed}
    assert found == set()


@pytest.mark.parametrize("room", INNER_ROOMS)
def test_arrows_inside_a_room_of_core_go_one_way(room: str) -> None:
    outer, inner = room.split("/")
    found = {(str(path.relative_to(ROOT)), name[3]) for path in files(f"core/{room}") for name in imported(path)
             if name[:3] == ("takt", "core", outer) and name[3] not in INNER_ROOMS[room] | {inner}}
    assert found == set()


def test_rooms_of_core_stand_above_what_they_know() -> None:
    rooms = list(CORE_ROOMS)
    assert [(room, below) for room in rooms for below in CORE_ROOMS[room]
            if rooms.index(below) >= rooms.index(room)] == []


@pytest.mark.parametrize(("room", "extras"), [("core", set()), ("cli", {"matplotlib"})])
def test_needs_numpy_alone(room: str, extras: set[str]) -> None:
    known = sys.stdlib_module_names | {"numpy", "takt"} | extras
    found = {(str(path.relative_to(ROOT)), name[0]) for path in files(room) for name in imported(path)
             if name[0] not in known}
    assert found == set()


@pytest.mark.parametrize("room", ROOMS)
def test_imports_itself_relatively(room: str) -> None:
    # Installed in Blender the package is called bl_ext.….takt.
    found = [str(path.relative_to(ROOT)) for path in files(room)
             for node in statements(path.read_text(encoding="utf-8"))
             if (isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "takt")
             or (isinstance(node, ast.Import) and any(alias.name.split(".")[0] == "takt" for alias in node.names))]
    assert found == []


def test_root_imports_nothing_of_blender_when_imported() -> None:
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    outside = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    names = [name for node in outside for name in imports(ast.unparse(node), ("takt",))]
    assert [name for name in names if name[0] in BLENDER or set(name[1:2]) & set(ROOMS)] == []


def test_no_room_for_odds_and_ends() -> None:
    forbidden = {"utils", "util", "common", "helpers", "helper", "manager", "misc"}
    assert [str(path.relative_to(ROOT)) for room in ROOMS for path in files(room) if path.stem in forbidden] == []


@pytest.mark.parametrize(("source", "expected"), [
    ("import numpy as np", [("numpy",)]),
    ("from . import clip", [("takt", "core", "pha", "clip")]),
    ("from ..skeleton import Pose", [("takt", "core", "skeleton", "Pose")]),
    ("from ... import bridge", [("takt", "bridge")]),
    ("def f():\n    from ...bridge import mesh", [("takt", "bridge", "mesh")]),
])
def test_imports_are_read(source: str, expected: list[tuple[str, ...]]) -> None:
    assert list(imports(source, ("takt", "core", "pha"))) == expected


def test_what_docstrings_and_the_page_say_is_there() -> None:
    """Files that a room's docstring names stand in it, and paths that the page names in the project."""
    missing = []
    for package in sorted(ROOT.glob("*/**/__init__.py")):
        if package.relative_to(ROOT).parts[0] in ROOMS:
            named = re.findall(r"`([\w/]+(?:\.py|/))`", ast.get_docstring(ast.parse(package.read_text("utf-8"))) or "")
            missing += [package.parent / name for name in named if not (package.parent / name).exists()]
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    missing += [name for name in re.findall(r"`(\w+/[\w/]*(?:\.\w+)?)`", page)
                if not (ROOT / name).exists()]
    assert missing == []
