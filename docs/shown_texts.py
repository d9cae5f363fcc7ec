"""Write what Blender shows of Takt by itself: labels and tooltips of operators, properties, panels and menus.

Run by Blender's Python: shown_texts.py FILE. Each is written as a list of its part, its English text and where it is.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bpy
import checkout  # noqa: F401

import takt
from takt.bridge import language

Text = tuple[str, str, str]


def shown() -> Iterator[Text]:
    """Yield all labels and tooltips: part, text, where."""
    ours: Any = bpy.ops.takt  # type: ignore[attr-defined]
    for name in dir(ours):
        rna = getattr(ours, name).get_rna_type()
        yield from of_struct(rna, f"takt.{name}")
    for name in sorted(dir(bpy.types)):
        cls: Any = getattr(bpy.types, name)
        if str(getattr(cls, "__module__", "")).startswith("takt."):
            if label := getattr(cls, "bl_label", ""):
                yield "labels", label, name
            if tooltip := vars(cls).get("bl_description"):
                yield "tooltips", tooltip, name
    for base in (bpy.types.PropertyGroup, bpy.types.NodeTree, bpy.types.AddonPreferences, bpy.types.Panel):
        for cls in base.__subclasses__():
            if cls.__module__.startswith("takt.") and cls.is_registered:
                yield from of_properties(cls.bl_rna, cls.__name__)
                if issubclass(cls, bpy.types.NodeTree):
                    yield "labels", cls.bl_label, cls.__name__
    for owner in (bpy.types.WindowManager, bpy.types.Object, bpy.types.Scene):
        yield from of_properties(owner.bl_rna, owner.__name__)


def of_struct(rna: Any, where: str) -> Iterator[Text]:
    """Yield the texts of an operator."""
    yield "labels", rna.name, where
    yield "tooltips", rna.description, where
    yield from of_properties(rna, where)


def of_properties(rna: Any, where: str) -> Iterator[Text]:
    """Yield the texts of properties that are in our own context and not hidden, and of what they let choose."""
    for each in rna.properties:
        if each.translation_context != language.CONTEXT or each.is_hidden:
            continue
        here = f"{where}.{each.identifier}"
        if each.name != each.identifier:
            yield "labels", each.name, here
        yield "tooltips", each.description, here
        for item in getattr(each, "enum_items", ()):
            yield "labels", item.name, here
            yield "tooltips", item.description, here


if __name__ == "__main__":
    takt.register()
    found = sorted({each for each in shown() if each[1]})
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")
    sys.stdout.flush()
    import os
    os._exit(0)  # Blender 4.5 may crash or stall while its process winds down.
