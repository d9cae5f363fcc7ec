"""Which lines stand for bones: tails that mean something or not, bones that only steer, bones without parents."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.binding.bone_lines import bone_lines
from takt.core.binding.euclidean import segment_distances
from takt.core.binding.hierarchy import adopted, linked, live_parents, rejoined
from takt.core.binding.roles import hubs
from takt.core.binding.segments import Segments
from takt.core.binding.solid import Solid
from takt.core.skeletons.bone_names import words

from .bodies import joined, tube
from .test_binding_solid import solid_of

SIZE = 4.0
ROUNDING = 1e-9
SKIN = 0.12
"""Lines end at the skin within a cell and a half."""


@pytest.fixture(scope="module")
def solid() -> Solid:
    """A tube of radius 0.5 along z from 0 to 4."""
    return solid_of(*tube((0, 0, 0), (0, 0, 4), 0.5, 12, 16), cell=0.08)


def lines(solid: Solid, parents, heads, tails, names=None) -> dict[str, list[tuple[list[float], list[float]]]]:
    names = names or [f"bone {i}" for i in range(len(parents))]
    found = bone_lines(names, np.array(parents), np.array(heads, float), np.array(tails, float), solid, SIZE).segments
    result: dict[str, list[tuple[list[float], list[float]]]] = {name: [] for name in names}
    for bone, start, end in zip(found.bones, found.starts.round(6).tolist(), found.ends.round(6).tolist(), strict=True):
        result[names[bone]].append((start, end))
    return result


UP = [[0, 0, 0.5], [0, 0, 1.5], [0, 0, 2.5]]


def test_tails_that_lead_to_children_are_kept_and_the_last_goes_to_the_skin(solid):
    found = lines(solid, [-1, 0, 1], UP, [[0, 0, 1.5], [0, 0, 2.5], [0, 0, 3]])
    assert found["bone 0"] == [([0, 0, 0.5], [0, 0, 1.5])] and found["bone 1"] == [([0, 0, 1.5], [0, 0, 2.5])]
    assert found["bone 2"][0][1][2] == pytest.approx(4.25, abs=SKIN)


def test_an_overshooting_tail_ends_at_its_only_child(solid):
    assert lines(solid, [-1, 0], UP[:2], [[0, 0, 1.7], [0, 0, 2.5]])["bone 0"] == [([0, 0, 0.5], [0, 0, 1.5])]


def test_a_tail_short_of_children_straight_ahead_goes_on_to_them(solid):
    heads = [[0, 0, 0.5], [0.1, 0, 2.5], [-0.1, 0, 2.5], [0.3, 0, 0.7]]
    tails = [[0, 0, 1], [0.1, 0, 3], [-0.1, 0, 3], [0.4, 0, 0.7]]
    found = lines(solid, [-1, 0, 0, 0, 1], [*heads, [0.1, 0, 3]], [*tails, [0.1, 0, 3.4]])
    assert [end for _, end in found["bone 0"]] == [[0, 0, 1], [0.1, 0, 2.5], [-0.1, 0, 2.5]]


def test_tails_that_lead_nowhere_give_way_to_fans(solid):
    heads = [[0, 0, 1], [0.2, 0, 2], [-0.2, 0, 2], [0.2, 0, 3]]
    found = lines(solid, [-1, 0, 0, 1], heads, [[9, 0, 1], [9, 0, 2], [9, 0, 2], [9, 0, 3]])
    assert [end for _, end in found["bone 0"]] == [[0.2, 0, 2], [-0.2, 0, 2]]
    (start, end), = found["bone 3"]
    assert start == [0.2, 0, 3] and end[0] == 0.2 and 3.7 - ROUNDING <= end[2] < 4.4


def test_a_last_bone_does_not_grow_over_its_neighbour(solid):
    heads, tails = [[0, 0, 0.5], [0, 0, 1], [0.1, 0, 2]], [[0, 0, 1], [0, 0, 1.4], [0.1, 0, 3]]
    found = lines(solid, [-1, 0, -1], heads, tails)
    assert 1.4 < found["bone 1"][0][1][2] < 1.8


def test_a_last_bone_that_sticks_out_is_cut_and_one_outside_is_left(solid):
    found = lines(solid, [-1, 0, -1], [[0, 0, 1], [0, 0, 2], [3, 0, 0]], [[0, 0, 2], [3, 0, 2], [3, 0, 1]])
    assert found["bone 1"][0][1][0] == pytest.approx(0.5, abs=SKIN) and found["bone 2"] == [([3, 0, 0], [3, 0, 1])]


def test_steering_bones_have_no_line(solid):
    names = ["root", "trunk", "top", "handIK", "pole", "copy", "copy's end"]
    parents = [-1, 0, 1, 0, 0, 0, 5]
    heads = [[0, 0, -2], [0, 0, 1], [0, 0, 2], [0, 0, 3], [5, 0, 1], [0, 0, 2.9], [0, 0, 2]]
    tails = [[0, 0, -1], [0, 0, 2], [0, 0, 3], [0, 0, 4], [6, 0, 1], [0, 0, 2], [0, 0, 1.9]]
    found = lines(solid, parents, heads, tails, names)
    assert [name for name, own in found.items() if own] == ["trunk", "top"]


def test_feet_that_hang_from_the_ground_keep_their_lines(solid):
    heads, tails = [[9, 0, 0], [0, 0, 1], [0, 0, 3]], [[9, 0, 1], [0, 0, 3], [0, 0, 3.9]]
    found = lines(solid, [-1, 0, 0], heads, tails, ["root", "leg", "foot"])
    assert found["leg"] and found["foot"]


@pytest.mark.parametrize(("start", "moves"), [(-2.0, False), (-1.2, False), (-0.4, True), (0.5, True)])
def test_a_root_outside_moves_skin_where_it_leads_into_the_body(solid, start, moves):
    heads, tails = [[0, 0, start], [0, 0, 1], [0, 0, 2.5]], [[0, 0, 1], [0, 0, 2.5], [0, 0, 4]]
    assert bool(lines(solid, [-1, 0, 1], heads, tails)["bone 0"]) == moves


@pytest.mark.parametrize(("start", "moves"), [(-1.5, False), (0.0, True)])
def test_along_the_axis_of_a_cage_the_root_moves_skin_unless_it_lies_before_it(start, moves):
    bars = [tube((x, y, 0), (x, y, 4), 0.1) for x, y in ((0.6, 0.0), (-0.3, 0.5), (-0.3, -0.5))]
    cage = solid_of(*joined(*bars)[:2], cell=0.08)
    heads, tails = [[0, 0, start], [0, 0, 1], [0, 0, 2.5]], [[0, 0, 1], [0, 0, 2.5], [0, 0, 4]]
    assert bool(lines(cage, [-1, 0, 1], heads, tails)["bone 0"]) == moves


def test_a_root_below_a_gown_moves_no_skin_if_its_name_says_so(solid):
    heads, tails = [[0, 0, -0.4], [0, 0, 3]], [[0, 0.5, -0.4], [0, 0, 4]]
    assert not lines(solid, [-1, 0], heads, tails, ["Root", "hips"])["Root"]
    assert lines(solid, [-1, 0], heads, tails, ["tail", "hips"])["tail"]


@pytest.mark.parametrize(("name", "height", "moves"), [("Root", 0.02, False), ("Hips", 0.02, True),
                                                       ("Root", 0.5, True)])
def test_a_root_that_a_snake_lies_on_moves_no_skin_if_its_name_says_so(name, height, moves):
    coiled = joined(tube((0, 0, 0.5), (4, 0, 0.5), 0.5, 12, 16), tube((4, 0, 0.5), (4, 0, 6), 0.5, 12, 16),
                    tube((4, 0, 6), (0, 0, 6), 0.5, 12, 16))
    heads = [[0.5, 0, height], [3.5, 0, 0.5], [2, 0, 0.5], [3.8, 0, 6], [2, 0, 6]]
    tails = [[0.5, 0, height + 0.3], [2, 0, 0.5], [0.8, 0, 0.5], [2, 0, 6], [0.5, 0, 6]]
    names = [name, "tail", "tip", "neck", "head"]
    found = lines(solid_of(*coiled[:2], cell=0.1), [-1, 0, 1, 0, 3], heads, tails, names)
    assert bool(found[name]) == moves and all(found[other] for other in names[1:])


def test_a_root_in_the_gap_between_two_boxes_moves_skin():
    gap = solid_of(*joined(tube((0, 0, 0), (0, 0, 1), 0.4), tube((0, 0, 1.45), (0, 0, 2), 0.4))[:2], cell=0.08)
    heads, tails = [[0, 0, 1.2], [0, 0, 1.8], [0, 0, 1.0]], [[0, 0, 1.8], [0, 0, 2], [0, 0, 0]]
    assert lines(gap, [-1, 0, 0], heads, tails)["bone 0"]


def test_where_all_bones_steer_all_have_lines(solid):
    assert lines(solid, [-1], [[0, 0, 1]], [[0, 0, 2]], ["IK"])["IK"]


def test_bones_without_parents_are_joined_along_limbs():
    two = solid_of(*tube((0, 0, -2), (0, 0, 2), 0.3), cell=0.08)
    heads = np.array([[0, 0, 1.5], [0, 0, 1], [0, 0, 0], [0, 0, -1], [0, 0, -1.7]], float)
    parents = linked(["a tip", "a mid", "root", "b mid", "b tip"], heads, heads, two)
    assert parents.tolist() == [1, 2, -1, 2, 3]


def test_a_word_that_all_names_begin_with_joins_nobody():
    random, names = np.random.default_rng(5), ["left arm", "right arm", "left hand", "right hand", "left tip"]
    heads = random.normal(size=(5, 3))
    empty = Solid(np.zeros((3, 3, 3), np.bool_), 1.0)
    parents = linked(names, heads, heads, empty)
    assert (linked([f"rig:{name}" for name in names], heads, heads, empty) == parents).all()
    assert (linked([f"bone {k}" for k in range(5)], heads, heads, empty)
            == linked([str(k) for k in range(5)], heads, heads, empty)).all()


def test_only_a_list_that_is_in_some_order_joins_neighbours_in_it():
    joint, finger = np.divmod(np.arange(20), 4)  # a finger's joints are farther from each other than from the next's
    heads, listed = np.column_stack((finger * 1.0, joint * 1.3, np.zeros(20))), [str(k) for k in range(20)]
    heads = heads[np.lexsort((joint, finger))]

    def lengths(order: np.ndarray) -> np.ndarray:
        parents = linked(listed, heads[order], heads[order], Solid(np.zeros((3, 3, 3), np.bool_), 1.0))
        return np.asarray(np.linalg.norm(heads[order][parents >= 0] - heads[order][parents[parents >= 0]], axis=1))

    assert (lengths(np.arange(20)) > 1.2).sum() == 16  # along the fingers
    shuffled = [lengths(np.random.default_rng(seed).permutation(20)) for seed in range(20)]
    assert sum((some > 1.31).sum() for some in shuffled) < 10  # no farther than to the next


@pytest.mark.parametrize("spread", [0.2, 0.3])
def test_fingers_go_on_from_the_wrist_however_near_to_each_other_they_start(spread):
    fingers, joints = ("pinky", "ring", "middle", "index", "thumb"), ("tip", "distal", "proximal", "metacarpal")
    heads = [[spread * (k - 2), 1.9 - 0.4 * joint, 0] for k in range(5) for joint in range(4)] + [[0, 0, 0]]
    names = [f"{finger}-{joint}" for finger in fingers for joint in joints] + ["wrist"]
    found = linked(names, np.array(heads, float), np.array(heads, float), Solid(np.zeros((3, 3, 3), np.bool_), 1.0))
    assert found.tolist() == [20 if joint == 3 else 4 * k + joint + 1 for k in range(5) for joint in range(4)] + [-1]


@given(st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_bones_without_parents_follow_those_whose_tails_end_at_their_heads(seed):
    random = np.random.default_rng(seed)
    bones = int(random.integers(2, 20))
    made = np.array([-1, *(int(random.integers(0, bone)) for bone in range(1, bones))])
    heads = np.zeros((bones, 3))
    tails = random.normal(size=(bones, 3)) * 3.0
    for bone in range(1, bones):  # the first child begins at its parent's tail, the others anywhere
        heads[bone] = tails[made[bone]] if made[bone] not in made[:bone] else random.normal(size=3) * 3.0
        tails[bone] += heads[bone]
    first = [bone for bone in range(1, bones) if made[bone] not in made[:bone]]
    order = random.permutation(bones)
    found = np.empty(bones, dtype=int)
    found[order] = np.append(order, -1)[linked([str(i) for i in range(bones)], heads[order], tails[order],
                                               Solid(np.zeros((3, 3, 3), np.bool_), 1.0))]
    assert (found[first] == made[first]).all() and (found < 0).sum() == 1


def test_bones_without_parents_whose_tails_mean_something_are_their_own_lines(solid):
    heads, tails = [*UP, [0, 0.2, 1.6]], [*UP[1:], [0, 0, 3.5], [0, 0.4, 1.8]]
    found = lines(solid, [-1] * 4, heads, tails)
    assert found["bone 0"] == [(UP[0], UP[1])] and found["bone 1"] == [(UP[1], UP[2])]
    assert [start for start, _ in found["bone 3"]] == [[0, 0.2, 1.6]]


@given(st.integers(0, 2**31), st.integers(3, 30))
@settings(max_examples=25, deadline=None)
def test_joined_bones_are_one_tree(seed, bones):
    heads = np.random.default_rng(seed).normal(size=(bones, 3))
    empty = Solid(np.zeros((3, 3, 3), np.bool_), 1.0)
    parents = linked([str(i) for i in range(bones)], heads, heads, empty)
    assert (parents < 0).sum() == 1
    ancestor = parents.copy()
    for _ in range(bones):
        ancestor = np.where(ancestor >= 0, parents[ancestor], -1)
    assert (ancestor < 0).all()


def test_words():
    assert words("Thumb3.L_end") == ["thumb", "3", "l", "end"] and words("IKTarget") == ["ik", "target"]
    assert words("弓") == []


@given(st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_distances_agree_with_the_plain_ones_even_far_away(seed):
    random = np.random.default_rng(seed)
    points, starts, ends = random.normal(size=(20, 3)), random.normal(size=(5, 3)) * 1e4, random.normal(size=(5, 3))
    ends[0] = starts[0]
    found = Segments(np.arange(5), starts, ends, np.ones(5, np.bool_))
    distance, share = found.nearest(points)
    assert np.allclose(distance, segment_distances(points, starts, ends), rtol=1e-6)
    assert np.allclose(np.linalg.norm(points[:, None] - found.points_at(share), axis=2), distance)


def test_what_only_carries_others_has_no_line_and_its_children_go_on_from_above(solid):
    parents = [-1, 0, 1, 1]
    heads = [[0, 0, 0.5], [0, 0, 1.5], [0, 0, 1.5], [0, 0, 1.5]]
    tails = [[0, 0, 1.5], [0, 0.3, 1.5], [0, 0, 2.5], [0.3, 0, 1.5]]
    none = np.zeros(4, dtype=int)
    assert hubs(np.array(parents), np.array(heads, float), SIZE, none).tolist() == [False, True, False, False]
    names = [f"bone {i}" for i in range(4)]
    found = bone_lines(names, np.array(parents), np.array(heads, float), np.array(tails, float), solid, SIZE)
    assert 1 not in found.segments.bones and found.parents.tolist() == [-1, 0, 0, 0]


def test_controls_that_start_where_a_deforming_bone_starts_do_not_make_it_a_carrier():
    heads = np.array([[0, 0, 0.5], [0, 0, 1.5], [0, 0, 1.5], [0, 0, 1.5], [0, 0, 2.5]])
    claim, lesser = np.array([2, 2, 2, 2, 2]), np.array([2, 2, 1, 1, 2])
    for claims, expected in ((claim, True), (lesser, False)):
        assert hubs(np.array([-1, 0, 1, 1, 1]), heads, SIZE, claims)[1] == expected


def test_a_bone_that_runs_on_alone_from_where_its_children_start_moves_skin(solid):
    """A skull has its own way through the head, though the bones of both cheeks start where it starts."""
    heads = [[0, 0, 0.5], [0, 0, 1.5], [0, 0, 1.5], [0, 0, 1.5]]
    tails = [[0, 0, 1.5], [0, 0, 3.5], [0.4, 0, 1.6], [-0.4, 0, 1.6]]
    found = lines(solid, [-1, 0, 1, 1], heads, tails, ["neck", "skull", "cheek.L", "cheek.R"])
    assert found["skull"][0][0] == [0, 0, 1.5] and found["skull"][0][1][2] > 3.5


def test_a_bone_whose_children_all_start_before_its_middle_is_a_last_one(solid):
    heads, tails = [[0, 0, 0.2], [0, 0, 1], [0, 0.2, 1.2]], [[0, 0, 1], [0, 0, 3], [0, 0.4, 1.2]]
    found = bone_lines(["neck", "skull", "jaw"], np.array([-1, 0, 1]), np.array(heads, float),
                       np.array(tails, float), solid, SIZE).segments
    assert dict(zip(found.bones.tolist(), found.leaf.tolist(), strict=True)) == {0: False, 1: True, 2: True}


@pytest.mark.parametrize("nudge", [-1e-13, 0.0, 1e-13])
def test_limbs_beside_a_joint_go_on_from_the_bone_above_it_whatever_rounding_says(nudge):
    air = Solid(np.zeros((3, 3, 3), dtype=np.bool_), 1.0)
    heads = np.array([[0, 0, 1], [0, 0, 2], [0.5, -0.2, 2.2], [-0.5, -0.2, 2.2]])
    ends = np.array([[0, 0, 2 - nudge], [0, 1, 2], [0.5, -0.2, 1], [-0.5, -0.2, 1]])
    limbs = Segments(np.arange(4), heads, ends, np.array([False, True, True, True]))
    assert adopted(np.array([-1, 0, -1, -1]), limbs, air).tolist() == [-1, 0, 0, 0]


@pytest.mark.parametrize(("other", "roots"), [
    ([[0.5, 0, 2], [0.5, 0.1, 1]], 2), ([[0.5, 0, 2], [0.5, 0.7, 1]], 1), ([[0.5, 0, 2], [0.5, 0.1, 2.9]], 1),
    ([[-0.5, 0, 2.1], [-0.5, 0, 3]], 1)], ids=["mirrored", "bent", "another way", "above"])
def test_two_limbs_that_mirror_each_other_have_no_trunk(other, roots):
    air = Solid(np.zeros((3, 3, 3), dtype=np.bool_), 1.0)
    heads = np.array([[-0.5, 0, 2], [-0.5, 0.1, 1], *other])
    limbs = Segments(np.arange(4), heads, heads - [0, 0, 0.5], np.array([False, True, False, True]))
    assert (adopted(np.array([-1, 0, -1, 2]), limbs, air) < 0).sum() == roots


SHIN_AND_FOOT = (np.array([[9, 0, 0], [0, 0, 2], [0, 0, 1]], float),
                 np.array([[9, 0, 1], [0, 0, 1], [0, 0.5, 0.9]], float))


def test_a_foot_that_hangs_from_the_ground_goes_on_from_its_shin():
    nobody = np.zeros(3, np.bool_)
    assert rejoined(np.array([-1, 0, 0]), *SHIN_AND_FOOT, nobody).tolist() == [-1, 0, 1]
    assert rejoined(np.array([-1, 0, 0]), *SHIN_AND_FOOT, np.array([False, False, True])).tolist() == [-1, 0, 0]


def test_a_control_at_an_ankle_stays_where_it_is():
    heads, tails = (np.vstack((ends, ends[2] + np.array((0, 0, 0.01)))) for ends in SHIN_AND_FOOT)
    assert rejoined(np.array([-1, 0, 1, 0]), heads, tails, np.zeros(4, np.bool_)).tolist() == [-1, 0, 1, 0]


def test_only_where_the_hierarchy_is_unknown_do_tips_mark_ends(solid):
    names, heads, tails = ["palm", "finger", "finger tip"], UP, [[0, 0, 1.5], [0, 0, 2.5], [0, 0, 3]]
    assert lines(solid, [-1, 0, 1], heads, tails, names)["finger tip"]
    assert not lines(solid, [-1, -1, -1], heads, tails, names)["finger tip"]


def test_bones_that_hang_from_controls_of_each_other_are_no_ring():
    """A foot hangs from a control at the toe, and the toe from one at the foot: bones stand for both controls."""
    heads = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 1.0], [0, 0, 2]])  # two controls; foot, toe, toe's tip
    steering = np.array([True, True, False, False, False])
    found = live_parents(np.array([-1, -1, 1, 0, 3]), steering, steering, heads, 1e-3)
    assert found[2:].tolist() == [-1, -1, 3]
