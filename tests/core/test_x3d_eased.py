"""X3D: nodes between clocks and interpolators, those that are played and those that are named."""

from pathlib import Path

import numpy as np
import pytest

from takt.core.clips.clip_file import ClipFile
from takt.core.formats import x3d
from takt.core.formats.format import Source
from takt.tests.core.x3d_files import Made, Route, clock, humanoid, in_classic, in_xml, joint, moving

BODY = humanoid(joint("humanoid_root", (0, 1, 0), joint("l_hip", (0.1, 0.9, 0))))
NODES = [BODY, clock("Walk", 2.0), moving("Go", (0, 1), [(0, 0, 0), (1, 0, 0)])]


def routes_over(*names: str, sent: str = "value_changed") -> list[Route]:
    """Return routes from the clock over some nodes to the root's translation."""
    chain = ["Walk", *names, "Go"]
    fields = ["fraction_changed", *[sent] * len(names)]
    return [*((a, field, b, "set_fraction") for a, b, field in zip(chain, chain[1:], fields, strict=False)),
            ("Go", "value_changed", "h_humanoid_root", "set_translation")]


def softly(weight: float, leaving: float, coming: float) -> float:
    """Return what X_ITE and FreeWRL make of a share between two keys of an EaseInEaseOut."""
    total = leaving + coming
    if total < 0.0:
        return weight
    if total > 1.0:
        leaving, coming = leaving / total, coming / total
    steep = 1.0 / (2.0 - leaving - coming)
    if weight < leaving:
        return steep / leaving * weight * weight
    if weight <= 1.0 - coming:
        return steep * (2.0 * weight - leaving)
    return 1.0 - steep * (1.0 - weight) ** 2 / coming


@pytest.mark.parametrize("pairs", ["0 0.3 0.5 0", "0 0 0 0", "0 0.9 0.6 0", "0 1 0 0", "0 0 1 0", "0 -1 0.2 0", ""])
def test_ease_in_ease_out_eases_motion(pairs: str) -> None:
    ease = Made("EaseInEaseOut", "Ease", {"key": "0 1", "easeInEaseOut": pairs})
    file = x3d.read(in_xml([*NODES, ease], routes_over("Ease", sent="modifiedFraction_changed")))
    (clip,) = file.clips
    assert file.warnings == ()
    _, leaving, coming, _ = map(float, pairs.split()) if pairs else (0.0,) * 4
    times = np.linspace(0.0, 2.0, 201)
    wanted = [softly(time / 2.0, leaving, coming) for time in times.tolist()]
    np.testing.assert_allclose(clip.sample(times).translations[:, 0, 0], wanted, atol=7e-5)


def test_each_part_of_an_ease_in_ease_out_goes_from_0_to_1() -> None:
    ease = Made("EaseInEaseOut", "Ease", {"key": "0 0.25 1", "easeInEaseOut": "0 0.5 0.5 0.2 0.8 0"})
    (clip,) = x3d.read(in_xml([*NODES, ease], routes_over("Ease", sent="modifiedFraction_changed"))).clips
    times = np.array((0.1, 0.4, 0.6, 1.0, 1.9))
    wanted = [softly(0.2, 0.5, 0.5), softly(0.8, 0.5, 0.5), *(softly(share, 0.2, 0.8) for share in (
        0.05 / 0.75, 0.25 / 0.75, 0.7 / 0.75))]
    np.testing.assert_allclose(clip.sample(times).translations[:, 0, 0], wanted, atol=7e-5)


@pytest.mark.parametrize("node", [Made("ScalarChaser", "Lag"), Made("SplineScalarInterpolator", "Lag")])
def test_motion_by_way_of_nodes_that_are_not_played_is_named(node: Made) -> None:
    file = x3d.read(in_xml([*NODES, node], routes_over("Lag")))
    assert_said(file, f"{node.kind} 'Lag', which is not played")


def test_one_ease_behind_another_is_named() -> None:
    eases = [Made("ScalarInterpolator", name, {"key": "0 1", "keyValue": "0 1"}) for name in ("One", "Two")]
    assert_said(x3d.read(in_xml([*NODES, *eases], routes_over("One", "Two"))), "ScalarInterpolator 'Two'")


def test_a_script_between_clock_and_motion_is_named_in_each_encoding() -> None:
    for file in (x3d.read(in_xml(NODES, routes_over("Mind"), "<Script DEF='Mind'/>")),
                 x3d.read_classic(in_classic(NODES, routes_over("Mind"), "DEF Mind Script { }"))):
        assert_said(file, "Script 'Mind'")


def test_characters_say_what_motion_is_not_played() -> None:
    read = x3d.FORMAT.read_characters
    assert read is not None
    lag = Made("PositionDamper", "Lag")
    routes = [*routes_over()[:1], ("Go", "value_changed", "Lag", "set_destination"),
              ("Lag", "value_changed", "h_humanoid_root", "set_translation")]
    file = read(Source(in_xml([*NODES, lag], routes), Path("a.x3d")))
    assert any("PositionDamper 'Lag'" in each for each in file.warnings)


def test_what_starts_a_clock_is_not_named() -> None:
    nodes = [*NODES, clock("Other", 1.0), Made("BooleanTrigger", "Start")]
    routes = [("Other", "isActive", "Start", "set_triggerTime"), ("Start", "triggerTrue", "Walk", "startTime")]
    file = x3d.read(in_xml(nodes, [*routes, *routes_over()]))
    assert len(file.clips) == 1 and file.warnings == ()


def test_routes_of_the_wrong_kind_are_said_with_the_node() -> None:
    file = x3d.read(in_xml(NODES, [("Go", "value_changed", "h_l_hip", "set_rotation"), *routes_over()]))
    assert any("takes no 'rotation' from PositionInterpolator 'Go'" in each for each in file.warnings)


def assert_said(file: ClipFile, words: str) -> None:
    assert not file.clips
    (said,) = (each for each in file.warnings if "motion" in each)
    assert "left out: motion that joints get by way of" in said and words in said
