"""Where bones end that say only where they begin."""

import numpy as np
from hypothesis import given, settings

from takt.core.formats.ogre import OgreSkeleton
from takt.core.maths import rotations as rot
from takt.core.skeletons.bone_tails import bone_tails
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.core.ogre_cases import skeletons

EXACT = 1e-9


def skeleton(*joints: tuple[int, tuple[float, float, float]]) -> Skeleton:
    """Make a skeleton from parents and places in the model."""
    places = np.array([place for _, place in joints])
    parents = np.array([parent for parent, _ in joints])
    local = np.where(parents[:, None] >= 0, places - places[parents], places)
    return Skeleton.from_arrays([str(i) for i in range(len(joints))], parents, rot.identities(len(joints)), local)


def test_a_bone_ends_where_its_child_begins_and_a_leaf_goes_on() -> None:
    tails, _ = bone_tails(skeleton((-1, (0, 0, 0)), (0, (0, 0, 2)), (1, (0, 1, 2))))
    np.testing.assert_allclose(tails, ((0, 0, 2), (0, 1, 2), (0, 1.5, 2)), atol=EXACT)


def test_of_several_children_the_straightest() -> None:
    tails, _ = bone_tails(skeleton((-1, (0, 0, 0)), (0, (0, 0, 2)), (1, (1, 0, 2.5)), (1, (0, 0, 3)), (1, (-1, 0, 2.5)),
                                   (2, (3, 0, 2))))
    np.testing.assert_allclose(tails[1], (0, 0, 3), atol=EXACT)


def test_a_root_goes_to_where_most_is() -> None:
    tails, _ = bone_tails(skeleton((-1, (0, 0, 1)), (0, (0.2, 0, 0)), (0, (0, 0, 2)), (2, (0, 0, 3)),
                                   (0, (-0.2, 0, 0))))
    np.testing.assert_allclose(tails[0], (0, 0, 2), atol=EXACT)


def test_joints_in_one_place_get_a_length() -> None:
    tails, _ = bone_tails(skeleton((-1, (0, 0, 0)), (0, (0, 0, 0)), (1, (0, 0, 4)), (2, (0, 0, 4))))
    lengths = np.linalg.norm(tails - ((0, 0, 0), (0, 0, 0), (0, 0, 4), (0, 0, 4)), axis=1)
    assert (lengths > 0.01).all()
    alone, _ = bone_tails(skeleton((-1, (1, 2, 3))))
    assert np.linalg.norm(alone[0] - (1, 2, 3)) > 0.0


def test_axes_stay_where_y_leads_along_the_bone() -> None:
    turn = rot.from_axis_angle(np.array((0.0, 1, 0)), 0.7)
    places = np.array(((0.0, 0, 0), (0, 2, 0)))
    bones = Skeleton.from_arrays(("a", "b"), (-1, 0), np.stack((turn, rot.IDENTITY)), places)
    expected = np.tile(rot.rotate(turn, np.array((0.0, 0, 1))), (2, 1))
    np.testing.assert_allclose(bone_tails(bones)[1], expected, atol=EXACT)


def test_no_joints() -> None:
    tails, axes = bone_tails(Skeleton.from_arrays((), (), np.zeros((0, 4)), np.zeros((0, 3))))
    assert tails.shape == axes.shape == (0, 3)


@settings(max_examples=60, deadline=None)
@given(skeletons())
def test_every_bone_has_a_length_and_a_roll(ogre: OgreSkeleton) -> None:
    heads = ogre.skeleton.rest_world[:, :, 3]
    tails, z_axes = bone_tails(ogre.skeleton)
    ways = tails - heads
    assert (np.linalg.norm(ways, axis=1) > 1e-6 * np.ptp(heads, axis=0).max()).all()
    along = np.sum(ways * z_axes, axis=1) / np.linalg.norm(ways, axis=1)
    np.testing.assert_allclose(along, 0.0, atol=1e-6)
