"""A character that is no humanoid: the double helix, bound and played as a user does."""

from typing import Any

import bpy
import numpy as np

from takt.bridge import axes
from takt.bridge.scores import score
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples import helix
from takt.samples.clip_files import LIBRARY
from takt.samples.helix import build_body, build_clips, build_helix, build_skeleton

PLACE_M = 1e-5
PLAYED_M = 1e-4
"""The file's five digits, summed up along the spine."""
WEIGHT = 1e-5
MUCH = 0.25
MOST = 0.95
BESIDE = 1.0
"""In segments of the spine: where along the axis a vertex's bones are on average."""
ops: Any = bpy.ops


def bound() -> tuple[Any, Any]:
    armature, mesh = build_helix(bpy.context)
    for ob in (mesh, armature):
        ob.select_set(True)
    assert bpy.context.view_layer is not None
    bpy.context.view_layer.objects.active = armature
    assert ops.takt.auto_bind() == {"FINISHED"}
    return armature, mesh


def weights(mesh: Any) -> np.ndarray:
    """Return the weights (V, J) by the skeleton's joints."""
    index = build_skeleton().index_of
    out = np.zeros((len(mesh.data.vertices), len(index)))
    for vertex in mesh.data.vertices:
        for group in vertex.groups:
            out[vertex.index, index[mesh.vertex_groups[group.group].name]] = group.weight
    return out


def test_the_helix_stands_upright_on_its_spine() -> None:
    armature, mesh = build_helix(bpy.context)
    heads = np.array([bone.head_local for bone in armature.data.bones])
    np.testing.assert_allclose(heads, build_skeleton().rest_world[:, (0, 2, 1), 3] * (1.0, -1.0, 1.0), atol=PLACE_M)
    assert not mesh.data.validate(), "nothing for Blender to mend"
    assert len(mesh.data.materials) == len(helix.PALETTE)


def test_every_vertex_follows_the_joints_beside_it() -> None:
    mesh = bound()[1]
    found = weights(mesh)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=WEIGHT)
    assert (found.max(axis=0) > MUCH).tolist() == [False] + [True] * helix.JOINTS, "all but the root on the ground"
    segment = helix.HEIGHT_M / helix.JOINTS
    middle = build_skeleton().rest_world[:, 1, 3] + segment / 2.0
    away = np.abs(build_body().positions[:, 1] - found @ middle) / segment
    assert np.quantile(away, MOST) < BESIDE


def test_the_score_plays_without_asking_what_the_joints_mean() -> None:
    armature, _ = bound()
    assert ops.takt.import_pha(filepath=str(LIBRARY / "helix.pha")) == {"FINISHED"}
    motion = score.motion_of(armature)
    assert motion is not None and motion.problems == ()
    layout, skeleton, clips = motion.layout, build_skeleton(), {clip.name: clip for clip in build_clips()}
    scene: Any = bpy.context.scene
    moved, seen = [], set()
    for frame in range(scene.frame_start, scene.frame_end + 1):
        time = (frame - scene.frame_start) / (scene.render.fps / scene.render.fps_base)
        if ((layout.window_begin_s <= time) & (time <= layout.window_end_s)).any():
            continue
        segment = int(np.searchsorted(layout.begin_s, time, side="right")) - 1
        name = motion.sequence.clips[motion.sequence.clip[segment]].rpartition(".")[2]
        share = (time - layout.begin_s[segment]) / (layout.end_s[segment] - layout.begin_s[segment])
        pose = clips[name].sample(np.array((share * clips[name].duration_s,)), "SLERP")
        scene.frame_set(frame)
        shown = np.array([bone.head for bone in armature.pose.bones])
        moved.append(np.abs(shown - rot.rotate(axes.BLENDER_FROM_HANIM, world_from_pose(skeleton, pose)[0, :, :, 3])))
        seen.add(name)
    assert seen == set(clips)
    assert np.max(moved) < PLAYED_M


def test_the_mesh_goes_along() -> None:
    armature, mesh = bound()
    ops.takt.import_pha(filepath=str(LIBRARY / "helix.pha"))
    places = []
    scene: Any = bpy.context.scene
    for frame in (1, 13, 13 * 24):
        scene.frame_set(frame)
        found = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        places.append(np.array([tuple(vertex.co) for vertex in found.vertices]))
    assert armature.animation_data.action is not None
    np.testing.assert_allclose(places[0], np.array([tuple(v.co) for v in mesh.data.vertices]), atol=PLACE_M)
    assert np.linalg.norm(places[1] - places[0], axis=1).max() > helix.RADIUS_M / 2.0
