"""Blocks of included files: locked until the file is open as a Text, then changed like the score itself."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scores import score, score_blocks, texts
from takt.bridge.scores.included_texts import open_beside
from takt.operators.score_editor.drag import TAKT_OT_score_drag
from takt.tests.blender.dancing import STEPS, play, refused, text_of
from takt.tests.blender.score_editors import Hand, choose, edge_of, editing, looked_into

operators: Any = bpy.ops


def test_what_stands_in_an_included_file_is_opened_there(rig: bpy.types.Object, library: Path) -> None:
    (library / "more").mkdir()
    (library / "more" / "Pairs.pha").write_text(STEPS.replace('"pair"', '"couple"'), encoding="utf-8")
    (library / "outer.pha").write_text(
        '<pha tickLength="1"><include src="more.Pairs"/><procedure name="main">'
        '<call name="couple" duration="3"/></procedure></pha>', encoding="utf-8")
    play(library / "outer.pha")
    with editing() as layout:
        choose(layout, "left")
        before = text_of(rig).as_string()
        with pytest.raises(RuntimeError, match=r"in Pairs\.pha, which is included"):
            operators.takt.score_delete()
        assert text_of(rig).as_string() == before and "Pairs.pha" not in bpy.data.texts
        assert operators.takt.score_open_file() == {"FINISHED"}
        text = bpy.data.texts["Pairs.pha"]
        assert text.current_line.body.strip() == '<call name="left" duration="1" transition="0.25"/>'


def test_an_included_file_that_is_open_is_changed_like_the_score_itself(rig: bpy.types.Object, library: Path) -> None:
    more = library / "more" / "Pairs.pha"
    more.parent.mkdir()
    more.write_text(STEPS.replace('"pair"', '"couple"'), encoding="utf-8")
    on_disk = more.read_bytes()
    outer = ('<pha tickLength="1"><include src="more.Pairs"/><procedure name="main">'
             '<call name="couple" duration="3"/></procedure></pha>')
    (library / "outer.pha").write_text(outer, encoding="utf-8")
    play(library / "outer.pha")
    with editing() as layout:
        choose(layout, "left")
        operators.takt.score_open_file()
        operators.ed.undo_push(message="open")
        opened = bpy.data.texts["Pairs.pha"]
        before = opened.as_string()
        layout = looked_into()
        hand, (x, y) = Hand(TAKT_OT_score_drag), edge_of(layout, layout.boxes.titles.index("left"))
        hand.press(x, y)
        hand.move(x + 60.0, y, ctrl=True)
        assert texts.is_proposed() and opened.as_string() == before
        played = score.motion_of(rig)
        assert hand.let_go() == {"FINISHED"} and not hand.said
        assert text_of(rig).as_string() == outer and opened.as_string() != before and more.read_bytes() == on_disk
        now = score.motion_of(rig)
        assert played is not None and now is not None
        np.testing.assert_array_equal(now.sequence.length_s, played.sequence.length_s)
        assert (now.sequence.length_s != layout.rows[0].length_s).any()
        choose(looked_into(), "right")
        assert operators.takt.score_delete() == {"FINISHED"}
        assert looked_into().boxes.titles == ("couple", "left") and '"right" duration="1.5"' not in opened.as_string()
        opened.from_string(before)  # typed
        assert looked_into().boxes.titles == layout.boxes.titles
        opened.from_string(before.replace('"left"', '"lefft"'))
        assert "lefft" in str(score_blocks.refresh(rig).problems)
        opened.from_string(before)
        other = bpy.data.texts.new("another.pha")
        other.filepath = str(library / "another.pha")
        assert len(looked_into()) == len(layout)


def test_what_another_character_plays_has_nothing_to_do_with_this_one(rig: bpy.types.Object, library: Path) -> None:
    outer = '<pha tickLength="1"><include src="more.Pairs"/></pha>'
    texts_there = {}
    for name in ("more/Pairs.pha", "more/Deeper.pha", "solo.pha"):
        texts_there[name] = bpy.data.texts.new(name)
        texts_there[name].filepath = str(library / name)
    properties.character(rig).text = texts_there["solo.pha"]
    both = {library / "more/Pairs.pha", library / "more/Deeper.pha"}
    assert set(open_beside(outer, str(library / "outer.pha"))) == both
    properties.character(rig).text = texts_there["more/Pairs.pha"]  # named, so that it counts all the same
    assert library / "more/Pairs.pha" in open_beside(outer, str(library / "outer.pha"))
    assert library / "more/Deeper.pha" not in open_beside(outer, str(library / "more/Deeper.pha"))
    assert not open_beside(STEPS, "")


def test_an_open_file_that_is_no_xml_concerns_only_who_names_it(rig: bpy.types.Object, library: Path) -> None:
    """It stays open from an import that failed; a score that lacks another file says which."""
    play(library / "dance.pha")
    (library / "broken.pha").write_text(STEPS.replace("</procedure>", "", 1), encoding="utf-8")
    assert "is not closed" in refused(library / "broken.pha")
    outer = ('<pha tickLength="1"><include src="{}"/><procedure name="main"><call name="pair" duration="3"/>'
             '</procedure></pha>')
    for name in ("nowhere", "broken"):
        (library / f"of_{name}.pha").write_text(outer.format(name), encoding="utf-8")
    said = refused(library / "of_nowhere.pha")
    assert "'nowhere'" in said and "mismatched" not in said
    assert "is not closed" in refused(library / "of_broken.pha")
