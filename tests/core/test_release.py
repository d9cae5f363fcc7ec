"""What keeps a tree from being a release is found, each by itself."""

import subprocess
import zipfile
from pathlib import Path

import pytest

from takt import release

MANIFEST = """
id = "takt"
version = "1.2.3"
name = "Takt"
tagline = "Makes characters dance"
tags = ["Animation"]
license = ["SPDX:GPL-3.0-or-later"]
[permissions]
files = "Read scores"
"""
CHANGES = "# Changes\n\n## 1.2.3, 2026-12-24\n### Added\n- A dance.\n\n## 1.2.2, 2026-01-01\n- Another.\n"
CODE = {"__init__.py": "def register():\n    open('score')\n", "LICENSE": "GNU GENERAL PUBLIC LICENSE"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "blender_manifest.toml").write_text(MANIFEST)
    (tmp_path / "CHANGELOG.md").write_text(CHANGES)
    (tmp_path / "LICENSE").write_text("GNU GENERAL PUBLIC LICENSE\nVersion 3")
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def git(folder: Path, *arguments: str) -> None:
    named = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    subprocess.run(["git", *named, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_release_has_no_problem(tree: Path) -> None:
    assert list(release.problems_of_text(tree)) == []


@pytest.mark.parametrize(("file", "old", "new", "says"), [
    ("blender_manifest.toml", '"1.2.3"', '"1.2"', "version is '1.2'; write MAJOR.MINOR.PATCH"),
    ("blender_manifest.toml", "GPL-3.0-or-later", "MIT", "extensions.blender.org wants"),
    ("blender_manifest.toml", 'name = "Takt"', 'name = "Takt for Blender"', "leave the word Blender out"),
    ("blender_manifest.toml", '["Animation"]', "[]", "name at least one tag"),
    ("blender_manifest.toml", "Read scores", "Reads scores.", "files is 'Reads scores.'; write 1 to 64 characters"),
    ("blender_manifest.toml", "Read scores", "x" * 65, "write 1 to 64 characters"),
    ("blender_manifest.toml", "Makes characters dance", "", "tagline is ''"),
    ("LICENSE", "GNU GENERAL PUBLIC LICENSE", "All rights reserved", "put the text of the GNU General Public License"),
    ("CHANGELOG.md", "## 1.2.3,", "## 1.3.0,", "newest heading is 1.3.0, the manifest's version 1.2.3"),
    ("CHANGELOG.md", "2026-12-24", "not yet released", "1.2.3 says 'not yet released'; write its date"),
    ("CHANGELOG.md", "- A dance.\n", "", "say below 1.2.3 what has changed"),
    ("CHANGELOG.md", "## ", "### ", "begin with a heading '## 1.2.3, YEAR-MONTH-DAY'")])
def test_what_is_wrong_in_manifest_and_changelog_is_told(tree: Path, file: str, old: str, new: str, says: str) -> None:
    change(tree / file, old, new)
    assert any(says in problem for problem in release.problems_of_text(tree)), list(release.problems_of_text(tree))


def test_the_tag_is_this_commit_and_nothing_is_changed(tree: Path) -> None:
    assert list(release.problems_of_git(tree, "1.2.3")) == [
        "this is no checkout of git, so no tag says which version it is"]
    git(tree, "init", "--quiet")
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "-m", "first")
    assert ["there is no tag v1.2.3" in each for each in release.problems_of_git(tree, "1.2.3")] == [True]
    git(tree, "tag", "-a", "v1.2.3", "-m", "Takt 1.2.3")
    assert list(release.problems_of_git(tree, "1.2.3")) == []
    (tree / "LICENSE").write_text("changed")
    assert list(release.problems_of_git(tree, "1.2.3")) == ["git: commit or remove what is changed: LICENSE"]
    git(tree, "commit", "--quiet", "-am", "second")
    assert ["v1.2.3 is another commit" in each for each in release.problems_of_git(tree, "1.2.3")] == [True]


def packed(folder: Path, files: dict[str, str | bytes], manifest: str = MANIFEST) -> Path:
    archive = folder / "takt.zip"
    with zipfile.ZipFile(archive, "w") as written:
        for name, data in {**CODE, "blender_manifest.toml": manifest, **files}.items():
            if data:
                written.writestr(name, data)
    return archive


def test_a_zip_as_the_platform_wants_it_has_no_problem(tmp_path: Path) -> None:
    assert list(release.problems_of_zip(packed(tmp_path, {}))) == []


@pytest.mark.parametrize(("files", "says"), [
    ({"core/fast.so": "x"}, "leave core/fast.so out; what cannot be read cannot be reviewed"),
    ({"core/data": b"\x7fELF\x02\x01"}, "leave core/data out"), ({"wheels/a.whl": "x"}, "leave wheels/a.whl out"),
    ({"core/__pycache__/a.txt": "x"}, "it is of the checkout alone"), ({".gitignore": "x"}, "leave .gitignore out"),
    ({"LICENSE": ""}, "LICENSE is missing"),
    ({"a.py": "import sys\nsys.path.append('x')"}, "a.py, line 2: leave sys.path alone"),
    ({"__init__.py": "bl_info = {}\nopen('x')"}, "__init__.py, line 1: leave bl_info out"),
    ({"a.py": "def f():\n    import urllib.request"}, "a.py, line 2 uses network; declare the permission"),
    ({"a.py": "from http import client"}, "a.py, line 1 uses network"),
    ({"a.py": "def f(window_manager):\n    window_manager.clipboard = ''"}, "a.py, line 2 uses clipboard"),
    ({"__init__.py": "x = 1"}, "nothing uses files; take the permission out")])
def test_what_the_platform_refuses_is_told(tmp_path: Path, files: dict[str, str | bytes], says: str) -> None:
    found = list(release.problems_of_zip(packed(tmp_path, files)))
    assert len(found) == 1 and says in found[0], found


def test_undeclared_files_and_a_heavy_zip_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = MANIFEST.partition("[permissions]")[0]
    found = list(release.problems_of_zip(packed(tmp_path, {}, bare)))
    assert found == ["blender_manifest.toml: __init__.py, line 2 uses files; declare the permission, with its reason"]
    monkeypatch.setattr(release, "MAX_ZIP_MIB", 0)
    assert any("at most 0 are wanted" in each for each in release.problems_of_zip(packed(tmp_path, {})))


def test_reading_an_address_needs_no_network(tmp_path: Path) -> None:
    assert list(release.problems_of_zip(packed(tmp_path, {"a.py": "from urllib.parse import urlsplit"}))) == []


def test_the_command_says_the_same_version() -> None:
    assert list(release.problems_of_command("takt 1.2.3\n", "1.2.3")) == []
    assert list(release.problems_of_command("takt 1.2.2\n", "1.2.3")) == [
        "the wheel: takt --version says 'takt 1.2.2', expected 'takt 1.2.3'"]


@pytest.mark.slow
def test_our_own_manifest_declares_what_our_code_uses() -> None:
    root = Path(release.__file__).parent
    code = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for room in (
        "bridge", "core", "operators", "panels", "preview") for path in (root / room).rglob("*.py")}
    assert list(release._problems_of_code(code, release.manifest_of(root))) == []
