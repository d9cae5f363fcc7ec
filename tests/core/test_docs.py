"""The documents keep their word: every example plays, every command works, every choice is listed."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from takt.cli import main
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.playing.score import Settings, play
from takt.core.playing.transitions.curves import CURVES
from takt.core.playing.transitions.methods import METHODS

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples" / "library"
LANGUAGE = (ROOT / "docs" / "pha.md").read_text(encoding="utf-8")
COMMAND = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
SCORES = re.findall(r"```xml\n(.*?)```", LANGUAGE, re.DOTALL)
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", COMMAND, re.DOTALL) for line in block.splitlines()]
UP = np.array((0.0, 1.0, 0.0))


@pytest.mark.parametrize("text", SCORES)
def test_examples_play(text: str) -> None:
    document = parse(text)
    assert document.problems == ()
    motion = play(resolve(document, Library([SAMPLES])), turn=rot.IDENTITY, up=UP)
    assert motion.duration_s > 0.0


def test_lengths_that_are_told_are_right() -> None:
    lengths = [play(resolve(parse(text), Library([SAMPLES])), turn=rot.IDENTITY, up=UP).duration_s
               for text in SCORES[:2]]
    assert lengths == pytest.approx([1.6, 4.0])


@pytest.mark.parametrize(("entries", "default"), [(METHODS, Settings().method), (CURVES, Settings().curve)])
def test_all_choices_are_listed_the_default_in_bold(entries: dict[str, object], default: str) -> None:
    listed = re.findall(r"^\| (\**)`([A-Z_]+)`\** \|", LANGUAGE, re.MULTILINE)
    assert {name for _, name in listed} >= set(entries)
    assert [name for bold, name in listed if bold and name in entries] == [default]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_work(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, *arguments = shlex.split(line)
    assert name == "takt"
    if arguments[0] == "plot":
        pytest.importorskip("matplotlib", reason="plots are an extra")
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
