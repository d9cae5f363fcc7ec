"""What buttons and their tooltips say: every label and every description is there, and written in Blender's manner."""

from collections.abc import Iterator
from typing import Any

import bpy
import pytest

from takt.bridge import language, properties
from takt.bridge.scores.score_fields import TaktScoreFields

pytestmark = pytest.mark.usefixtures("extension")
SEEN_IN_PANELS = (*properties.SETTING_NAMES, *properties.ACTION_NAMES, "text", "frame_start", "ticks_per_bar",
                  "keep_action", "seed", "sound", "is_map_checked")


def operators() -> Iterator[tuple[str, Any]]:
    ours: Any = bpy.ops.takt  # type: ignore[attr-defined]
    for name in dir(ours):
        yield f"takt.{name}", getattr(ours, name).get_rna_type()


def shown_properties() -> Iterator[tuple[str, Any]]:
    for name, rna in operators():
        yield from ((f"{name} {each.identifier}", each) for each in rna.properties
                    if not each.is_hidden and each.identifier != "rna_type")
    for name in SEEN_IN_PANELS:
        yield name, properties.TaktCharacter.bl_rna.properties[name]
    yield from ((each.identifier, each) for each in TaktScoreFields.bl_rna.properties
                if each.identifier not in ("rna_type", "name"))
    for each in bpy.types.WindowManager.bl_rna.properties:
        if each.identifier.startswith("takt_"):
            yield each.identifier, each


def panels_and_menus() -> list[Any]:
    found = [getattr(bpy.types, name) for name in dir(bpy.types) if name.startswith(("TAKT_PT_", "TAKT_MT_"))]
    assert len(found) > 10
    return found


def faults(label: str, description: str, *, is_item: bool = False) -> list[str]:
    """Return what is wrong with a label and a description; Blender itself ends tooltips with a full stop."""
    found = [words for words in (label,) if not words or "_" in words or words[0].islower() or words.endswith(".")]
    is_missing = not description and not is_item
    if is_missing or "\n" in description or description.endswith(".") or description[:1].islower():
        found.append(description)
    return found


def test_every_operator_has_a_label_and_a_tooltip() -> None:
    found = {name: faults(rna.name, rna.description) for name, rna in operators()}
    assert len(found) > 40
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_every_property_that_is_shown_has_a_label_and_a_tooltip() -> None:
    found = {name: faults(each.name, each.description) for name, each in shown_properties()}
    assert len(found) > 60
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_every_choice_has_a_label() -> None:
    found = {f"{name} {item.identifier}": faults(item.name, item.description, is_item=True)
             for name, each in shown_properties() if each.type == "ENUM" for item in each.enum_items}
    assert len(found) > 80
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_blender_translates_no_word_of_ours_by_itself() -> None:
    """What it has of our words it has in its own sense; a translation of all of them finds them in our context."""
    others = [name for name, rna in operators() if rna.translation_context != language.CONTEXT]
    others += [name for name, each in shown_properties() if each.translation_context != language.CONTEXT
               and name not in ("takt.render_film filepath", "takt.export_performance filepath",
                                "takt.export_ogre filepath", "takt.export_procedures filepath",
                                "takt.save_tweaks filepath")]  # Blender's own
    others += [cls.__name__ for cls in panels_and_menus() if cls.bl_translation_context != language.CONTEXT]
    assert others == []


def test_every_panel_and_menu_has_a_label() -> None:
    assert [cls.__name__ for cls in panels_and_menus() if not cls.bl_label] == []
