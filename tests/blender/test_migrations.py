"""Settings in files of other versions of Takt: opened, appended, linked, overridden."""

import hashlib
import logging
from pathlib import Path
from typing import Any, cast

import bpy
import pytest

import takt
from takt.bridge import migrations, properties, saved_enums, versions
from takt.bridge.active_character import score_problem
from takt.tests.blender.dancing import play, rebuild


def kept(rig: Any) -> properties.TaktCharacter:
    return properties.character(rig)


def saved(rig: Any) -> Any:
    found = versions.saved_settings(rig, properties.NAME)
    assert found is not None
    return found


def settings(rig: Any) -> dict[str, Any]:
    names = (*properties.SETTING_NAMES, *properties.ACTION_NAMES)
    return {"joints": [(joint.name, joint.meant, joint.certainty) for joint in kept(rig).joints],
            "is_map_checked": kept(rig).is_map_checked, **{name: getattr(kept(rig), name) for name in names}}


@pytest.fixture
def chosen(rig: bpy.types.Object, library: Path) -> bpy.types.Object:
    """A character with nothing left at its default."""
    play(library / "dance.pha", method="INSERT_BOTH", curve="CUBIC", interpolation="SQUAD", root_motion="IN_PLACE",
         bvh_up="-Z", translation="SPLINE", pace="ACCELERATING", joint_time="LATE", speed="SPEEDS", key_mode="KEYS",
         rotations="AS_RIG", load_format=".bvh")
    for bone, meant in (("l_hip", "l_hip"), ("x_tail", "NONE"), ("r_hip", "r_ankle")):
        joint = kept(rig).joints.add()
        joint.name, joint.meant, joint.certainty = bone, meant, 0.25
    kept(rig).is_map_checked = False
    return rig


def as_before_versions(rig: Any) -> None:
    """Write what Takt saved before it said of which version it was."""
    found = saved(rig)
    for name, order in migrations._ORDER_BEFORE_1.items():
        found[name] = order.index(getattr(kept(rig), name))
    for joint, there in zip(kept(rig).joints, found["joints"], strict=True):
        there["meant"] = migrations.JOINTS_BEFORE_1.index(joint.meant)
    del found["version"]
    assert kept(rig).version == 0


def write(path: Path) -> Path:
    """Save the file without what Takt does on saving, as another version would."""
    takt.unregister()
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    finally:
        takt.register()
    return path


def test_the_version_counts_the_steps() -> None:
    assert len(migrations.STEPS) == properties.VERSION


def test_what_is_new_says_its_version_at_once(rig: bpy.types.Object, library: Path) -> None:
    assert versions.saved_settings(rig, properties.NAME) is None or kept(rig).version == 0
    play(library / "dance.pha")
    assert kept(rig).version == properties.VERSION
    twin = cast(Any, bpy.data.objects.new("Twin", rig.data))
    bpy.context.collection.objects.link(twin)
    bpy.context.view_layer.objects.active = twin
    assert bpy.ops.takt.find_map() == {"FINISHED"}  # type: ignore[attr-defined]
    assert kept(twin).version == properties.VERSION


def test_a_file_of_before_is_brought_up_to_date_on_opening(chosen: bpy.types.Object, tmp_path: Path) -> None:
    wanted = settings(chosen)
    as_before_versions(chosen)
    path = write(tmp_path / "old.blend")
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig = bpy.data.objects["Rig"]
    assert kept(rig).version == properties.VERSION and settings(rig) == wanted
    rebuild()


@pytest.mark.parametrize("link", [False, True])
def test_what_is_appended_or_linked_from_one_too(chosen: bpy.types.Object, tmp_path: Path, link: bool) -> None:
    wanted = settings(chosen)
    as_before_versions(chosen)
    path = write(tmp_path / "old.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    bring_in = bpy.ops.wm.link if link else bpy.ops.wm.append
    bring_in(directory=f"{path}/Object/", filename="Rig")
    rig = bpy.data.objects["Rig"]
    assert (rig.library is not None) == link and settings(rig) == wanted
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "new.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "new.blend"))
    assert settings(bpy.data.objects["Rig"]) == wanted  # what is linked is read, and migrated, each time


def test_an_override_keeps_its_own_settings(chosen: bpy.types.Object, tmp_path: Path) -> None:
    wanted = settings(chosen)
    as_before_versions(chosen)
    path = write(tmp_path / "old.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.link(directory=f"{path}/Object/", filename="Rig")
    own = bpy.data.objects["Rig"].override_create(remap_local_usages=True)
    kept(own).curve = "LINEAR"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "new.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "new.blend"))
    own = next(ob for ob in bpy.data.objects if ob.override_library is not None)
    assert settings(own) == {**wanted, "curve": "LINEAR"}


def test_an_override_keeps_its_settings_though_what_it_overrides_has_none(tmp_path: Path) -> None:
    made = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(made)
    path = write(tmp_path / "rigs.blend")
    assert versions.saved_settings(made, properties.NAME) is None
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.link(directory=f"{path}/Object/", filename="Rig")
    own = bpy.data.objects["Rig"].override_create(remap_local_usages=True)
    kept(own).curve, kept(own).seed = "CUBIC", 7
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    for _ in range(2):  # once more, since opening brings the linked one as it is
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
        own = next(ob for ob in bpy.data.objects if ob.override_library is not None)
        assert (kept(own).curve, kept(own).seed) == ("CUBIC", 7)
        bpy.ops.wm.save_mainfile()


def test_an_override_without_settings_is_opened_without_a_complaint(tmp_path: Path, capfd: Any) -> None:
    made = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(made)
    path = write(tmp_path / "rigs.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.link(directory=f"{path}/Object/", filename="Rig")
    bpy.data.objects["Rig"].override_create(remap_local_usages=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    for _ in range(2):
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
        bpy.ops.wm.save_mainfile()
    assert "ERROR" not in "".join(capfd.readouterr())


def test_what_a_newer_takt_saved_is_left_alone(chosen: bpy.types.Object, library: Path, tmp_path: Path,
                                               caplog: pytest.LogCaptureFixture) -> None:
    wanted = settings(chosen)
    kept(chosen).version = properties.VERSION + 1
    saved(chosen)["of_tomorrow"] = 7
    path = write(tmp_path / "new.blend")
    with caplog.at_level(logging.WARNING):
        bpy.ops.wm.open_mainfile(filepath=str(path))
    assert "'Rig' was saved by a newer Takt: update Takt to play its score" in caplog.text
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig = bpy.data.objects["Rig"]
    assert settings(rig) == wanted and saved(rig)["of_tomorrow"] == 7
    assert kept(rig).version == properties.VERSION + 1
    assert score_problem(rig) == "'Rig' was saved by a newer Takt: update Takt, or import its score again"
    with pytest.raises(RuntimeError, match="was saved by a newer Takt"):
        rebuild()
    bpy.context.view_layer.objects.active = rig
    play(library / "dance.pha")
    assert score_problem(rig) == ""


def test_steps_run_in_order_from_the_version_saved(chosen: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they will, once a property has another name and a default another value."""
    def rename(character: properties.TaktCharacter, saved: Any) -> None:
        character.curve = {"ROUND": "CIRCULAR"}[saved["shape"]]

    def keep_default(character: properties.TaktCharacter, saved: Any) -> None:
        told.append(character.curve)
        if "loop" not in saved:
            character.loop = True

    told: list[str] = []
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, rename, keep_default))
    version = properties.VERSION + 2
    monkeypatch.setattr(properties, "VERSION", version)
    found = saved(chosen)
    found["shape"] = "ROUND"
    del found["curve"], found["loop"]
    migrations.bring_up_to_date()
    migrations.bring_up_to_date()
    assert (kept(chosen).curve, kept(chosen).loop, kept(chosen).version, told) == (
        "CIRCULAR", True, version, ["CIRCULAR"])


@pytest.mark.parametrize("said", [None, True, False])
def test_hands_of_older_scores_stay_as_they_were(chosen: bpy.types.Object, said: bool | None) -> None:
    assert kept(bpy.data.objects.new("New", bpy.data.armatures.new("New"))).keep_contacts
    found = saved(chosen)
    found["version"] = 1
    if said is None:
        found.pop("keep_contacts", None)
    else:
        found["keep_contacts"] = said
    migrations.bring_up_to_date()
    assert kept(chosen).keep_contacts == bool(said) and kept(chosen).version == properties.VERSION


def test_no_two_choices_of_a_list_are_saved_alike() -> None:
    lists = [(cast(Any, group).bl_rna.name, found.identifier, found.enum_items) for group in properties._CLASSES
             for found in cast(Any, group).bl_rna.properties if found.type == "ENUM"]
    assert {name for _, name, _ in lists} > {*migrations._ORDER_BEFORE_1, "meant"}
    for group, name, items in lists:
        numbers = [item.value for item in items]
        assert len(set(numbers)) == len(numbers), (group, name)
        assert numbers == [saved_enums.number(item.identifier) for item in items]


def test_the_joints_of_before_versions_keep_their_order() -> None:
    """Where this fails, H-Anim's joints have changed: write the old ones into `JOINTS_BEFORE_1`."""
    assert hashlib.sha256(" ".join(migrations.JOINTS_BEFORE_1).encode()).hexdigest()[:16] == "34285686e86e2871"
