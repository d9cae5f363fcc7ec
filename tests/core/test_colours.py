"""The colour of each bone: stable, and apart from its neighbours' for every eye."""

import numpy as np
import pytest

from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import Skeleton
from takt.preview.colours import _CANDIDATES, _candidates, _distances, bone_colours, oklab

LEAST_APART = 0.09
CLOSE_APART = 0.08
"""Where six that lie close by all have their say, a little less may be the best."""


def tree(names: list[str], parents: list[int]) -> Skeleton:
    return Skeleton.from_arrays(names, parents, rot.identities(len(names)), np.zeros((len(names), 3)))


def hand() -> Skeleton:
    names, parents = ["arm", "hand"], [-1, 0]
    for finger in range(5):
        for part in range(3):
            names.append(f"finger{finger}.{part}")
            parents.append(1 if part == 0 else len(names) - 2)
    return tree(names, parents)


def test_known_lightness() -> None:
    np.testing.assert_allclose(oklab(np.array(((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)))), ((0, 0, 0), (1, 0, 0)), atol=1e-6)


def test_neighbours_are_told_apart_by_every_eye() -> None:
    skeleton = hand()
    colours = bone_colours(skeleton)
    chosen = [int(np.flatnonzero((_candidates() == colour).all(axis=1))[0]) for colour in colours]
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            assert _distances()[chosen[joint], chosen[parent]] >= LEAST_APART
        for sibling in np.flatnonzero(skeleton.parents == parent):
            if sibling != joint:
                assert _distances()[chosen[joint], chosen[sibling]] > 0.0


def test_a_bone_keeps_its_colour_when_others_are_added() -> None:
    skeleton = hand()
    longer = tree([*skeleton.names, "tail"], [*skeleton.parents.tolist(), 0])
    np.testing.assert_array_equal(bone_colours(longer)[:-1], bone_colours(skeleton))


def test_many_siblings_and_no_bones() -> None:
    assert bone_colours(tree(["root", *(f"b{i}" for i in range(99))], [-1] + [0] * 99)).shape == (100, 3)
    assert bone_colours(tree([], [])).shape == (0, 3)
    assert len(set(_CANDIDATES)) == len(_CANDIDATES)


@pytest.mark.parametrize("seed", range(40))
def test_what_lies_close_by_is_told_apart_however_it_is_named(seed: int) -> None:
    """An upper arm lies at the chest, and yet several joints are between them."""
    letters = np.random.default_rng(seed).integers(ord("a"), ord("z"), (8, 6))
    names = ["".join(map(chr, row)) for row in letters.tolist()]
    parents = [-1, 0, 1, 1, 3, 4, 5, 6]
    local = [(0, 0, 1), (0, 0, 0.2), (0, 0, 0.3), (0.02, 0, 0.25), (0.05, 0, 0), (0.05, 0, 0), (0.05, 0, -0.02),
             (0.05, 0, -0.3)]
    skeleton = Skeleton.from_arrays(names, parents, rot.identities(8), np.array(local, dtype=np.float64))
    chosen = [int(np.flatnonzero((_candidates() == colour).all(axis=1))[0]) for colour in bone_colours(skeleton)]
    chest, upper_arm = 1, 6
    assert _distances()[chosen[chest], chosen[upper_arm]] >= CLOSE_APART
