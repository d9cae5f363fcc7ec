"""core/skeletons/body_parts.py: the same names mean the same joints on every rig."""

import numpy as np
import pytest

from takt.core.errors import TaktError
from takt.core.skeletons import hanim
from takt.core.skeletons.body_parts import PARTS, BodyMasks, NamedBody, what_is_wrong
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.skeleton import build_skeleton


def named(mask: np.ndarray, skeleton: Skeleton) -> set[str]:
    return {name for name, share in zip(skeleton.names, mask, strict=True) if share > 0.0}


def mask_of(name: str, fade: float, masks: dict[str, NamedBody], body: SkeletonMap) -> np.ndarray:
    return BodyMasks(masks, body).of(name, fade)


@pytest.fixture(scope="module")
def body() -> SkeletonMap:
    return find_map(build_skeleton())


def test_parts_are_made_of_joints() -> None:
    assert all(joints <= set(hanim.PARENTS) for joints in PARTS.values())
    assert PARTS["upper"] | PARTS["lower"] == PARTS["whole"] and not PARTS["upper"] & PARTS["lower"]
    assert PARTS["spine"] | PARTS["neck"] | PARTS["head"] | PARTS["arms"] == PARTS["upper"]


def test_halves_share_the_whole_body(body: SkeletonMap) -> None:
    upper, lower = (mask_of(name, 0.0, {}, body) for name in ("upper", "lower"))
    assert ((upper + lower) == 1.0).all() and upper.any() and lower.any()


def test_signs_go_from_left_to_right(body: SkeletonMap) -> None:
    arms, hands = (mask_of(name, 0.0, {}, body) for name in ("arms", "hands"))
    assert np.array_equal(mask_of("arms - hands", 0.0, {}, body), arms - hands)
    assert np.array_equal(mask_of("arms-hands+hands", 0.0, {}, body), arms)


def test_a_joint_has_all_below_it(body: SkeletonMap) -> None:
    assert np.array_equal(mask_of("l_elbow", 0.0, {}, body),
                          mask_of(f"bone:{body.skeleton.names[body.joint_of['l_elbow']]}", 0.0, {}, body))


def test_fade_shares_the_border(body: SkeletonMap) -> None:
    mask = mask_of("left_arm", 2.0, {}, body)
    chain = [body.joint_of[f"l_{name}"] for name in hanim.ARM if f"l_{name}" in body.joint_of]
    assert np.allclose(mask[chain[:3]], (1 / 3, 2 / 3, 1.0)) and (mask[chain[3:]] == 1.0).all()
    assert (mask_of("whole", 2.0, {}, body) == 1.0).all()


def test_masks_have_names_and_fades_of_their_own(body: SkeletonMap) -> None:
    masks = {"torso": NamedBody("spine + arms - hands"), "soft": NamedBody("torso", 1.0)}
    assert np.array_equal(mask_of("torso", 0.0, masks, body), mask_of("spine + arms - hands", 0.0, {}, body))
    assert 0.0 < mask_of("soft", 0.0, masks, body).max() <= 1.0
    assert (mask_of("soft", 0.0, masks, body) == 0.5).any()


def test_masks_of_masks_are_worked_out_once_each(body: SkeletonMap) -> None:
    """Forty that are each made twice of the one before: by plain recursion a million million of them."""
    doubled = {f"m{i}": NamedBody(f"m{i - 1} + m{i - 1}" if i else "upper - hands") for i in range(40)}
    chain = {f"m{i}": NamedBody(f"m{i - 1}" if i else "upper - hands") for i in range(1_200)}
    expected = mask_of("upper - hands", 1.0, {}, body)
    assert np.array_equal(mask_of("m39", 1.0, doubled, body), expected)
    assert np.array_equal(mask_of("m1199", 1.0, chain, body), expected)


def test_a_mask_that_leads_to_a_circle_is_refused(body: SkeletonMap) -> None:
    masks = {"top": NamedBody("a + arms"), "a": NamedBody("b"), "b": NamedBody("c + head"), "c": NamedBody("b")}
    with pytest.raises(TaktError, match="'b', a mask that is made of itself"):
        mask_of("top", 0.0, masks, body)
    with pytest.raises(TaktError, match="found 'nobody'"):
        mask_of("top", 0.0, masks | {"c": NamedBody("nobody")}, body)


def test_says_what_the_rig_has_not(body: SkeletonMap) -> None:
    masks = BodyMasks({}, body)
    assert masks.of("bone:Tail + head", 0.0).any() and [*masks.missing] == ["bone:Tail"]


def test_without_a_map_bones_and_the_whole_work() -> None:
    rope = Skeleton.from_arrays(("a", "b", "c"), (-1, 0, 1), np.tile((1.0, 0, 0, 0), (3, 1)), np.eye(3))
    empty = find_map(rope)
    assert named(mask_of("bone:b", 0.0, {}, empty), rope) == {"b", "c"}
    assert named(mask_of("whole - bone:c", 0.0, {}, empty), rope) == {"a", "b"}
    masks = BodyMasks({}, empty)
    assert named(masks.of("root", 0.0), rope) == {"a"} and not masks.missing
    assert not masks.of("head", 0.0).any() and not masks.of("lower", 0.0).any()
    assert [*masks.missing] == ["head", "lower"]


@pytest.mark.parametrize(("text", "says"), [
    ("uper", "did you mean upper?"), ("", "found ''"), ("arms +", "expected whole"), ("loop", "made of itself")])
def test_what_is_wrong_is_said(text: str, says: str, body: SkeletonMap) -> None:
    masks = {"loop": NamedBody("arms + ring"), "ring": NamedBody("loop")}
    if text == "arms +":
        assert what_is_wrong(text, masks) == ""  # a sign at the end means nothing
        return
    assert says in what_is_wrong(text, masks)
    with pytest.raises(TaktError):
        mask_of(text, 0.0, masks, body)
