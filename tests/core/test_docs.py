"""The documents keep their word: every example plays, every command works, every choice is listed."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from takt.cli import main
from takt.core.clips.excerpt import mirrored
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.playing.transitions.curves import CURVES
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.skeletons.body_parts import BodyMasks
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.mirror import Mirror
from takt.docs import reference
from takt.tests.beside import need_plots

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples" / "library"
LANGUAGE = "".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
                   for page in ("pha", "scene", "transitions"))
COMMAND = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
SCORES = re.findall(r"```xml\n(.*?)```", LANGUAGE, re.DOTALL)
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", COMMAND, re.DOTALL) for line in block.splitlines()]
UP = np.array((0.0, 1.0, 0.0))
SAME_RAD = 1e-9


AUTO, END = float("nan"), 0.0
"""What stands for a transition's length: found automatically; none, since the score ends there."""
LEFT, RIGHT, QUARTER = "feet.Steps.left_step", "feet.Steps.right_step", "feet.Steps.quarter_left"
SWAY, CLAP, BOW = "dance.Moves.sway", "gestures.Greetings.clap", "gestures.Greetings.bow"
MEANT = (
    [(LEFT, 0.8, AUTO), (RIGHT, 0.8, END)],
    [*[(LEFT, 0.5, AUTO), (RIGHT, 0.5, AUTO)] * 3, (LEFT, 0.25, AUTO), (RIGHT, 0.25, AUTO), (LEFT, 0.25, AUTO),
     (RIGHT, 0.25, END)],
    [(QUARTER, 1.0, AUTO), (QUARTER, 1.0, AUTO), (BOW, 2.0, END)],
    [(SWAY, 2.0, 0.0), (SWAY, 2.0, 0.75), (CLAP, 2.0, AUTO), (BOW, 2.0, END)],
    [*[(LEFT, 0.5, AUTO)] * 8, (BOW, 2.0, END)],
    [("together", 2.0, AUTO), (BOW, 2.0, END)],
    [*[(LEFT, 0.8, AUTO), (RIGHT, 0.8, AUTO)] * 5, (LEFT, 1.0, AUTO), *[(LEFT, 0.8, AUTO), (RIGHT, 0.8, AUTO)] * 4,
     (LEFT, 0.8, AUTO), (RIGHT, 0.8, END)],
    [("together", 4.0, END)],
    [("together", 9.0, END)],
)
"""What each example of the language plays: clips, their seconds, and those of the transition after each."""


@pytest.mark.parametrize(("text", "meant"), list(zip(SCORES, MEANT, strict=True)))
def test_examples_play_what_the_text_says(text: str, meant: list[tuple[str, float, float]]) -> None:
    document = parse(text)
    assert document.problems == ()
    motion = play(resolve(document, Library([SAMPLES])), Performer(None, UP))
    played, clips, lengths, transitions = motion.sequence, *zip(*meant, strict=True)
    assert tuple(played.clips[clip] for clip in played.clip) == clips
    np.testing.assert_allclose(played.length_s, lengths)
    np.testing.assert_allclose(played.transition_s, transitions)
    np.testing.assert_allclose(played.start_s, np.cumsum((0.0, *lengths[:-1])))
    assert motion.duration_s == pytest.approx(sum(lengths))
    told = ~np.isnan(transitions)
    windows = motion.layout.window_end_s - motion.layout.window_begin_s
    np.testing.assert_allclose(windows[told], np.array(transitions)[told], atol=1e-12)


MOVES = (
    [(0.4, LEFT, 0.5), (1.2, RIGHT, 0.5)],
    [(0.25, LEFT, 0.5), (2.75, RIGHT, 0.5), (3.125, LEFT, 0.5), (3.875, RIGHT, 0.5)],
    [(0.5, QUARTER, 0.5), (1.5, QUARTER, 0.5), (3.0, BOW, 0.5)],
    [(1.0, SWAY, 0.5), (1.999, SWAY, 0.9995), (3.0, SWAY, 0.5), (5.0, CLAP, 0.5), (7.0, BOW, 0.5)],
    [(0.25, LEFT, 0.5), (0.75, LEFT, 0.5, "mirrored"), (2.25, LEFT, 0.5), (3.75, LEFT, 0.5, "mirrored"),
     (5.0, BOW, 0.5)],
    [(0.5, LEFT, 0.5, "lower"), (1.2, RIGHT, 0.2, "lower"), (1.0, CLAP, 0.5, "upper"), (3.0, BOW, 0.25)],
    [(0.4, LEFT, 0.5), (8.5, LEFT, 0.5), (16.6, RIGHT, 0.5)],
    [(2.0, "gestures.Greetings.hello", 0.5)],
    [(4.5, "gestures.Greetings.hello", 0.5)],
)
"""What each example shows at an instant between transitions: a clip, the share of it, what part of the body has it."""


@pytest.mark.parametrize(("text", "moves"), list(zip(SCORES, MOVES, strict=True)))
def test_examples_move_as_the_text_says(text: str, moves: list[tuple[float, str, float, str]]) -> None:
    """Every joint but those that carry the body is turned as in the clip."""
    library = Library([SAMPLES])
    motion = play(resolve(parse(text), library), Performer(None, UP), settings=Settings(lock_feet=False))
    body = find_map(motion.skeleton)
    for time_s, name, share, *how in moves:
        src, _, own = name.rpartition(".")
        clip = next(each for each in library.clips(src)[0] if each.name == own)
        clip = mirrored(clip, Mirror.of(body)) if "mirrored" in how else clip
        mask = BodyMasks({}, body).of(next((part for part in how if part != "mirrored"), "whole"), 0.0)
        joints = np.flatnonzero((mask == 1.0) & clip.moved & (np.arange(len(mask)) != body.joint_of["HumanoidRoot"]))
        assert len(joints) > 3
        found = motion.sample(np.array((time_s,))).rotations[0, joints]
        wanted = clip.sample(np.array((share * clip.duration_s,)), "SLERP").rotations[0, joints]
        assert rot.angle_between(found, wanted).max() < SAME_RAD, (name, time_s)


def test_scores_of_the_tutorials_play() -> None:
    tutorials = (ROOT / "docs" / "tutorials.md").read_text(encoding="utf-8")
    scores = re.findall(r"```xml\n(.*?)```", tutorials, re.DOTALL)
    assert len(scores) == tutorials.count("<pha ") > 0
    for text in scores:
        document = parse(text)
        assert document.problems == ()
        assert play(resolve(document, Library([SAMPLES])), Performer(None, UP)).duration_s > 1.0


def test_the_reference_is_made_from_the_grammar() -> None:
    assert (ROOT / "docs" / "pha-reference.md").read_text(encoding="utf-8") == reference.page()


def test_mirrored_steps_walk_on_both_feet() -> None:
    motion = play(resolve(parse(SCORES[4]), Library([SAMPLES])), Performer(None, UP))
    pose, names = motion.sample(np.array((0.25, 0.75))), motion.skeleton.names
    left, right = (pose.rotations[:, names.index(f"{side}_hip")] for side in "lr")
    turns = rot.angle_between(rot.identities(2), left), rot.angle_between(rot.identities(2), right)
    np.testing.assert_allclose(turns[0], turns[1][::-1], atol=0.05)
    assert abs(turns[0][0] - turns[1][0]) > 0.1


def test_lengths_that_the_text_tells_are_those() -> None:
    assert "each for one **tick** of 0.8 seconds: 1.6 seconds." in LANGUAGE
    assert "Six steps of half a second, then four of a quarter: 4 seconds." in LANGUAGE
    assert [sum(length for _, length, _ in meant) for meant in MEANT[:2]] == pytest.approx([1.6, 4.0])


@pytest.mark.parametrize(("entries", "default"), [(TRANSITION_METHODS, Settings().method), (CURVES, Settings().curve)])
def test_all_choices_are_listed_the_default_in_bold(entries: dict[str, object], default: str) -> None:
    listed = re.findall(r"^\| (\**)`([A-Z_]+)`\** \|", LANGUAGE, re.MULTILINE)
    assert {name for _, name in listed} >= set(entries)
    assert [name for bold, name in listed if bold and name in entries] == [default]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_work(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, *arguments = shlex.split(line)
    assert name == "takt"
    if arguments[0] == "plot":
        need_plots()
    shutil.copytree(SAMPLES, tmp_path / "library")
    monkeypatch.chdir(tmp_path / "library")
    assert main(arguments) == 0


def test_the_mistake_that_is_shown_is_what_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    shown = re.findall(r"```text\n(.*?)```", LANGUAGE, re.DOTALL)[0]
    monkeypatch.chdir(tmp_path)
    Path("walk.pha").write_text(SCORES[0].replace('name="left_step"', 'name="lefd_step"'))
    assert main(["check", "--library", str(SAMPLES), "walk.pha"]) == 1
    assert capsys.readouterr().out == shown
