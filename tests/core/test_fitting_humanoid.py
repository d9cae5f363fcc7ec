"""Skeletons fitted into people made by rule, whose joints are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from takt.core.binding.settings import BindCancelledError
from takt.core.errors import TaktError
from takt.core.fitting import FitError, FittedSkeleton, FittingProblem, fit_skeleton
from takt.core.fitting.hand import FINGERS
from takt.core.maths import rotations as rot
from takt.core.skeletons import hanim

from .made_people import A_POSE, OUTWARD, RELAXED, T_POSE, Build, Person, below, person

MAIN = ("HumanoidRoot", "vc7", "skullbase",
        *(f"{side}_{joint}" for side in "lr" for joint in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")))
MEAN, WORST = 0.02, 0.04
"""Shares of the height by which the main joints may be off. Rounding, other on each processor, moves them by .008."""

ASIDE = 0.01
"""Share of the height by which both arms together may be off to one side."""

UPRIGHT = 0.99
"""Cosine: a head's bone points up."""

NECK = 0.1
"""Share of the height by which the skull of a neck twice as long may be off."""

UP, FRONT = np.array((0.0, 1.0, 0.0)), np.array((0.0, 0.0, 1.0))

BUILDS: dict[str, dict[str, dict[str, float]]] = {
    "dancer": {},
    "fat": {"thicker": {"": 1.25}},
    "thin": {"thicker": {"": 0.8}},
    "child": {"longer": {"hip": 0.7, "knee": 0.7}, "thicker": {"": 1.2, "skullbase": 1.8, "vc4": 1.3}},
}


def slow(*values: object) -> object:
    """Leave these values of a parameter to the full run: each body takes a second or more."""
    return pytest.param(*values, marks=pytest.mark.slow)


def problem(of: Person, up: np.ndarray = UP, front: np.ndarray = FRONT) -> FittingProblem:
    return FittingProblem(of.vertices, of.quads.reshape(-1), np.full(len(of.quads), 4), up, front)


def errors(found: FittedSkeleton, of: Person) -> np.ndarray:
    return np.array([np.linalg.norm(found.position(name) - of.joints[name]) for name in MAIN]) / of.height


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("pose", [T_POSE, A_POSE], ids=["T", "A"])
@pytest.mark.slow
def test_joints_are_where_they_are(pose, build):
    of = person(Build(turns=pose, longer=BUILDS[build].get("longer", {}), thicker=BUILDS[build].get("thicker", {})))
    found = errors(fit_skeleton(problem(of)), of)
    assert found.mean() < MEAN and found.max() < WORST


@pytest.mark.slow
@pytest.mark.parametrize("size", [slow(1.3), 1.6, slow(1.9)])
def test_large_hands_end_at_the_wrist(size):
    hand = dict.fromkeys(("wrist", *below("l_wrist")), size)
    of = person(Build(T_POSE, {}, {"shoulder": 0.8, "elbow": 0.8, **hand}, hand))
    found = fit_skeleton(problem(of))
    for name in ("l_wrist", "l_elbow", "r_wrist", "r_elbow"):
        assert np.linalg.norm(found.position(name) - of.joints[name]) < WORST * of.height


@pytest.mark.parametrize(("legs", "feet"), [slow(0.6, 1.4), slow(0.5, 1.0), (0.5, 1.5)])
def test_short_legs_with_long_feet_stand_straight(legs, feet):
    foot = {"ankle": feet, "metatarsal": feet}
    of = person(Build(T_POSE, {}, {"hip": legs, "knee": legs, **foot}, foot))
    found = fit_skeleton(problem(of))
    for name in ("l_knee", "l_ankle", "r_knee", "r_ankle"):
        assert np.linalg.norm(found.position(name) - of.joints[name]) < WORST * of.height


@pytest.fixture(scope="module")
def stout() -> Person:
    arm = dict.fromkeys(("shoulder", "elbow", "wrist"), 2.3)
    return person(Build(T_POSE, {}, {"sternoclavicular": 0.4}, arm))


@pytest.fixture(scope="module")
def stout_fitted(stout) -> FittedSkeleton:
    return fit_skeleton(problem(stout))


def test_collarbones_that_are_shorter_than_the_arms_are_thick_move_no_skin(stout, stout_fitted, fitted):
    assert fitted.carriers == ()
    assert stout_fitted.carriers == ("l_sternoclavicular", "r_sternoclavicular")
    of = problem(stout)
    bound = stout_fitted.body_bound_to(of.vertices, of.face_vertices, of.face_sizes,
                                       np.zeros(len(of.vertices), dtype=np.int64))
    assert set(stout_fitted.names) - set(bound.bone_names) == set(stout_fitted.carriers)
    assert [bound.bone_names[bound.bone_parents[bound.bone_names.index(f"{side}_shoulder")]] for side in "lr"] == [
        "vt6", "vt6"]


def test_a_head_ends_above_its_skull_whatever_the_hair(fitted, dancer):
    head = fitted.names.index("skullbase")
    way = fitted.ends[head] - fitted.positions[head]
    assert fitted.up @ way > UPRIGHT * np.linalg.norm(way)
    assert abs(fitted.ends[head] @ UP - dancer.vertices[:, 1].max()) < WORST * dancer.height


def test_a_long_neck_over_short_arms_is_the_heads():
    of = person(Build(T_POSE, {}, {"shoulder": 0.5, "elbow": 0.5, "vc4": 2.0, "vc7": 2.0,
                                   **dict.fromkeys(("wrist", *below("l_wrist")), 0.5)}, {"skullbase": 1.4}))
    found = fit_skeleton(problem(of))
    assert np.linalg.norm(found.position("skullbase") - of.joints["skullbase"]) < NECK * of.height


@pytest.mark.slow
def test_arms_that_hang_down():
    of = person(Build(turns=RELAXED))
    found = errors(fit_skeleton(problem(of)), of)
    assert found.mean() < MEAN and found.max() < WORST


@pytest.fixture(scope="module")
def dancer() -> Person:
    return person(Build(turns=T_POSE))


@pytest.fixture(scope="module")
def fitted(dancer) -> FittedSkeleton:
    return fit_skeleton(problem(dancer))


@pytest.mark.parametrize("degrees", [10.0, slow(15.0)])
def test_a_leg_that_stands_aside_moves_no_arm(degrees):
    of = person(Build(turns=A_POSE, right={"hip": (OUTWARD, degrees)}))
    found = fit_skeleton(problem(of))
    for joint in ("shoulder", "elbow", "wrist"):
        sides = (f"l_{joint}", f"r_{joint}")
        aside = sum(found.position(name)[0] - of.joints[name][0] for name in sides) / 2.0
        assert abs(aside) < ASIDE * of.height


def test_joints_of_the_dancer_are_where_they_are(dancer, fitted):
    found = errors(fitted, dancer)
    assert found.mean() < MEAN and found.max() < WORST


def test_names_are_of_hanim_and_parents_come_first(fitted):
    assert all(hanim.canonical(name) == name for name in fitted.names)
    assert (fitted.parents < np.arange(len(fitted.names))).all()
    for name, parent in zip(fitted.names[1:], fitted.parents[1:], strict=True):
        above, ancestors = hanim.PARENTS[name], []
        while above is not None:
            ancestors.append(above)
            above = hanim.PARENTS[above]
        expected = "HumanoidRoot" if name.endswith("_hip") else next(a for a in ancestors if a in fitted.names)
        assert fitted.names[parent] == expected


def test_the_body_is_upright_and_faces_ahead(fitted):
    assert fitted.up @ UP > 0.99 and fitted.front @ FRONT > 0.99


def test_left_and_right_mirror_each_other(fitted):
    for name in MAIN:
        if name.startswith("l_"):
            mirrored = fitted.position("r_" + name[2:]) * (-1.0, 1.0, 1.0)
            assert fitted.position(name) == pytest.approx(mirrored, abs=0.01)


def test_knees_bend_backwards_and_elbows_forwards(fitted):
    for side in "lr":
        knee, elbow = (fitted.names.index(f"{side}_{joint}") for joint in ("knee", "elbow"))
        for joint, towards in ((knee, -FRONT), (elbow, FRONT)):
            along = fitted.ends[joint] - fitted.positions[joint]
            turned = rot.rotate(rot.from_axis_angle(fitted.bend_axes[joint], 0.5), along)
            assert (turned - along) @ towards > 0.0


@pytest.mark.slow
def test_what_is_moved_turned_and_scaled_has_its_skeleton_there(dancer):
    turn = rot.from_axis_angle(np.array((1.0, 2.0, -0.5)) / np.sqrt(5.25), 1.9)
    shift = np.array((40.0, -3.0, 7.0))

    def there(points):
        return 100.0 * rot.rotate(turn, points) + shift

    moved = replace(dancer, vertices=there(dancer.vertices),
                    joints={name: there(point) for name, point in dancer.joints.items()})
    found = fit_skeleton(problem(moved, rot.rotate(turn, UP), rot.rotate(turn, FRONT)))
    assert (errors(found, moved) * moved.height / 100.0 / dancer.height).max() < WORST


@pytest.mark.parametrize("up", [slow(FRONT), -UP, slow(np.array((1.0, 0.0, 0.0)))],
                         ids=["lying", "upside down", "aside"])
def test_a_wrong_hint_changes_nothing_where_the_mesh_is_clear(dancer, up):
    found = fit_skeleton(problem(dancer, up, -FRONT))
    assert errors(found, dancer).max() < WORST


@pytest.mark.slow
def test_holes_and_loose_seams_do_not_matter(dancer):
    kept = np.random.default_rng(3).random(len(dancer.quads)) > 0.1
    quads = dancer.quads[kept]
    torn = replace(dancer, vertices=dancer.vertices[quads.reshape(-1)], quads=np.arange(quads.size).reshape(-1, 4))
    assert errors(fit_skeleton(problem(torn)), dancer).max() < WORST


@pytest.mark.slow
def test_what_is_not_straight_bends_where_the_joint_is():
    bent = {**A_POSE, "knee": ((1.0, 0.0, 0.0), 40.0), "hip": ((-1.0, 0.0, 0.0), 20.0)}
    of = person(Build(turns=bent))
    found = fit_skeleton(problem(of))
    knee = found.names.index("l_knee")
    assert errors(found, of).max() < WORST and found.certainty[knee] > 0.8


def test_certainty_is_less_where_a_joint_is_a_guess(fitted):
    assert ((fitted.certainty > 0.0) & (fitted.certainty <= 1.0)).all()
    assert fitted.guesses == ()


def cube() -> tuple[np.ndarray, list[list[int]]]:
    corners = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    return corners, [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def test_a_cube_is_no_humanoid():
    with pytest.raises(FitError, match="a humanoid has five"):
        fit_skeleton(FittingProblem.from_faces(*cube()))


def test_a_plane_is_flat():
    with pytest.raises(FitError, match="flat"):
        fit_skeleton(FittingProblem.from_faces(np.eye(3), [[0, 1, 2]]))


def test_points_in_one_place_have_no_shape():
    with pytest.raises(FitError, match="in one place"):
        fit_skeleton(FittingProblem.from_faces(np.zeros((3, 3)), [[0, 1, 2]]))


def test_a_mesh_without_faces_has_no_inside():
    with pytest.raises(FitError, match="no faces"):
        FittingProblem.from_faces(np.zeros((3, 3)), [])


def test_coordinates_that_are_not_finite_are_refused():
    with pytest.raises(FitError, match="not finite, the first is vertex 2"):
        FittingProblem.from_faces(np.array([[0.0, 0, 0], [1, 0, 0], [np.nan, 1, 0]]), [[0, 1, 2]])


def test_faces_must_fit_the_vertices():
    with pytest.raises(TaktError, match="not there"):
        FittingProblem.from_faces(np.zeros((3, 3)), [[0, 1, 7]])


def box(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    corners, faces = cube()
    return low + corners * (high - low), np.array(faces)


def with_boxes(of: Person, *boxes: tuple[np.ndarray, np.ndarray]) -> Person:
    vertices, quads = of.vertices, of.quads
    for points, faces in boxes:
        quads = np.concatenate((quads, faces + len(vertices)))
        vertices = np.concatenate((vertices, points))
    return replace(of, vertices=vertices, quads=quads)


@pytest.mark.slow
def test_a_sword_is_left_out_and_a_cape_does_not_matter():
    of = person(Build(turns=A_POSE))
    hand = of.joints["l_middle1"]
    sword = box(hand - np.array((0.02, 0.02, 0.1)), hand + np.array((0.02, 0.02, 1.0)))
    armed = with_boxes(of, sword, box(np.array((-0.25, 0.2, -0.16)), np.array((0.25, 1.4, -0.15))))
    found = fit_skeleton(problem(armed))
    assert errors(found, of).max() < WORST
    assert found.notes == ("Flat parts, as wings or a cape, got no bones",
                           "1 loose part of the mesh, as a sword, was left out")


@pytest.mark.slow
@pytest.mark.parametrize("has_legs", [True, False])
def test_legs_under_a_robe_are_found_if_they_are_there_and_guessed_if_not(has_legs: bool):
    of = person(Build(turns=A_POSE))
    high = of.vertices[of.quads, 1]
    kept = has_legs | (high > 0.8).all(axis=1) | (high < 0.15).all(axis=1)
    robed = with_boxes(replace(of, quads=of.quads[kept]), box(np.array((-0.3, 0.02, -0.25)),
                                                              np.array((0.3, 0.95, 0.25))))
    found = fit_skeleton(problem(robed))
    hidden = {f"{side}_{joint}" for side in "lr" for joint in ("hip", "knee", "ankle")}
    if has_legs:
        assert errors(found, of).max() < WORST and not hidden & set(found.guesses)
    else:
        assert hidden <= set(found.guesses) and "robe" in found.notes[0]
        assert errors(found, of).max() < 0.1


@pytest.mark.slow
def test_two_people_are_told_to_be_separated(dancer):
    two = replace(dancer, vertices=np.concatenate((dancer.vertices, dancer.vertices + np.array((2.0, 0.0, 0.0)))),
                  quads=np.concatenate((dancer.quads, dancer.quads + len(dancer.vertices))))
    with pytest.raises(FitError, match="several bodies"):
        fit_skeleton(problem(two))


@pytest.mark.slow
def test_hands_that_nearly_touch_the_hips_are_told_from_them():
    of = person(Build(turns=RELAXED, thicker={"": 1.25}))
    assert errors(fit_skeleton(problem(of)), of).max() < WORST


@pytest.mark.parametrize("pose", [T_POSE, RELAXED], ids=["T", "relaxed"])
def test_fingers_are_where_they_are_and_bend_into_the_palm(pose):
    of = person(Build(turns=pose))
    found = fit_skeleton(problem(of))
    fingers = [f"{side}_{finger}{number}" for side in "lr" for finger in FINGERS for number in (1, 2, 3)]
    away = np.array([np.linalg.norm(found.position(name) - of.joints[name]) for name in fingers]) / of.height
    assert away.max() < 0.025
    for side in "lr":
        middle, wrist = (found.names.index(f"{side}_{joint}") for joint in ("middle2", "wrist"))
        along = found.ends[middle] - found.positions[middle]
        bent = rot.rotate(rot.from_axis_angle(found.bend_axes[middle], 0.8), along) - along
        thumb, index = (found.position(f"{side}_{finger}2") for finger in ("thumb", "index"))
        fingers_along = found.position(f"{side}_middle1") - found.positions[wrist]
        palm = np.cross(fingers_along, thumb - index) * (1.0 if side == "l" else -1.0)
        assert bent @ palm > 0.0


@pytest.mark.slow
def test_a_mitten_has_no_fingers():
    of = person(Build(turns=A_POSE))
    knuckles = np.linalg.norm(of.joints["l_middle1"] - of.joints["l_wrist"])
    shortened = of.vertices.copy()
    for side in "lr":  # all that lies beyond the knuckles, the thumb too, is pressed into the palm
        wrist = of.joints[f"{side}_wrist"]
        along = (of.joints[f"{side}_middle1"] - wrist) / knuckles
        beyond = (shortened - wrist) @ along
        near = np.linalg.norm(shortened - wrist, axis=1) < 3.0 * knuckles
        squeezed = near & (beyond > 0.25 * knuckles)
        shortened[squeezed] -= np.outer(0.95 * (beyond[squeezed] - 0.25 * knuckles), along)
    found = fit_skeleton(problem(replace(of, vertices=shortened)))
    assert not any(finger in name for name in found.names for finger in FINGERS)


def test_it_can_be_stopped(dancer):
    said: list[float] = []

    def stop(done: float) -> bool:
        said.append(done)
        return done < 0.5

    with pytest.raises(BindCancelledError):
        fit_skeleton(problem(dancer), stop)
    assert said == sorted(said) and 0.5 <= said[-1] < 0.7
