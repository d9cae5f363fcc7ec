"""Bones that the user says move skin: they take part whatever else speaks against them."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.binding.idle import find_idle
from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside
from takt.core.errors import TaktError

from .bodies import tube

LEFT_OUT = ["handslot", "Head_end"]


def limb(names: list[str]) -> BindInput:
    """A tube with four bones, one after the other."""
    points, faces = tube((0, 0, 0), (0, 0, 4), 0.4, 33)
    heads = np.array([(0, 0, height) for height in range(4)], float)
    return BindInput.from_arrays(points, faces, names, [-1, 0, 1, 2], heads, heads + np.array((0, 0, 1)))


def doubled() -> BindInput:
    """The limb again, and an ORG- bone beside each DEF- one."""
    body = limb([f"DEF-{n}" for n in range(4)])
    heads, tails = np.tile(body.heads, (2, 1)), np.tile(body.tails, (2, 1))
    return replace(body, bone_names=(*body.bone_names, *(f"ORG-{n}" for n in range(4))), heads=heads, tails=tails,
                   bone_parents=np.array([-1, 0, 1, 2, -1, 4, 5, 6]))


def weights(body: BindInput) -> np.ndarray:
    return bind_inside(body).influences.dense(len(body.bone_names))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_bone_that_its_name_leaves_out_gets_its_place(name: str) -> None:
    body = limb(["lower", "middle", "upper", name])
    assert name in find_idle(body, bind_inside(body).influences).names
    chosen = replace(body, chosen=np.arange(4) == 3)
    beside = np.abs(body.vertices[:, 2] - 3.5) < 0.2
    assert (weights(chosen)[beside].argmax(axis=1) == 3).all()
    assert name not in find_idle(chosen, bind_inside(chosen).influences).names


def test_a_bone_beside_one_that_is_named_as_deforming_shares_its_place() -> None:
    body = doubled()
    assert not weights(body)[:, 4:].any()
    chosen = weights(replace(body, chosen=np.arange(8) == 6))
    beside = np.abs(body.vertices[:, 2] - 2.5) < 0.2
    assert (chosen[beside, 6] > 0.3).all() and not chosen[:, [4, 5, 7]].any()


def test_nothing_changes_where_all_that_move_skin_are_chosen() -> None:
    body = limb(["a", "b", "c", "d"])
    np.testing.assert_array_equal(weights(replace(body, chosen=np.ones(4, dtype=bool))), weights(body))


def test_choices_that_do_not_fit_the_bones_are_refused() -> None:
    with pytest.raises(TaktError, match=r"chosen has shape \(3,\), expected \(4,\)"):
        replace(limb(["a", "b", "c", "d"]), chosen=np.ones(3, dtype=bool))
