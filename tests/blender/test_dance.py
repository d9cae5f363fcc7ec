"""The sample dance on the sample character: imported as a user does, held against the clips' own poses."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import axes
from takt.bridge.scores import score
from takt.core.library.clip_files import read_clip_file
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.character import build_character

LIBRARY = Path(__file__).resolve().parents[2] / "samples" / "library"
FILES = {"feet.Steps": "feet/Steps.skeleton.xml", "dance.Moves": "dance/Moves.skeleton",
         "gestures.Greetings": "gestures/Greetings.skeleton.xml"}
POSE_TOLERANCE = 1e-5


@pytest.mark.parametrize("method", ["END", "BOTH"])
def test_outside_transitions_every_segment_is_its_clip(method: str) -> None:
    rig, _ = build_character(bpy.context)
    bpy.context.view_layer.objects.active = rig
    operators: Any = bpy.ops
    operators.takt.import_pha(filepath=str(LIBRARY / "dance.pha"), method=method, root_motion="AS_AUTHORED",
                              lock_feet=False)
    motion = score.motion_of(rig)
    assert motion is not None
    clips = {f"{source}.{clip.name}": clip for source, file in FILES.items()
             for clip in read_clip_file(LIBRARY / file).played}
    layout, seen = motion.layout, set()
    turn = rot.to_matrix(axes.BLENDER_FROM_HANIM)
    for frame in range(1, int(motion.duration_s * 24) + 1):
        time = (frame - 1) / 24
        if ((layout.window_begin_s <= time) & (time <= layout.window_end_s)).any():
            continue
        segment = int(np.searchsorted(layout.begin_s, time, side="right")) - 1
        clip = clips[motion.sequence.clips[motion.sequence.clip[segment]]]
        share = (time - layout.begin_s[segment]) / (layout.end_s[segment] - layout.begin_s[segment])
        own = clip.sample(np.array((share * clip.duration_s,)), "SLERP").at(0)
        expected = turn @ world_from_pose(clip.skeleton, own) @ np.linalg.inv(padded(clip.skeleton.rest_world))
        seen.add(segment)
        moved = [clip.skeleton.names[joint] for joint in np.flatnonzero(carried(clip))]
        joints = [clip.skeleton.index_of[name] for name in moved]
        np.testing.assert_allclose(changed(rig, moved, frame) @ turned(turn), expected[joints], atol=POSE_TOLERANCE)
    assert seen == set(range(len(motion.sequence)))


def carried(clip: Any) -> np.ndarray:
    """Tell which joints stand where the clip alone puts them: moved themselves, and all their ancestors too."""
    result: np.ndarray = clip.moved.copy()
    for level in clip.skeleton.levels[1:]:
        result[level] &= result[clip.skeleton.parents[level]]
    return result


def changed(rig: Any, names: list[str], frame: int) -> np.ndarray:
    """Return how the frame's pose moves each bone from its rest, (J, 3, 4)."""
    bpy.context.scene.frame_set(frame)
    found = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    posed = np.array([np.array(found.pose.bones[name].matrix) for name in names])
    rest = np.array([np.array(rig.data.bones[name].matrix_local) for name in names])
    return (posed @ np.linalg.inv(rest))[:, :3]


def turned(turn: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3] = turn
    return matrix


def padded(matrices: np.ndarray) -> np.ndarray:
    last = np.broadcast_to((0.0, 0.0, 0.0, 1.0), (len(matrices), 1, 4))
    return np.concatenate((matrices, last), axis=1)
