"""A score that is opened again keeps the settings that nobody asks for anew."""

from pathlib import Path

import bpy

from takt.bridge import properties
from takt.tests.blender.dancing import STEPS, play


def test_opened_again_a_score_keeps_its_settings(rig: bpy.types.Object, library: Path) -> None:
    path = library / "dance.pha"
    play(path, loop=True, method="APPEND", procedure="pair")
    character = properties.character(rig)
    play(path)
    assert character.loop and character.method == "APPEND" and character.procedure == "pair"
    play(path, loop=False)
    assert not character.loop and character.method == "APPEND"


def test_another_score_begins_with_the_defaults(rig: bpy.types.Object, library: Path) -> None:
    other = library / "other.pha"
    other.write_text(STEPS, encoding="utf-8")
    play(library / "dance.pha", loop=True)
    play(other)
    assert not properties.character(rig).loop
