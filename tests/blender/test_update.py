"""A newer version is installed over an older one while characters are previewed."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from takt import dev

SCRIPT = Path(__file__).with_name("update_over.py")


def other(archive: Path, to: Path, *changes: tuple[str, bytes, bytes]) -> Path:
    """Copy a zip with other bytes in some files."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(to, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            for name, before, after in changes:
                if entry.filename == name:
                    assert before in data
                    data = data.replace(before, after)
            new.writestr(entry.filename, data)
    return to


def test_update_while_a_character_is_previewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "BUILD", dev.ROOT / "build" / "update")
    assert dev.build_zip(Path(sys.executable)) == 0
    older = dev.zip_path()
    version = f'version = "{dev.version()}"'.encode()
    newer = other(older, tmp_path / "newer.zip", ("blender_manifest.toml", version, b'version = "99.0.0"'))
    left_on = other(older, tmp_path / "left_on.zip", ("preview/choice_properties.py", b"    life.stop()\n", b""))
    for first, wrong in ((older, ""), (left_on, "handlers are left")):  # the second shows that what is left is found
        users = tmp_path / first.stem
        users.mkdir()
        run = subprocess.run([sys.executable, SCRIPT, first, newer], capture_output=True, text=True, check=False,
                             env=os.environ | {"BLENDER_USER_RESOURCES": str(users)})
        said = run.stdout + run.stderr
        assert run.returncode == (1 if wrong else 0) and wrong in said, said
        assert ("Traceback" in said) == bool(wrong), said
        installed = users / "extensions" / "user_default" / "takt" / "blender_manifest.toml"
        assert 'version = "99.0.0"' in installed.read_text(encoding="utf-8")
