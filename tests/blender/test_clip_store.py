"""Blender plays from one store of clips: what an edit does not concern is neither read nor retargeted again."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge import properties
from takt.bridge.actions import curves
from takt.bridge.files.clip_store import CLIPS
from takt.bridge.rigs import joint_map
from takt.bridge.scores import performing, score
from takt.core.library import clip_files, files
from takt.core.library import library as library_room
from takt.core.library import store as store_room
from takt.core.pha import programme
from takt.core.retargeting import retarget as retargeting
from takt.tests.blender.dancing import STEPS, play, rebuild

ACTIONS = """<pha tickLength="1"><load src="Wave"/>
<procedure name="main"><call name="Wave" duration="2"/></procedure></pha>"""


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often files, Actions and scores are read, and clips retargeted."""
    counted: Counter[str] = Counter()

    def count(room: object, name: str, what: str, real: Callable[..., Any]) -> None:
        def call(*arguments: Any, **more: Any) -> Any:
            counted[what] += 1
            return real(*arguments, **more)
        monkeypatch.setattr(room, name, call)

    count(library_room, "read_clip_file", "files", clip_files.read_clip_file)
    count(store_room, "retarget", "retargeted", retargeting.retarget)
    count(performing, "resolve", "scores", programme.resolve)
    count(curves, "read_clip", "actions", curves.read_clip)
    CLIPS.clear()
    yield counted


@pytest.fixture
def dancer(rig: bpy.types.Object, library: Path, counts: Counter[str]) -> bpy.types.Object:
    play(library / "dance.pha")
    assert counts == {"files": 1, "retargeted": 2, "scores": 1}
    counts.clear()
    return rig


@pytest.mark.parametrize("name", ["curve", "method", "interpolation", "translation", "pace", "joint_time", "fit",
                                  "speed", "root_motion", "loop", "lock_feet", "joint_limits", "procedure"])
def test_a_setting_reads_nothing_and_retargets_nothing(dancer: bpy.types.Object, counts: Counter[str],
                                                       name: str) -> None:
    before, kept = score.motion_of(dancer), properties.character(dancer)
    setting: Any = kept.bl_rna.properties[name]
    value = getattr(kept, name)
    if setting.type == "ENUM":
        setattr(kept, name, next(each.identifier for each in setting.enum_items if each.identifier != value))
    else:
        setattr(kept, name, "pair" if setting.type == "STRING" else not value)
    assert score.motion_of(dancer) not in (None, before)
    assert not counts


def test_a_typed_length_looks_names_up_and_no_more(dancer: bpy.types.Object, counts: Counter[str]) -> None:
    for number in range(3, 8):
        properties.character(dancer).text.from_string(STEPS.replace("2.5", str(number)))
        assert score.motion_of(dancer) is not None
    assert counts == {"scores": 5}


def test_a_bone_with_another_parent_is_another_rig_though_it_rests_where_it_did() -> None:
    """In whole numbers, where nothing is rounded, and in the same order."""
    data: Any = bpy.data.armatures.new("Small")
    small = bpy.data.objects.new("Small", data)
    bpy.context.collection.objects.link(small)
    bpy.context.view_layer.objects.active = small
    bpy.ops.object.mode_set(mode="EDIT")
    for at, name in enumerate("abc"):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (at, 0.0, 0.0), (at, 1.0, 0.0)
        bone.parent = data.edit_bones["a"] if at else None
    bpy.ops.object.mode_set(mode="OBJECT")
    before, rest = performing.rest_key(small), [tuple(bone.matrix_local[0]) for bone in data.bones]
    assert performing.rest_key(small) == before
    bpy.ops.object.mode_set(mode="EDIT")
    data.edit_bones["c"].parent = data.edit_bones["b"]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [bone.name for bone in data.bones] == [*"abc"] and rest == [tuple(b.matrix_local[0]) for b in data.bones]
    assert performing.rest_key(small) != before


def test_two_rigs_share_what_is_read(dancer: bpy.types.Object, counts: Counter[str]) -> None:
    twin: Any = dancer.copy()
    twin.data = dancer.data.copy()
    bpy.context.collection.objects.link(twin)
    assert score.motion_of(twin) is score.motion_of(dancer) and not counts
    twin.data.bones["x_tail"].name = "x_other"
    assert score.motion_of(twin) not in (None, score.motion_of(dancer))
    assert counts == {"retargeted": 2}


def test_rebuild_reads_what_was_changed_and_no_more(dancer: bpy.types.Object, library: Path,
                                                    counts: Counter[str]) -> None:
    rebuild()
    assert counts == {"scores": 1}
    counts.clear()
    path = library / "feet" / "Steps.skeleton.xml"
    path.write_bytes(path.read_bytes().replace(b'length="0.8"', b'length="0.9"'))
    before = score.motion_of(dancer)
    properties.character(dancer).curve = "COSINE"
    assert [clip.duration_s for clip in score.motion_of(dancer).clips] == [0.8, 0.8] and not counts
    rebuild()
    assert counts == {"files": 1, "retargeted": 2, "scores": 1}
    assert [clip.duration_s for clip in score.motion_of(dancer).clips] == [0.9, 0.9] and before is not None


def test_a_typed_edit_looks_into_no_folder_until_rebuild(dancer: bpy.types.Object, library: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    steps, looked = library / "feet" / "Steps.skeleton.xml", list[str]()
    steps.write_bytes(steps.read_bytes().replace(b'length="0.8"', b'length="0.9"'))
    (library / "feet" / "Steps.bvh").write_text("HIERARCHY")
    real = files.candidates

    def candidates(root: Path, src: str, endings: Sequence[str]) -> list[Path]:
        looked.append(src)
        return real(root, src, endings)

    monkeypatch.setattr(files, "candidates", candidates)
    text = properties.character(dancer).text
    for number in range(3, 6):
        text.from_string(STEPS.replace("2.5", str(number)))
        motion = score.motion_of(dancer)
        assert motion is not None and {clip.duration_s for clip in motion.clips} == {0.8}
    assert not looked and not score.warnings_of(dancer)
    rebuild()
    motion = score.motion_of(dancer)
    assert motion is not None and {clip.duration_s for clip in motion.clips} == {0.9}
    assert looked and any("there are also" in problem.message for problem in score.warnings_of(dancer))


def test_an_edit_that_names_what_was_not_named_before_finds_it(dancer: bpy.types.Object, library: Path,
                                                               tmp_path: Path) -> None:
    """Another file, one that came since, an included score, and that score as it is edited; another library."""
    steps, kept = library / "feet" / "Steps.skeleton.xml", properties.character(dancer)

    def names(text: str) -> list[str]:
        kept.text.from_string(text)
        motion = score.motion_of(dancer)
        assert motion is not None, score.error_of(dancer)
        return [name.rpartition(".")[2] for name in motion.sequence.clips]

    more = STEPS.replace("feet.Steps", "feet.More")
    kept.text.from_string(more)
    assert score.motion_of(dancer) is None
    (library / "feet" / "More.skeleton.xml").write_bytes(steps.read_bytes())
    assert names(more + " ") == ["left", "right"]
    included = STEPS.replace('"pair"', '"couple"')
    outer = ('<pha tickLength="1"><include src="couples"/><procedure name="main">'
             '<call name="couple" duration="2"/></procedure></pha>')
    (library / "couples.pha").write_text(included, encoding="utf-8")
    assert names(outer) == ["left", "right"]
    (library / "couples.pha").write_text(included.replace('"right" duration="1.5"', '"left" duration="1.5"'),
                                         encoding="utf-8")
    assert names(outer + " ") == ["left"]
    other = tmp_path / "other"
    (other / "feet").mkdir(parents=True)
    (other / "feet" / "Steps.skeleton.xml").write_bytes(
        steps.read_bytes().replace(b'length="0.8"', b'length="0.9"'))
    kept.library = str(other)
    kept.text.from_string(STEPS)
    motion = score.motion_of(dancer)
    assert motion is not None and {clip.duration_s for clip in motion.clips} == {0.9}


def test_loading_a_file_looks_at_the_clips_anew(dancer: bpy.types.Object, library: Path, counts: Counter[str]) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(library / "saved.blend"))
    path = library / "feet" / "Steps.skeleton.xml"
    for duration_s in (0.8, 0.9):
        bpy.ops.wm.open_mainfile(filepath=str(library / "saved.blend"))
        motion = score.motion_of(bpy.data.objects["Rig"])
        assert motion is not None and {clip.duration_s for clip in motion.clips} == {duration_s}
        path.write_bytes(path.read_bytes().replace(b'length="0.8"', b'length="0.9"'))
    assert counts["files"] == 1


def test_a_corrected_map_retargets_and_reads_nothing(dancer: bpy.types.Object, counts: Counter[str]) -> None:
    joint_map.fill(dancer)
    properties.character(dancer).joints["l_knee"].meant = properties.NO_JOINT
    assert score.motion_of(dancer) is not None
    assert counts == {"retargeted": 2, "scores": 1}


def test_switching_the_extension_off_keeps_nothing(dancer: bpy.types.Object) -> None:
    import takt

    assert CLIPS.size > 0
    takt.unregister()
    assert CLIPS.size == 0 and not score._performances
    assert not performing._programmes and not performing._libraries
    takt.register()


@pytest.fixture
def waver(rig: bpy.types.Object, counts: Counter[str]) -> bpy.types.Object:
    """A rig that plays an Action of its own by a score, and nothing of it by Blender."""
    bone: Any = rig.pose.bones["l_knee"]
    bone.rotation_mode = "QUATERNION"
    for frame, angle in ((1, 0.0), (13, 0.5), (25, 0.0)):
        bone.rotation_quaternion = (1.0, angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    rig.animation_data.action.name = "Wave"
    rig.animation_data_clear()
    bpy.data.actions["Wave"].use_fake_user = True
    kept = properties.character(rig)
    kept.text = bpy.data.texts.new("wave.pha")
    kept.text.from_string(ACTIONS)
    assert score.motion_of(rig) is not None and counts == {"actions": 1, "retargeted": 1, "scores": 1}
    counts.clear()
    return rig


def first_curve() -> Any:
    strip: Any = bpy.data.actions["Wave"].layers[0].strips[0]
    return strip.channelbags[0].fcurves[1]


def test_an_action_that_holds_what_it_held_is_not_read_again(waver: bpy.types.Object, counts: Counter[str]) -> None:
    properties.character(waver).curve = "COSINE"
    assert score.motion_of(waver) is not None
    score.forget(waver)
    assert score.motion_of(waver) is not None
    assert counts == {"scores": 2}


def move_key(_: bpy.types.Object) -> None:
    first_curve().keyframe_points[1].co.y = 0.25


def turn_handle(_: bpy.types.Object) -> None:
    point = first_curve().keyframe_points[1]
    point.handle_right_type = point.handle_left_type = "FREE"
    point.handle_right.y += 0.2


def go_straight(_: bpy.types.Object) -> None:
    first_curve().keyframe_points[0].interpolation = "LINEAR"


def add_key(_: bpy.types.Object) -> None:
    first_curve().keyframe_points.insert(30, 0.1)


def remove_curve(_: bpy.types.Object) -> None:
    strip: Any = bpy.data.actions["Wave"].layers[0].strips[0]
    strip.channelbags[0].fcurves.remove(first_curve())


def another_mode(rig: bpy.types.Object) -> None:
    rig.pose.bones["l_knee"].rotation_mode = "XYZ"


def another_rate(_: bpy.types.Object) -> None:
    bpy.context.scene.render.fps = 30


def make_cyclic(_: bpy.types.Object) -> None:
    bpy.data.actions["Wave"].use_cyclic = True


@pytest.mark.parametrize("change", [move_key, turn_handle, go_straight, add_key, remove_curve, another_mode,
                                    another_rate, make_cyclic])
def test_an_edited_action_is_read_again_though_nobody_tells(
        waver: bpy.types.Object, counts: Counter[str], change: Callable[[bpy.types.Object], None]) -> None:
    """Blender's dependency graph knows nothing of an Action that is assigned to nothing."""
    change(waver)
    score.forget(waver)
    score.motion_of(waver)
    assert counts == {"actions": 1, "retargeted": 1, "scores": 1}


@pytest.mark.parametrize("what", ["constraint", "modifier"])
def test_an_action_in_which_others_have_a_say_is_read_each_time(waver: bpy.types.Object, counts: Counter[str],
                                                                what: str) -> None:
    if what == "constraint":
        waver.pose.bones["l_knee"].constraints.new("COPY_ROTATION").target = waver
    else:
        first_curve().modifiers.new("NOISE")
    for _ in range(2):
        score.forget(waver)
        assert score.motion_of(waver) is not None
    assert counts["actions"] == 2


def test_a_blend_file_is_opened_once(rig: bpy.types.Object, waver: bpy.types.Object, tmp_path: Path,
                                     counts: Counter[str]) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "moves.blend"), copy=True)
    kept = properties.character(waver)
    kept.library = str(tmp_path)
    for number in range(3):
        kept.text.from_string(ACTIONS.replace("Wave", "moves").replace('"2"', f'"{number + 1}"'))
        assert score.motion_of(waver) is not None, score.error_of(waver)
    assert counts["files"] == 1 and counts["retargeted"] == 1
