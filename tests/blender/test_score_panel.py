"""What the score's panel works with: the list of procedures, the way to a mistake, characters that share a motion."""

from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
import pytest

from takt.bridge import libraries, properties
from takt.bridge.scores import linked_texts, score
from takt.bridge.scores.score_layout import matters
from takt.core.errors import FileError
from takt.core.maths import rotations as rot
from takt.core.pha.document import parse
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.panels import score as score_panel
from takt.panels import sidebar
from takt.samples import dancer
from takt.tests.blender.dancing import STEPS, play, rebuild


def edit(**where: Any) -> None:
    assert bpy.ops.takt.edit_score(**where) == {"FINISHED"}  # type: ignore[attr-defined]


def test_procedures_are_listed_with_their_lengths_and_chosen_by_number(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    character = properties.character(rig)
    assert [p.name for p in character.procedures] == ["pair", "main"]
    assert [p.ticks for p in character.procedures] == pytest.approx([2.5, 5.7])
    assert [p.seconds for p in character.procedures] == pytest.approx([2.5, 5.7])
    assert character.procedure_index == 1
    character.procedure_index = 0
    assert character.procedure == "pair"
    character.text.from_string(STEPS.replace('tickLength="1.0"', 'tickLength="0.5"'))
    rebuild()
    assert character.procedures["pair"].seconds == pytest.approx(1.25)
    motion = score.motion_of(rig)
    assert motion is not None
    assert motion.duration_s == pytest.approx(1.25)


def test_lengths_in_the_list_are_those_that_a_viewer_sees_where_the_tempo_changes(rig: bpy.types.Object,
                                                                                   library: Path) -> None:
    play(library / "dance.pha")
    character = properties.character(rig)
    character.text.from_string(STEPS.replace('<pha ', '<pha version="2" ').replace(
        '  <procedure name="pair">', '  <tempo tick="2" tickLength="3"/>\n  <procedure name="pair">'))
    rebuild()
    motion = score.motion_of(rig)
    assert motion is not None and [p.ticks for p in character.procedures] == pytest.approx([2.5, 5.7])
    assert [p.seconds for p in character.procedures] == pytest.approx([2.0 + 0.5 * 3.0, motion.duration_s])


@pytest.mark.parametrize("version", [1, 2])
def test_an_emptied_procedure_has_no_length_and_counts_as_empty_not_as_wrong(rig: bpy.types.Object, library: Path,
                                                                             version: int) -> None:
    play(library / "dance.pha")
    character, head = properties.character(rig), f'<pha version="{version}" tickLength="1.0"><load src="feet.Steps"/>'
    head = head.replace('version="1" ', "")
    pair = '<procedure name="pair"><call name="left" duration="1"/></procedure>'
    character.text.from_string(f'{head}{pair}<procedure name="main"></procedure></pha>')
    score.motion_of(rig)
    score.keep_lists(rig)
    error = score.error_of(rig)
    assert error is not None and score.is_empty(character, error)
    assert [(p.name, p.ticks, p.seconds) for p in character.procedures if p.name == "main"] == [("main", 0.0, 0.0)]
    character.text.from_string(f'{head}{pair}<procedure name="main"><call name="lft" duration="1"/></procedure></pha>')
    score.motion_of(rig)
    error = score.error_of(rig)
    assert error is not None and not score.is_empty(character, error)


def test_an_index_that_is_none_chooses_nothing(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    character = properties.character(rig)
    character.procedure_index = 7
    assert character.procedure == "main"
    character.procedure = "waltz"
    assert character.procedure_index == -1


def test_characters_alike_share_one_motion(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    twin: Any = rig.copy()
    bpy.context.collection.objects.link(twin)
    first = score.motion_of(rig)
    assert first is not None and score.motion_of(twin) is first
    properties.character(twin).curve = "COSINE"
    assert score.motion_of(twin) is not first and score.motion_of(rig) is first
    properties.character(twin).curve = "LINEAR"
    assert score.motion_of(twin) is first
    score.forget(rig)
    anew = score.motion_of(rig)
    assert anew is not first and score.motion_of(twin) is anew


def test_a_new_score_has_an_empty_main(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha", procedure="pair")
    character, before = properties.character(rig), properties.character(rig).text
    assert bpy.ops.takt.new_score() == {"FINISHED"}  # type: ignore[attr-defined]
    assert character.text not in (None, before) and before in list(bpy.data.texts)
    assert (character.procedure, character.filepath) == ("main", "")
    found = parse(character.text.as_string())
    assert [problem.message.partition(",")[0] for problem in found.problems] == [
        "<procedure>: found nothing to play in it"]  # which is all that is missing
    assert [(p.name, p.block) for p in found.procedures] == [("main", ())]


def test_the_sample_dancer_is_bound_and_plays_a_dance_of_which_nothing_is_saved_over_the_sample() -> None:
    assert bpy.ops.takt.add_sample() == {"FINISHED"}  # type: ignore[attr-defined]
    armature = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    character = properties.character(armature)
    assert character.action is not None and score.motion_of(armature) is not None
    assert character.text is not None and linked_texts.path_of(character.text) is None
    assert any(ob.find_armature() == armature and ob.vertex_groups for ob in bpy.data.objects)


def test_a_mistake_in_another_file_is_shown_there(rig: bpy.types.Object, library: Path) -> None:
    """Without a window there is no editor to look into; the file is opened all the same, and a wrong one refused."""
    play(library / "dance.pha")
    with pytest.raises(RuntimeError, match="is no file that can be opened"):
        edit(line=3, filepath=str(library / "gone.pha"))
    assert len(bpy.data.texts) == 1


class Boxes:
    """A layout that counts its boxes; everything in them is a layout again."""

    def __init__(self) -> None:
        self.count = 0

    def box(self) -> "Boxes":
        self.count += 1
        return self

    def __getattr__(self, _name: str) -> Any:
        return lambda *_args, **_named: self


def test_a_folder_of_clips_that_is_gone_is_told_in_one_box(rig: bpy.types.Object, library: Path,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidebar, "letters", lambda _: 40)  # no region is drawn here
    moved, boxes = library / "moved", Boxes()
    (library / "feet").rename(library / "elsewhere")
    moved.mkdir()
    (library / "elsewhere").rename(moved / "feet")
    play(library / "dance.pha", library=str(moved))
    moved.rename(library / "elsewhere")
    score.forget(rig)
    assert score.motion_of(rig) is None
    error, layout = score.error_of(rig), cast(Any, boxes)
    assert isinstance(error, FileError) and len(error.problems) > 1
    score_panel._draw_error(layout, error, bpy.context, properties.character(rig))
    assert boxes.count == 1


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_what_the_method_does_not_use_is_grey(rig: bpy.types.Object, library: Path, method: str) -> None:
    """And only that: what stands grey changes nothing, what does not changes something."""
    (library / "automatic.pha").write_text(STEPS.replace(' transition="0.25"', ""), encoding="utf-8")
    play(library / "automatic.pha", root_motion="AS_AUTHORED")
    character: Any = properties.character(rig)
    times = np.linspace(0.0, 5.0, 500)
    for name, value in (("curve", "SMOOTHER"), ("pace", "ACCELERATING"), ("joint_time", "LATE")):
        character.method = method
        before = score.motion_of(rig).sample(times).rotations
        kept = getattr(character, name)
        setattr(character, name, value)
        after = score.motion_of(rig).sample(times).rotations
        setattr(character, name, kept)
        assert matters(character, name) == (rot.angle_between(before, after).max() > 1e-6), name


def test_a_new_score_keeps_the_library_of_the_one_before(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    bpy.ops.takt.new_score()  # type: ignore[attr-defined]
    assert Path(properties.character(rig).library) == library


def test_a_new_score_where_there_is_no_library_begins_with_the_samples(rig: bpy.types.Object) -> None:
    bpy.ops.takt.new_score()  # type: ignore[attr-defined]
    assert Path(properties.character(rig).library) == libraries.SAMPLES == dancer.LIBRARY.resolve()


def test_a_new_score_lists_nothing_of_the_one_before(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    character = properties.character(rig)
    assert len(character.procedures) and len(character.clips)
    bpy.ops.takt.new_score()  # type: ignore[attr-defined]
    assert not len(character.procedures) and not len(character.clips)
