"""The extension's zip, made by Blender's own tool: what git tracks of the extension, its manual, and nothing else."""

import posixpath
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from takt import dev, release
from takt.tests.beside import missing


def test_the_zip_holds_nothing_that_git_does_not_track(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (dev.ROOT / ".git").exists():
        missing("this is no checkout of git")
    root = tmp_path / "checkout"
    subprocess.run(["git", "clone", "--quiet", "--local", str(dev.ROOT), str(root)], check=True)
    for name in ("OgreXMLConverter.log", "core/notes.txt", "samples/library/new.pha"):
        (root / name).write_text("lies about")
    monkeypatch.setattr(dev, "ROOT", root)
    monkeypatch.setattr(dev, "BUILD", root / "build")
    assert dev.build_zip(Path(sys.executable)) == 0
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
    with zipfile.ZipFile(dev.zip_path()) as archive:
        packed = {name for name in archive.namelist() if not name.endswith("/")}
        pages = {name: archive.read(name).decode() for name in packed if name.endswith(".html")}
    tracked = set(listed.stdout.split("\0"))
    assert {name.replace(".html", ".md") for name in pages} == {
        name for name in tracked if name.startswith("docs/") and name.endswith(".md")} | {
        f"docs/{name}.md" for name in ("index", "contributing", "changelog", "gallery")}
    assert packed <= tracked | set(pages) | {"docs/search-index.js"}
    assert list(release.problems_of_zip(dev.zip_path())) == []
    for name, page in pages.items():
        for link in re.findall(r'<(?:a|img|link|script) (?:[^>]*? )?(?:href|src)="([^"#]+)', page):
            if not link.startswith("https:"):
                assert posixpath.normpath(posixpath.join("docs", link)) in packed, f"{name} leads to {link}"
    assert {"__init__.py", "blender_manifest.toml", "core/errors.py", "samples/library/dance.pha"} <= packed
    assert not any(name.startswith(("tests/", "benchmarks/", "dev.py", "release.py", ".ci/")) for name in packed)
