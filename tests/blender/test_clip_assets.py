"""Mark Clips as Assets, and assets put into a score."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.assets import action_assets, clip_assets
from takt.core.library import asset_catalogues
from takt.tests.blender.dancing import STEPS, play, text_of
from takt.tests.blender.score_editors import choose, editing, looked_into
from takt.tests.blender.test_engine_files import everything
from takt.tests.blender.test_shelf import action_of, searched

operators: Any = bpy.ops
context: Any = bpy.context


def assets() -> dict[str, Any]:
    return {action.name: action for action in bpy.data.actions if action.asset_data}


def bone_of(rig: Any) -> str:
    return str(rig.data.bones[0].name)


def pixels(action: Any) -> Any:
    found = np.zeros(len(action.preview.image_pixels_float), np.float32)
    action.preview.image_pixels_float.foreach_get(found)
    return found.reshape(*action.preview.image_size, 4)


def test_clips_become_assets_with_picture_tags_and_catalogue(rig: bpy.types.Object, library: Path, tmp_path: Path
                                                             ) -> None:
    clip = "left"
    (library / "takt.tags").write_text(f"# Takt tags 1\nfeet.Steps.{clip}: favourite, for the king\n",
                                       encoding="utf-8")
    own = action_of(clip, bone_of(rig))
    play(library / "dance.pha")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    before, keys = everything(rig), own.frame_range[:]
    with editing():
        chips = {each.name: each for each in searched(rig) if each.src == "feet.Steps"}
        tree: Any = context.space_data.node_tree
        tree.search = "feet.Steps"
        assert operators.takt.mark_clip_assets() == {"FINISHED"}
    after = everything(rig)
    assert [each for each in after[0]["actions"] if each in before[0]["actions"]] == before[0]["actions"]
    assert after[1:] == before[1:] and own.asset_data is None and own.frame_range[:] == keys
    made = assets()
    assert len(made) == len(chips) and f"{clip}.001" in made
    action = made[f"{clip}.001"]
    assert {"favourite", "for the king", *chips[clip].tags} <= {tag.name for tag in action.asset_data.tags}
    assert chips[clip].tags and action.use_fake_user
    assert asset_catalogues.read(tmp_path)["Clips/feet"] == action.asset_data.catalog_id
    assert 0.02 < (pixels(action)[..., 3] > 0.5).mean() < 0.5
    with editing():
        searched(rig)
        assert operators.takt.mark_clip_assets(which="SHOWN") == {"FINISHED"}
    assert assets() == made


def test_stopped_it_leaves_nothing_and_one_undo_takes_all_away(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    before = everything(rig)
    with editing():
        steps = clip_assets.mark_clips(rig, context.scene, searched(rig))
        assert 0.0 < next(steps) <= 1.0 and assets()
        steps.close()
        assert everything(rig) == before
        bpy.ops.ed.undo_push(message="before")
        assert operators.takt.mark_clip_assets() == {"FINISHED"} and assets()
        bpy.ops.ed.undo_push(message="Mark Clips as Assets")
        bpy.ops.ed.undo()
    assert not assets()


def test_only_the_clip_of_the_selected_block(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with pytest.raises(RuntimeError, match="Select a block"):
        operators.takt.mark_clip_assets(which="BLOCK")
    with editing() as layout:
        searched(rig)
        choose(layout, layout.boxes.titles[-1])
        assert operators.takt.mark_clip_assets(which="BLOCK") == {"FINISHED"}
    assert len(assets()) == 1


def test_a_catalogue_list_of_a_newer_version_costs_only_itself(rig: bpy.types.Object, library: Path, tmp_path: Path,
                                                               capfd: pytest.CaptureFixture[str]) -> None:
    play(library / "dance.pha")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    (tmp_path / asset_catalogues.NAME).write_text("VERSION 2\n", encoding="utf-8")
    (library / "cut.bvh").write_text("HIERARCHY\nROOT Hips\n{\n OFFSET 0 0", encoding="utf-8")
    with editing():
        searched(rig)
        assert operators.takt.mark_clip_assets() == {"FINISHED"}
    assert assets() and "VERSION 2" in capfd.readouterr().out
    assert (tmp_path / asset_catalogues.NAME).read_text(encoding="utf-8") == "VERSION 2\n"


def test_an_asset_of_a_library_is_appended_once_and_called(rig: bpy.types.Object, library: Path, tmp_path: Path
                                                           ) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    theirs = action_of("Bow", bone_of(rig))
    theirs.asset_mark()
    bpy.data.libraries.write(str(shared / "moves.blend"), {theirs}, fake_user=True)
    (shared / "broken.blend").write_bytes(b"no blend")
    bpy.data.actions.remove(theirs)
    kept = context.preferences.filepaths.asset_libraries.new(name="Shared", directory=str(shared))
    try:
        play(library / "dance.pha")
        with editing():
            found = action_assets.found()
            assert [(each.name, each.library) for each in found] == [("Bow", "Shared")]
            key = f"{found[0].path}|Bow"
            for calls in (1, 2):
                assert operators.takt.score_add_asset(what=key) == {"FINISHED"}
                looked_into()
                assert text_of(rig).as_string().count('name="Bow"') == calls
        assert [action.name for action in bpy.data.actions if action.name.startswith("Bow")] == ["Bow"]
    finally:
        context.preferences.filepaths.asset_libraries.remove(kept)


def test_without_assets_it_says_so(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing(), pytest.raises(RuntimeError, match="Mark Clips as Assets"):
        operators.takt.score_add_asset()
    assert text_of(rig).as_string() == STEPS
