"""A joint of a foreign name among known ones is known by its neighbours."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.skeletons.maps import find_map
from takt.core.skeletons.maps.skeleton_map import ESSENTIAL
from takt.core.skeletons.maps.unnamed import BY_NEIGHBOURS, with_unnamed
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.skeleton import build_skeleton


def renamed(skeleton: Skeleton, **names: str) -> Skeleton:
    return replace(skeleton, names=tuple(names.get(name, name) for name in skeleton.names))


@pytest.mark.parametrize("name", ESSENTIAL)
def test_each_joint_that_every_humanoid_has(name: str) -> None:
    own = build_skeleton()
    found, whole = find_map(renamed(own, **{name: "Blob"})), find_map(own)
    assert found.meant == whole.meant and found.is_sure and not found.is_checked and whole.is_checked
    assert found.certainties[own.index_of[name]] == BY_NEIGHBOURS


def test_several_of_one_body_at_once() -> None:
    own = build_skeleton()
    found = find_map(renamed(own, skullbase="Blob", l_knee="Blob 2", r_wrist="Blob 3"))
    assert found.meant == find_map(own).meant


def test_what_two_joints_could_be_neither_is() -> None:
    own = build_skeleton()
    names = (*renamed(own, skullbase="Blob").names, "Hat")
    neck = own.index_of["vc4"]
    rotations, translations = (np.concatenate((values, values[neck:neck + 1])) for values in
                               (own.rest_rotations, own.rest_translations))
    two = Skeleton.from_arrays(names, [*own.parents.tolist(), neck], rotations, translations)
    found = find_map(two)
    assert "skullbase" in found.missing and found.meant[-1] is None
    third = Skeleton.from_arrays((*own.names, "Hat"), two.parents, two.rest_rotations, two.rest_translations)
    assert find_map(third).meant == (*find_map(own).meant, None)  # whoever has a head needs no other


def test_what_stands_elsewhere_is_not_taken() -> None:
    """A foreign joint below the pelvis is no knee where it carries an elbow, and one beside the body is nothing."""
    own = find_map(build_skeleton())
    hand = own.skeleton.index_of["l_wrist"]
    without = replace(own, meant=tuple(None if joint == hand or name == "r_wrist" else name
                                       for joint, name in enumerate(own.meant)))
    found = with_unnamed(without)
    assert found.meant == own.meant  # both have fingers of their own side
    bare = replace(own, meant=tuple(None if name is not None and name.startswith("l_") and name[2:] not in (
        "hip", "ankle", "shoulder") else name for name in own.meant))
    assert set(bare.missing) >= {"l_knee", "l_elbow", "l_wrist"}
    assert with_unnamed(bare).meant[own.skeleton.index_of["l_knee"]] == "l_knee"
    assert {"l_elbow", "l_wrist"} <= set(with_unnamed(bare).missing)  # nothing below them is known


def test_a_file_that_says_so_itself_is_taken_at_its_word() -> None:
    own = renamed(build_skeleton(), skullbase="Blob")
    said = {name: name for name in own.names if name != "Blob"}
    assert "skullbase" in find_map(replace(own, meant=said)).missing
