"""The list of a score's clips, and Insert, which puts calls of them into the text."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import bpy
import pytest

from takt.bridge import properties
from takt.bridge.scores import score
from takt.core.pha.document import parse
from takt.operators.insert_clip import TAKT_OT_insert_clip
from takt.panels.score import clip_label
from takt.tests.blender.dancing import STEPS, play, text_of

operators: Any = cast(Any, bpy.ops).takt


def kept_of(rig: bpy.types.Object) -> properties.TaktCharacter:
    return properties.character(rig)


def test_the_clips_of_the_score_are_listed_with_their_lengths(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    found: Any = [(clip.name, clip.seconds) for clip in kept_of(rig).clips]
    assert found == [
        ("feet.Steps.left", pytest.approx(0.8)), ("feet.Steps.right", pytest.approx(0.8))]


@pytest.mark.parametrize("name", ["feet.Steps.left_step", "basic.feet.Steps.left_step",
                                  "moves.Rig|left_step|BaseLayer"])
def test_a_name_that_does_not_fit_is_shown_by_its_end_and_told_whole_at_the_mouse(name: str) -> None:
    assert [clip_label(name, fit) for fit in (True, False)] == [name, "left_step"]
    assert f"a call of {name} after" in TAKT_OT_insert_clip.description(bpy.context, SimpleNamespace(clip=name))
    assert "a call of the chosen clip" in TAKT_OT_insert_clip.description(bpy.context, SimpleNamespace(clip=""))


def test_they_are_listed_though_the_score_has_errors(rig: bpy.types.Object, library: Path) -> None:
    (library / "dance.pha").write_text(STEPS.replace('name="left"', 'name="lefft"'), encoding="utf-8")
    with pytest.raises(RuntimeError, match="did you mean left"):
        play(library / "dance.pha")
    assert [clip.name for clip in kept_of(rig).clips] == ["feet.Steps.left", "feet.Steps.right"]


@pytest.mark.parametrize(("tick_s", "ticks"), [(1.0, 1), (0.5, 2), (0.25, 3), (5.0, 1)])
def test_a_call_has_the_clips_own_length_in_whole_ticks(rig: bpy.types.Object, library: Path, tick_s: float,
                                                        ticks: int) -> None:
    (library / "dance.pha").write_text(STEPS.replace('"1.0"', f'"{tick_s}"'), encoding="utf-8")
    play(library / "dance.pha")
    before = parse(STEPS).procedures[1].calls
    assert operators.insert_clip(clip="feet.Steps.left") == {"FINISHED"}
    calls = parse(text_of(rig).as_string()).procedures[1].calls
    assert [call.name for call in calls] == [*(call.name for call in before), "feet.Steps.left"]
    assert calls[-1].duration == ticks and score.motion_of(rig) is not None


@pytest.mark.parametrize(("line", "procedure", "index"), [
    (1, "main", 2), (4, "pair", 2), (5, "pair", 1), (6, "pair", 2), (9, "main", 1), (10, "main", 2)])
def test_it_goes_behind_the_line_of_the_cursor(rig: bpy.types.Object, library: Path, line: int, procedure: str,
                                               index: int) -> None:
    play(library / "dance.pha")
    text, before = text_of(rig), STEPS.splitlines()
    text.cursor_set(line - 1)
    kept_of(rig).clip_index = 1
    operators.insert_clip()
    found = next(each for each in parse(text.as_string()).procedures if each.name == procedure)
    assert found.calls[index].name == "feet.Steps.right"
    after = text.as_string().splitlines()
    new = next(number for number, words in enumerate(after) if "feet.Steps.right" in words)
    assert after[:new] + after[new + 1:] == before and text.current_line_index == new


def test_what_stands_around_it_stays_to_the_letter(rig: bpy.types.Object, library: Path) -> None:
    odd = STEPS.replace("<procedure name=\"main\">", "<!-- é 舞 -->\n\t<procedure   name='main' ><!-- ü -->")
    (library / "dance.pha").write_text(odd, encoding="utf-8")
    play(library / "dance.pha")
    operators.insert_clip(clip="feet.Steps.left")
    lines = text_of(rig).as_string().splitlines()
    assert [line for line in lines if "feet.Steps.left" not in line] == odd.splitlines()


def test_it_fills_a_new_score(rig: bpy.types.Object, library: Path) -> None:
    operators.new_score()
    kept, text = kept_of(rig), text_of(rig)
    kept.library = str(library)
    text.from_string(text.as_string().replace("  <procedure", '  <load src="feet.Steps"/>\n  <procedure'))
    score.motion_of(rig)
    score.keep_lists(rig)
    operators.insert_clip(clip="feet.Steps.left")
    motion = score.motion_of(rig)
    assert motion is not None and motion.duration_s == pytest.approx(1.0)


def test_refusals_leave_the_text(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with pytest.raises(RuntimeError, match=r"loads no clip 'jump'; it loads feet\.Steps\.left"):
        operators.insert_clip(clip="jump")
    kept_of(rig).procedure = "waltz"
    with pytest.raises(RuntimeError, match="no procedure 'waltz'"):
        operators.insert_clip(clip="feet.Steps.left")
    assert text_of(rig).as_string() == STEPS
    text_of(rig).from_string("<pha")
    with pytest.raises(RuntimeError, match="score"):
        operators.insert_clip(clip="feet.Steps.left")
    assert text_of(rig).as_string().strip() == "<pha"
