"""OGRE skeletons made for tests, and where the real one lies."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from takt.core.clips.clip import Clip, Tracks
from takt.core.formats.ogre import OgreSkeleton
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.beside import ogre_python, real_file

FLOAT32 = 1e-6
"""Relative error that numbers of about one may have after a trip through float32."""

def sinbad() -> Path:
    """Return the path of the real skeleton."""
    return real_file("ogre", "Sinbad.skeleton")


def of_ogre(path: Path, samples: int) -> dict[str, Any]:
    """Return what OGRE itself makes of a skeleton's animations, see ogre_oracle.py."""
    found: dict[str, Any] = _told("ogre_oracle.py", path, samples)
    return found


def skinned_by_ogre(path: Path, clip: str, times_s: Sequence[float]) -> FloatArray:
    """Return where OGRE itself puts a mesh's vertices, (F, V, 3), see ogre_skin_oracle.py."""
    return np.array(_told("ogre_skin_oracle.py", path, clip, *times_s)).reshape(len(times_s), -1, 3)


def _told(oracle: str, *arguments: object) -> Any:
    done = subprocess.run([ogre_python(), str(Path(__file__).with_name(oracle)), *map(str, arguments)],
                          capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def small() -> OgreSkeleton:
    """Make a skeleton of three joints and two clips: scale keys, a track that ends early, a pose of no length."""
    turn = rot.from_axis_angle(np.array(((0.0, 0, 1), (1, 0, 0), (0, 1, 0))), np.array((0.5, -0.25, 2.0)))
    skeleton = Skeleton.from_arrays(["Hips", "Left Leg", "Fuß"], [-1, 0, 1], turn,
                                    np.array(((0.0, 1, 0), (0.25, -0.5, 0), (0, -0.5, 0.125))),
                                    np.array(((1.0, 1, 1), (1, 1, 1), (1, 2, 1))), "small")
    axes = np.array(((0.0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 0)))
    keys = rot.from_axis_angle(axes, np.array((0.0, 0.5, 1.0, 0.25, 0.5)))
    walk = Clip("walk", skeleton, 2.0,
                Tracks(np.array((1, 0)), np.array((0, 3, 5)), np.array((0.0, 0.5, 1.0, 0.0, 2.0)), keys),
                Tracks(np.array((0,)), np.array((0, 2)), np.array((0.0, 2.0)), np.array(((0.0, 0, 0), (0, 0.5, 3)))),
                Tracks(np.array((1,)), np.array((0, 3)), np.array((0.0, 0.5, 1.0)),
                       np.array(((1.0, 1, 1), (1, 1.5, 1), (1, 1, 1)))))
    still = Clip("still", skeleton, 0.0, Tracks(np.array((2,)), np.array((0, 1)), np.zeros(1), keys[1:2]),
                 Tracks.empty(3), Tracks.empty(3))
    return OgreSkeleton.of(skeleton, (walk, still))


def assert_same(a: OgreSkeleton, b: OgreSkeleton, tolerance: float = FLOAT32) -> None:
    """Compare everything that a file holds; q and −q are the same rotation."""
    assert a.skeleton.names == b.skeleton.names
    np.testing.assert_array_equal(a.skeleton.parents, b.skeleton.parents)
    np.testing.assert_array_equal(a.handles, b.handles)
    assert rot.angle_between(a.skeleton.rest_rotations, b.skeleton.rest_rotations).max(initial=0.0) < 4 * tolerance
    np.testing.assert_allclose(a.skeleton.rest_translations, b.skeleton.rest_translations, tolerance, tolerance)
    np.testing.assert_allclose(a.skeleton.rest_scales, b.skeleton.rest_scales, tolerance, tolerance)
    assert (a.blend_mode, len(a.links), a.bases.keys()) == (b.blend_mode, len(b.links), b.bases.keys())
    assert [c.name for c in a.clips] == [c.name for c in b.clips]
    for one, other in zip(a.clips, b.clips, strict=True):
        assert one.duration_s == pytest.approx(other.duration_s, rel=tolerance)
        for mine, theirs in ((one.rotations, other.rotations), (one.translations, other.translations),
                             (one.scales, other.scales)):
            np.testing.assert_array_equal(mine.joints, theirs.joints)
            np.testing.assert_array_equal(mine.starts, theirs.starts)
            np.testing.assert_allclose(mine.times_s, theirs.times_s, tolerance, tolerance)
        assert rot.angle_between(one.rotations.values, other.rotations.values).max(initial=0.0) < 4 * tolerance
        np.testing.assert_allclose(one.translations.values, other.translations.values, tolerance, tolerance)
        np.testing.assert_allclose(one.scales.values, other.scales.values, tolerance, tolerance)


def assert_same_motion(a: OgreSkeleton, b: OgreSkeleton, tolerance: float = 1e-4) -> None:
    """Compare joints by name, at key times and between, in the model; tolerance relative to the size."""
    to = [b.skeleton.index_of[name] for name in a.skeleton.names]
    for mine, theirs in zip(a.clips, b.clips, strict=True):
        times = np.linspace(0.0, 16.0, 23)
        x, y = world_from_pose(a.skeleton, mine.sample(times)), world_from_pose(b.skeleton, theirs.sample(times))
        np.testing.assert_allclose(x, y[:, to], rtol=0.0, atol=tolerance * max(1.0, np.abs(x).max()))


names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), min_size=1, max_size=12)


@st.composite
def skeletons(draw: st.DrawFn) -> OgreSkeleton:
    """Draw a skeleton of up to nine joints with up to three clips; every moved joint has a rotation track."""
    joints = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    labels = draw(st.lists(names, min_size=joints, max_size=joints, unique=True))
    parents = [int(rng.integers(-1, j)) if j else -1 for j in range(joints)]
    skeleton = Skeleton.from_arrays(labels, parents, rot.normalized(rng.normal(size=(joints, 4))),
                                    rng.normal(size=(joints, 3)), rng.choice((1.0, 0.5, 2.0), (joints, 3)))
    clips = []
    for name in draw(st.lists(names, max_size=3, unique=True)):
        moved = rng.permutation(joints)[:int(rng.integers(0, joints + 1))]
        counts = rng.integers(1, 6, len(moved))
        starts = np.concatenate(([0], np.cumsum(counts)))
        times = np.concatenate([np.zeros(0), *(np.sort(rng.integers(0, 1000, n)) / 64 for n in counts)])
        scales = rng.choice((1.0, 1.0, 3.0), (len(times), 3))
        q = rot.normalized(rng.normal(size=(len(times), 4))) if len(times) else np.zeros((0, 4))
        clips.append(Clip(name, skeleton, 16.0, Tracks(moved, starts, times, q),
                          Tracks(moved, starts, times, rng.normal(size=(len(times), 3))) if len(moved)
                          else Tracks.empty(3), _without_rest(Tracks(moved, starts, times, scales))))
    return OgreSkeleton(skeleton, tuple(clips), rng.permutation(1000)[:joints], draw(
        st.sampled_from(("AVERAGE", "CUMULATIVE"))))


def _without_rest(tracks: Tracks) -> Tracks:
    """Leave out the tracks that do nothing, which no reader gives back."""
    keep = [i for i in range(len(tracks)) if (tracks.values[tracks.starts[i]:tracks.starts[i + 1]] != 1.0).any()]
    if not keep:
        return Tracks.empty(3)
    parts = [np.arange(tracks.starts[i], tracks.starts[i + 1]) for i in keep]
    keys = np.concatenate(parts)
    return Tracks(tracks.joints[keep], np.cumsum([0, *map(len, parts)]), tracks.times_s[keys], tracks.values[keys])
