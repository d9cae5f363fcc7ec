"""The joints of H-Anim and their names."""

import pytest

from takt.core.skeletons import hanim


def test_every_parent_stands_before_its_children_and_there_is_one_root() -> None:
    seen: set[str] = set()
    for joint, parent in hanim.PARENTS.items():
        assert parent is None or parent in seen
        seen.add(joint)
    assert [joint for joint, parent in hanim.PARENTS.items() if parent is None] == ["HumanoidRoot"]


def test_the_hierarchy_is_the_standards() -> None:
    def up(joint: str) -> list[str]:
        above = hanim.PARENTS[joint]
        return [joint, *(up(above) if above else [])]

    assert up("l_metatarsal") == ["l_metatarsal", "l_midtarsal", "l_subtalar", "l_ankle", "l_knee", "l_hip",
                                  "sacroiliac", "HumanoidRoot"]
    assert up("r_index3")[:6] == ["r_index3", "r_index2", "r_index1", "r_index0", "r_wrist", "r_elbow"]
    assert hanim.PARENTS["l_sternoclavicular"] == "vt1"
    assert (hanim.PARENTS["skullbase"], hanim.PARENTS["vc7"], hanim.PARENTS["vt12"], hanim.PARENTS["vl5"]) == (
        "vc1", "vt1", "vl1", "HumanoidRoot")
    # root, sacroiliac, 24 vertebrae, skullbase with 7 below it, and for each side leg 6, arm 5, thumb 3, fingers 16
    assert len(hanim.PARENTS) == 2 + 24 + 8 + 2 * (6 + 5 + 3 + 16)


@pytest.mark.parametrize(("name", "meant"), [
    ("l_hip", "l_hip"), ("HUMANOIDROOT", "HumanoidRoot"), ("humanoid_root", "HumanoidRoot"), ("v11", "vl1"),
    ("skull", "skullbase"), ("l_talocrural", "l_ankle"), ("r_radiocarpal", "r_wrist"),
    ("l_metatarsophalangeal_2", "l_metatarsal"), ("r_carpometacarpal_1", "r_thumb1"),
    ("r_carpal_interphalangeal_1", "r_thumb3"), ("l_carpometacarpal_5", "l_pinky0"),
    ("l_carpal_distal_interphalangeal_2", "l_index3"), ("v16", None), ("x_tail", None), ("", None),
])
def test_names_lead_to_the_joint(name: str, meant: str | None) -> None:
    assert hanim.canonical(name) == meant


def test_every_standard_name_means_itself_and_every_alias_a_standard_joint() -> None:
    assert all(hanim.canonical(name) == name for name in hanim.PARENTS)
    assert set(hanim.ALIASES.values()) <= set(hanim.PARENTS)


@pytest.mark.parametrize(("names", "prefix"), [
    (["hanim_HumanoidRoot", "hanim_l_hip", "hanim_x_tail"], "hanim_"),
    (["Jin:l_hip", "Jin:l_knee"], "Jin:"),
    (["a.b_l_hip", "a.b_r_hip"], "a.b_"),
    (["l_hip", "l_knee"], ""),
    (["hanim_l_hip", "tail"], ""),
    (["spine_01", "spine_02"], ""),
    ([], ""),
])
def test_a_prefix_common_to_all_is_found(names: list[str], prefix: str) -> None:
    assert hanim.common_prefix(names) == prefix


def test_of_two_joints_with_one_meaning_the_first_has_it() -> None:
    assert hanim.canonical_names(["skullbase", "skull", "l_hip"]) == ("skullbase", None, "l_hip")


def test_every_joint_has_plain_words_and_sides_are_said() -> None:
    words = {joint: hanim.in_plain_words(joint) for joint in hanim.PARENTS}
    assert all(text.startswith({"l": "left ", "r": "right "}[joint[0]]) == (joint[:2] in ("l_", "r_"))
               for joint, text in words.items() if joint[:2] in ("l_", "r_"))
    assert (words["l_hip"], words["HumanoidRoot"], words["r_eyeball_joint"], words["vc4"], words["l_thumb1"]) == (
        "left thigh", "hips", "right eye", "neck", "left thumb")
