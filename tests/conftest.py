"""What tests inside Blender share. Without Blender's module only core's tests are collected."""

import importlib.util
from collections.abc import Iterator

import pytest

import takt

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
