"""What tests want that is no part of the project: real files, OGRE itself and its converter, matplotlib, Rigify,
X3D's own package, assimp, OpenUSD.

Where something of it is missing, the tests that want it are skipped; where CI is set they fail, since nobody would
notice. A machine that has no real files on purpose says so: TAKT_DATA=none.
"""

import importlib
import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any, NoReturn

import pytest

_GIVEN = os.environ.get("TAKT_DATA", "")
DATA = Path(_GIVEN or Path(__file__).resolve().parents[2] / "shared" / "data")
"""The folder of real files."""
NO_OGRE = os.environ.get("TAKT_OGRE_PYTHON") == "none"
"""Whether this machine is known to have no Python that OGRE is made for; tests marked `ogre` are then not collected."""


def missing(reason: str) -> NoReturn:
    """Skip the test, or fail where CI is set."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def real_file(*path: str) -> Path:
    """Return the path of a real file, or of a folder of them, below the folder of data."""
    found = DATA.joinpath(*path)
    if _GIVEN == "none":
        pytest.skip("this machine has no real files on purpose (TAKT_DATA=none)")
    if not found.exists():
        missing(f"no real file at {found}; set TAKT_DATA to the folder of data, or to none")
    return found


def case_file(*path: str) -> Path:
    """Return the path of a file that shows one fault, below the folder of cases beside the folder of data.

    Where there is data but no such folder, the test is skipped on any machine: the cases are small, but no part of it.
    """
    if not (DATA.parent / "cases").is_dir():
        pytest.skip("no folder of cases beside the folder of data")
    return real_file("..", "cases", *path)


def ogre_python() -> str:
    """Return the Python that has OGRE."""
    return os.environ.get("TAKT_OGRE_PYTHON") or missing("TAKT_OGRE_PYTHON names no Python that has ogre-python")


def usd_python() -> str:
    """Return a Python that has usd-core; not the tests' own, since Blender's module has a USD of its own in it."""
    found = os.environ.get("TAKT_USD_PYTHON", "none")
    return found if found != "none" else missing("TAKT_USD_PYTHON names no Python that has usd-core")


def ogre_converter() -> str:
    """Return OGRE's own tool, which turns binary files into XML and back."""
    return shutil.which("OgreXMLConverter") or missing("OgreXMLConverter is not installed (Debian: ogre-1.12-tools)")


def assimp() -> str:
    """Return the command that reads and writes many formats."""
    return shutil.which("assimp") or missing("assimp is not installed (Debian: assimp-utils)")


def x3d_package() -> Any:
    """Return the Web3D Consortium's package, whose nodes refuse what the standard does not allow."""
    if importlib.util.find_spec("x3d") is None:
        missing("x3d is not installed")
    return importlib.import_module("x3d.x3d")


def need_plots() -> None:
    """Want matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        missing("matplotlib is not installed")


def need_markdown() -> None:
    """Want what makes pages of the docs."""
    if importlib.util.find_spec("markdown") is None:
        missing("markdown is not installed")
