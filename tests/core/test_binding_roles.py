"""Which bones move skin and which only steer: evidence from names, places, partners and chains."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from takt.core.binding.conventions import DEFORM, MECHANISM, ORIGINAL, UNMARKED, claims
from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.partners import partner_groups

from .bodies import figure, joined, moved, tube, turn
from .seeds import few

FORWARD = np.array((0.0, -0.3, 0.0))
UP = np.array((0.0, 0.0, 0.1))


Bones = list[tuple[str, str | None, Any, Any]]


def with_bones(body: BindInput, bones: Bones) -> BindInput:
    """Return the body with these bones, of name, parent's name, head and tail, in place of its own."""
    names = [bone[0] for bone in bones]
    return BindInput(body.vertices, body.face_vertices, body.face_sizes, body.part, tuple(names),
                     np.array([-1 if bone[1] is None else names.index(bone[1]) for bone in bones]),
                     np.array([bone[2] for bone in bones], float), np.array([bone[3] for bone in bones], float))


def bones_of(body: BindInput) -> Bones:
    return [(name, body.bone_names[parent] if parent >= 0 else None, head, tail)
            for name, parent, head, tail in zip(body.bone_names, body.bone_parents, body.heads, body.tails,
                                                strict=True)]


def with_root(body: BindInput, under_root: Callable[[str], bool] = lambda _: False,
              tail: np.ndarray | None = None) -> BindInput:
    """Return the body with a root on the ground, from which the roots and chosen bones hang; tails: head + tail."""
    bones: Bones = [("root", None, np.zeros(3), np.array((0.0, 0.0, 0.5)))]
    for name, parent, head, end in bones_of(body):
        bones.append((name, "root" if parent is None or under_root(name) else parent, head,
                      end if tail is None else head + tail))
    return with_bones(body, bones)


def doubled(body: BindInput, better: str, worse: str, chained: bool) -> BindInput:
    """Return the body with each bone twice. chained: the better is the worse one's child, else all hang from a root."""
    bones: Bones = [("root", None, np.array((0.0, 0.0, -0.5)), np.array((0.0, 0.5, -0.5)))]
    for name, parent, head, tail in bones_of(body):
        bones.append((worse.format(name), (better if chained else worse).format(parent) if parent else "root",
                      head, tail))
        bones.append((better.format(name), worse.format(name) if chained else "root", head, tail))
    return with_bones(body, bones)


def weights(body: BindInput) -> dict[str, np.ndarray]:
    return dict(zip(body.bone_names, bind_inside_distance(body).dense(len(body.bone_names)).T, strict=True))


def idle(body: BindInput) -> list[str]:
    return [name for name, own in weights(body).items() if not own.any()]


@pytest.mark.parametrize("chained", few([True, False]))
@pytest.mark.parametrize(("better", "worse"), [("DEF-{}", "ORG-{}"), ("DEF-{}", "MCH-{}"), ("DEF-{}", "{}"),
                                               ("{}_jnt", "{}_ctrl"), ("bind_{}", "{}_fk"), ("{}", "{}_drv")])
@pytest.mark.parametrize("tail", few([None, UP]))
def test_bones_named_as_deforming_get_what_they_get_alone(better: str, worse: str, chained: bool,
                                                          tail: np.ndarray | None) -> None:
    body = figure() if tail is None else with_bones(
        figure(), [(name, parent, head, head + tail) for name, parent, head, _ in bones_of(figure())])
    found = weights(doubled(body, better, worse, chained))
    for name, expected in weights(body).items():
        assert not found[worse.format(name)].any(), name
        np.testing.assert_allclose(found[better.format(name)], expected, atol=1e-9)


def test_a_flat_list_under_a_root_is_bound_as_bones_without_parents_are() -> None:
    body = figure()
    loose = weights(with_bones(body, [(name, None, head, tail) for name, _, head, tail in bones_of(body)]))
    flat: Bones = [(name, None, head, tail) for name, _, head, tail in bones_of(body)]
    flat += [(f"ORG-{name}", None, head, tail) for name, _, head, tail in flat]
    found = weights(with_root(with_bones(body, flat)))
    for name, expected in loose.items():
        np.testing.assert_allclose(found[name], expected, atol=1e-9)
        assert not found[f"ORG-{name}"].any()


def test_a_limb_that_no_deforming_bone_has_keeps_its_other_bones() -> None:
    body = doubled(figure(), "DEF-{}", "ORG-{}", chained=True)
    less = with_bones(body, [bone for bone in bones_of(body) if bone[0] not in ("DEF-arm.L", "DEF-hand.L")
                             ][:1] + [(name, "ORG-arm.L" if parent == "DEF-arm.L" else parent, head, tail)
                                      for name, parent, head, tail in bones_of(body)[1:]
                                      if name not in ("DEF-arm.L", "DEF-hand.L")])
    found = weights(less)
    assert found["ORG-arm.L"].any() and found["ORG-hand.L"].any() and not found["ORG-arm.R"].any()


@pytest.mark.parametrize("part", ["", "arm"])
def test_a_skeleton_joined_to_its_copy_binds_as_it_does_alone(part: str) -> None:
    """Two armatures joined with Ctrl+J have two roots, and each bone lies where another one lies."""
    alone = bones_of(figure())
    copied = [bone for bone in alone if bone[0].startswith(part) and (not part or bone[0].endswith(".L"))]
    names = [bone[0] for bone in copied]
    copy: Bones = [(f"{name}.001", f"{parent}.001" if parent in names else None, head, tail)
                   for name, parent, head, tail in copied]
    expected, found = weights(figure()), weights(with_bones(figure(), [*alone, *copy]))
    assert all(not found[f"{name}.001"].any() for name in names)
    assert all(np.allclose(found[name], own, atol=1e-9) for name, own in expected.items())


@pytest.mark.parametrize("names", [("Armature",), ("Reference", "Root"), ("world", "master")])
def test_roots_in_the_middle_of_the_body_move_no_skin(names: tuple[str, ...]) -> None:
    """A file whose origin is at the hips has its roots there."""
    own = bones_of(figure())
    hips = next(bone for bone in own if bone[1] is None)
    roots: Bones = [(name, names[k - 1] if k else None, hips[2], hips[2] + UP) for k, name in enumerate(names)]
    under = [(name, parent or names[-1], head, tail) for name, parent, head, tail in own]
    expected, found = weights(figure()), weights(with_bones(figure(), [*roots, *under]))
    assert not any(found[name].any() for name in names)
    assert all(np.allclose(found[name], own, atol=1e-9) for name, own in expected.items())


LIMBS = ("arm.L", "arm.R", "thigh.L", "thigh.R", "spine")


@pytest.mark.parametrize("under_root", [(), LIMBS, ("thigh.L", "thigh.R")])
@pytest.mark.parametrize("tail", few([None, UP, FORWARD]))
@pytest.mark.parametrize("names", [str, lambda name: f"b{sum(map(ord, name))}"])
def test_no_limb_that_hangs_from_the_ground_is_left_without_vertices(under_root: tuple[str, ...],
                                                                    tail: np.ndarray | None,
                                                                    names: Callable[[str], str]) -> None:
    body = with_root(figure(), under_root.__contains__, tail)
    renamed = with_bones(body, [(names(name), names(parent) if parent else None, head, end)
                                for name, parent, head, end in bones_of(body)])
    assert idle(renamed) in ([names("root")], [])


def test_a_word_in_the_middle_of_a_limb_and_at_its_only_end_does_not_empty_it() -> None:
    points, faces = tube((0, 0, 0), (0, 0, 4), 0.3, 24)
    heads = np.array([(0, 0, z) for z in range(4)], float)
    body = BindInput.from_arrays(points, faces, ["leg", "leg_end", "foot", "hoofIK"], [-1, 0, 1, 2], heads,
                                 heads + 10.0 * UP)
    assert idle(body) == []
    marker = BindInput.from_arrays(points, faces, ["leg", "shin", "foot", "foot_end"], [-1, 0, 1, 2], heads,
                                   heads + 10.0 * UP)
    assert idle(marker) == ["foot_end"]


def test_controls_get_no_skin_and_partners_share_their_role() -> None:
    body = with_root(figure())
    controls = [(f"{what}.{side}", "root", np.array((sign * x, y, z)), np.array((sign * x, y - 0.1, z)))
                for what, x, y, z in (("handIK", 0.5, 0.02, 1.5), ("kneePole", 0.13, -0.5, 0.5))
                for side, sign in (("L", 1), ("R", -1))]
    assert set(idle(with_bones(body, [*bones_of(body), *controls]))) == {"root", *(bone[0] for bone in controls)}


def test_a_limb_that_doubles_others_from_the_ground_is_a_control_s() -> None:
    body = with_root(figure())
    doubles = [(f"copy of {name}", "root" if name.startswith("arm") else f"copy of {parent}", head, tail)
               for name, parent, head, tail in bones_of(figure()) if name[:3] in ("arm", "han")]
    assert set(idle(with_bones(body, [*bones_of(body), *doubles]))) == {"root", *(bone[0] for bone in doubles)}


def test_roots_of_joints_leave_the_skin_to_these() -> None:
    bones = []
    for name, parent, head, tail in bones_of(figure()):
        bones += [(f"{name} root", parent, head, head + UP), (name, f"{name} root", head, tail)]
    found = weights(with_bones(figure(), bones))
    for name, expected in weights(figure()).items():
        np.testing.assert_allclose(found[name], expected, atol=1e-9)


def test_where_all_bones_are_controls_all_move_skin() -> None:
    body = figure()
    assert not idle(with_bones(body, [(f"ctrl_{name}", f"ctrl_{parent}" if parent else None, head, tail)
                                      for name, parent, head, tail in bones_of(body)]))


@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_partners_without_names_are_found_in_any_direction(angle: float) -> None:
    body = moved(figure(), turn((1, 2, 3), angle))
    numbers = [str(k) for k in range(len(body.bone_names))]
    groups = partner_groups(numbers, np.zeros(len(numbers), dtype=np.int64), body.bone_parents, body.heads,
                            float(np.linalg.norm(np.ptp(body.heads, axis=0))))
    pairs = {frozenset(body.bone_names[k][:-2] for k in group) for group in groups}
    assert pairs == {frozenset({name}) for name in ("arm", "hand", "thigh", "shin")} and len(groups) == 4


def test_claims_of_names() -> None:
    names = ["DEF-thigh.L.001", "c_thigh_skin", "thigh", "ORG-thigh", "VIS_thigh", "thigh_ik_target", "ThighJnt"]
    assert claims(names).tolist() == [DEFORM, DEFORM, UNMARKED, ORIGINAL, MECHANISM, MECHANISM, DEFORM]


def test_one_pair_of_which_one_bone_lies_beside_the_mesh_keeps_both() -> None:
    points, faces, part = joined(tube((0.3, 0, 0), (0.3, 0, 2), 0.1), tube((-0.3, 0, 0), (-0.3, 0, 2), 0.1))
    heads, tails = np.array([[0, 0, -1], [0.3, 0, 0], [-0.3, 0, 0]]), np.array([[0, 0, 0], [0.3, 0, 2], [-0.3, 5, 0]])
    body = BindInput.from_arrays(points, faces, ["root", "leg.L", "leg.R"], [-1, 0, 0], heads, tails, part)
    assert not {"leg.L", "leg.R"} & set(idle(body))
