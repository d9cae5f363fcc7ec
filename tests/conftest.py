"""What tests inside Blender share. Without Blender's module only core's tests are collected."""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

if "PYTEST_XDIST_WORKER" in os.environ and "BLENDER_USER_RESOURCES" in os.environ:
    # Processes side by side each have a user folder. Blender looks once, when its module is imported, so this is first.
    own_folder = Path(os.environ["BLENDER_USER_RESOURCES"]) / os.environ["PYTEST_XDIST_WORKER"]
    own_folder.mkdir(exist_ok=True)
    os.environ["BLENDER_USER_RESOURCES"] = str(own_folder)

import takt
from takt.tests.beside import NO_OGRE

if importlib.util.find_spec("bpy") is None:
    collect_ignore = ["blender", "gpu"]


@pytest.fixture
def extension() -> Iterator[None]:
    """Start from an empty file with the extension switched on, and switch it off again afterwards."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    takt.register()
    yield
    takt.unregister()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what wants OGRE itself where whoever started the tests has said that it cannot be had."""
    left_out = [item for item in items if NO_OGRE and item.get_closest_marker("ogre")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
