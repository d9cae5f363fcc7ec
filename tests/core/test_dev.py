"""The tools: what they pack, and what they run."""

import subprocess
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import pytest

from takt import dev


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def checkout_(tmp_path: Path) -> Path:
    """Three files that git tracks, one of them edited and one deleted since, and what else may lie about."""
    root = tmp_path / "root"
    (root / "core" / "mäps").mkdir(parents=True)
    for name in ("__init__.py", "core/mäps/a b.py", "gone.py"):
        (root / name).write_text("first")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    (root / "core/mäps/a b.py").write_text("edited")
    (root / "gone.py").unlink()
    for name in ("OgreXMLConverter.log", "core/notes.txt", "core/mäps/new.py"):
        (root / name).write_text("lies about")
    return root


def test_only_what_git_tracks_is_packed(checkout_: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "of_before.py").write_text("")
    out = dev.copy_tracked(checkout_, tmp_path / "out")
    assert files(out) == {"__init__.py", "core/mäps/a b.py"}
    assert (out / "core/mäps/a b.py").read_text() == "edited"


def test_a_tree_that_is_no_checkout_is_taken_as_it_is(tmp_path: Path) -> None:
    assert dev.copy_tracked(tmp_path, tmp_path / "out") == tmp_path


def test_a_broken_checkout_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere")
    with pytest.raises(dev.SetupError, match="git does not list the files of"):
        dev.copy_tracked(tmp_path, tmp_path / "out")


@pytest.mark.parametrize(("rest", "paths"), [
    ([], [dev.ROOT / "tests" / "core"]), (["-k", "name"], [dev.ROOT / "tests" / "core"]), ([__file__], []),
    ([f"{__file__}::test_only_what_git_tracks_is_packed", "-x"], [])])
def test_quick_runs_all_of_core_unless_files_are_named(monkeypatch: pytest.MonkeyPatch, rest: list[str],
                                                       paths: list[Path]) -> None:
    commands: list[list[object]] = []

    def run(command: list[object], *_: object) -> int:
        commands.append(command)
        return 0

    monkeypatch.setattr(dev, "environment", lambda *_: Path("python"))
    monkeypatch.setattr(dev, "run", run)
    assert dev.quick(rest) == 0
    assert [each for each in commands[0] if isinstance(each, Path)][1:] == paths
    assert commands[0][len(commands[0]) - len(rest):] == rest


@pytest.mark.parametrize(("wrong", "failing", "code", "runs"), [
    ([], 0, 0, True), ([], 1, 1, True), (["no tag"], 0, 1, False)], ids=["ready", "a seed fails", "something else"])
def test_a_release_is_tested_with_all_seeds_once_nothing_else_is_wrong(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], wrong: list[str], failing: int, code: int,
        runs: bool) -> None:
    calls: list[tuple[list[str], object]] = []

    def run(command: list[object], settings: dict[str, str] | None = None, *_: object) -> int:
        calls.append(([str(each) for each in command], (settings or {}).get("TAKT_ALL_SEEDS")))
        return failing

    rules: ModuleType = vars(dev)["rules"]
    for name in ("problems_of_text", "problems_of_zip"):
        monkeypatch.setattr(rules, name, lambda *_: [])
    monkeypatch.setattr(rules, "problems_of_git", lambda *_: wrong)
    monkeypatch.setattr(rules, "problems_of_command", lambda *_: [])
    monkeypatch.setattr(dev, "built_wheel", lambda: (dev.ROOT / "takt.whl", ""))
    monkeypatch.setattr(dev, "build_zip", lambda _: 0)
    for name in ("ogre_python", "usd_python"):
        monkeypatch.setattr(dev, name, dict)
    monkeypatch.setattr(dev, "fresh_user_folder", lambda _: {})
    monkeypatch.setattr(dev, "blender_python", lambda *_: Path("python"))
    monkeypatch.setattr(dev, "run", run)
    assert dev.release(Namespace()) == code
    assert [seeds for command, seeds in calls if "slow" in command] == ["1"] * runs
    assert ("with all seeds" in capsys.readouterr().out.partition("no release")[2]) == bool(runs and failing)
