"""three-vrm, pixiv's player of VRM avatars and their animations, in node: how it turns the bones of an avatar.

Needs `node`, and three-vrm beside this file: npm ci --prefix benchmarks/three_vrm.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from takt.core.clips.clip import Clip
from takt.core.formats.vrma_write import bones_of
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.maps import find_map

WAIT_S: Final = 120
HERE: Final = Path(__file__).resolve().parent / "three_vrm"


def missing() -> str:
    """Return what has to be installed first, "" for nothing."""
    return "" if shutil.which("node") and (HERE / "node_modules" / "@pixiv" / "three-vrm").is_dir() else (
        "node or three-vrm is missing: apt install npm; npm ci --prefix benchmarks/three_vrm")


def played(avatar: bytes, motion: bytes, times_s: Sequence[float]) -> dict[str, Any]:
    """Return what three-vrm makes of a .vrma file on a .vrm avatar, at rest and at times; see play.mjs."""
    with tempfile.TemporaryDirectory() as folder:
        body, dance = Path(folder) / "avatar.vrm", Path(folder) / "motion.vrma"
        body.write_bytes(avatar)
        dance.write_bytes(motion)
        run = subprocess.run(["node", str(HERE / "play.mjs"), str(body), str(dance), json.dumps(list(times_s))],
                             capture_output=True, text=True, timeout=WAIT_S, check=False)
    if run.returncode:
        raise LookupError(f"three-vrm gave up: {run.stderr.strip()[-400:]}")
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def farthest(clip: Clip, found: dict[str, Any], times_s: Sequence[float]) -> tuple[float, float]:
    """Return how far the bones of an avatar are turned from those of a clip of its skeleton at most.

    In degrees, of the turn in the world from rest; and in metres, how far the hips are away.
    """
    skeleton = clip.skeleton
    joint_of = bones_of(find_map(skeleton))
    pose = clip.sample(np.array(times_s))
    turns, places = _world(clip, pose.rotations, pose.translations)
    worst = 0.0
    for bone, joint in joint_of.items():
        theirs = np.roll(np.array(found["bones"][bone]), 1, axis=1)
        own = rot.multiply(turns[:, joint], rot.conjugate(skeleton.rest_world_rotations[joint]))
        wanted = rot.multiply(theirs[1:], rot.conjugate(theirs[0]))
        worst = max(worst, float(np.degrees(rot.angle_between(own, wanted)).max()))
    way = np.array(found["hips"])
    moved = places[:, joint_of["hips"]] - skeleton.rest_world[joint_of["hips"], :, 3]
    return worst, float(np.linalg.norm(moved - (way[1:] - way[0]), axis=1).max())


def _world(clip: Clip, rotations: FloatArray, translations: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how joints are turned (F, J, 4) and where they are (F, J, 3) in model space."""
    skeleton = clip.skeleton
    turns = rot.multiply(skeleton.rest_rotations, rotations)
    places = skeleton.rest_translations + translations
    for joint, above in enumerate(skeleton.parents.tolist()):
        if above >= 0:
            places[:, joint] = places[:, above] + rot.rotate(turns[:, above], places[:, joint])
            turns[:, joint] = rot.multiply(turns[:, above], turns[:, joint])
    return turns, places
