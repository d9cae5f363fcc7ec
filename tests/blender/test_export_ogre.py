"""OGRE characters that are written come back the same: bones, clips, skin, texture coordinates, materials."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.files import ogre_files, written_ogre
from takt.core.clips.clip import Clip
from takt.core.maths.arrays import FloatArray
from takt.core.skinning.linear import skin_linear
from takt.core.skinning.palette import Palette
from takt.tests.blender.test_export_performance import dancer, frames, skin  # noqa: F401

context: Any = bpy.context
SAME_M = 2e-5
"""float32 of files, and of Blender's own skin."""


def write(path: Path, **settings: Any) -> None:
    assert bpy.ops.takt.export_ogre(filepath=str(path), **settings) == {"FINISHED"}  # type: ignore[attr-defined]


def nearest(points: FloatArray, others: FloatArray) -> float:
    """How far the farthest point is from the nearest other, both ways."""
    one, two = (points[:, None] - others[None], others[:, None] - points[None])
    return max(float(np.linalg.norm(each, axis=-1).min(axis=1).max()) for each in (one, two))


def skinned(character: Any, clip: Clip, time_s: float) -> FloatArray:
    palette = Palette.from_pose(clip.skeleton, clip.sample(np.array((time_s,))))
    moved, _ = skin_linear(palette, character.influences, character.mesh.positions, character.mesh.positions)
    return np.asarray(moved[0])


@pytest.mark.parametrize("form", ["BINARY", "XML"])
def test_a_character_comes_back_with_its_skin_where_blender_has_it(dancer: Any, tmp_path: Path, form: str) -> None:  # noqa: F811
    write(tmp_path / "hero.mesh", form=form, clips="SCORE")
    ending = "" if form == "BINARY" else ".xml"
    names = {"hero.material", f"hero.mesh{ending}", f"hero.skeleton{ending}"}
    assert names <= {path.name for path in tmp_path.iterdir()}
    character = ogre_files.read_character(tmp_path / f"hero.mesh{ending}")
    assert character.skeleton is not None and character.influences is not None and not character.warnings
    (clip,) = character.clips
    materials = {slot.material.name for child in dancer.children for slot in child.material_slots if slot.material}
    assert materials <= set(character.materials)
    rng = np.random.default_rng(0)
    for frame in frames(dancer, clip)[:2]:
        context.scene.frame_set(frame)
        seen = skin(dancer)
        start = dancer.takt.frame_start
        fps = context.scene.render.fps / context.scene.render.fps_base
        ours = skinned(character, clip, (frame - start) / fps)
        some, all_ours = rng.choice(len(seen), 400, replace=False), rng.choice(len(ours), 400, replace=False)
        there = np.linalg.norm(seen[some][:, None] - ours[None], axis=-1).min(axis=1)
        here = np.linalg.norm(ours[all_ours][:, None] - seen[None], axis=-1).min(axis=1)
        assert max(there.max(), here.max()) < 5e-4  # vertices with more than four weights differ by so much


def test_actions_are_written_by_their_names_and_nothing_else(dancer: Any, tmp_path: Path) -> None:  # noqa: F811
    own = dancer.animation_data.action
    other = own.copy()
    other.name = "Turn about"
    write(tmp_path / "hero.mesh", clips="ACTIONS")
    character = ogre_files.read_character(tmp_path / "hero.mesh")
    assert [clip.name for clip in character.clips] == ["Turn about"]
    write(tmp_path / "still.mesh", clips="NONE")
    assert not ogre_files.read_character(tmp_path / "still.mesh").clips


def test_what_is_imported_again_looks_the_same(dancer: Any, tmp_path: Path) -> None:  # noqa: F811
    write(tmp_path / "hero.mesh", form="BOTH", clips="SCORE")
    before = {ob.name for ob in bpy.data.objects}
    assert bpy.ops.takt.import_ogre(filepath=str(tmp_path / "hero.mesh")) == {"FINISHED"}  # type: ignore[attr-defined]
    new = {ob.type: ob for ob in bpy.data.objects if ob.name not in before}
    assert {bone.name for bone in new["ARMATURE"].data.bones} == {bone.name for bone in dancer.data.bones}
    heads = [np.array([bone.head_local[:] for bone in sorted(rig.data.bones, key=lambda bone: bone.name)])
             for rig in (dancer, new["ARMATURE"])]
    np.testing.assert_allclose(heads[1], heads[0], atol=SAME_M)


def test_what_cannot_be_written_is_refused(dancer: Any, tmp_path: Path) -> None:  # noqa: F811
    with pytest.raises(RuntimeError):
        write(tmp_path / "gone" / "hero.mesh", clips="NONE")
    with pytest.raises(RuntimeError, match="names no file"):
        write(tmp_path / ".mesh", clips="NONE")
    assert not list(tmp_path.iterdir())


def test_how_many_vertices_lose_weights_is_said(dancer: Any, tmp_path: Path) -> None:  # noqa: F811
    bones = [bone.name for bone in dancer.data.bones if bone.use_deform][:5]
    mesh = next(child for child in dancer.children if child.type == "MESH")
    mesh.vertex_groups.clear()
    for number, name in enumerate(bones):
        group = mesh.vertex_groups.new(name=name)
        group.add(range(len(mesh.data.vertices) if number < 4 else 7), 0.2, "REPLACE")
    skeleton, held, _ = written_ogre.read_clips(dancer, None, "", (), 25.0)
    warnings = written_ogre.read_character(dancer, skeleton, held, "hero", ("XML",)).warnings
    assert [each for each in warnings if f"'{mesh.name}': 7 vertices follow more than 4 bones" in each]
    mesh.vertex_groups.remove(mesh.vertex_groups[bones[4]])
    assert not any("strongest" in each for each in written_ogre.read_character(
        dancer, skeleton, held, "hero", ("XML",)).warnings)
