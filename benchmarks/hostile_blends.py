"""Damaged .blend files, read as the extension reads them: in a second Blender, which they may end."""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np

import takt
from takt.bridge.files import second_blender
from takt.core.formats.format import Source
from takt.samples.film import quiet
from takt.tests.core import hostile

_CHANGES = (1, 8, 64, 4)
"""Bytes that are changed in one file: in what the blocks hold, and at last anywhere, mostly in what tells how to read
these."""
_HEADER = 20
"""Bytes at the beginning without which nothing is a .blend."""


def damaged(count: int) -> Iterator[hostile.Case]:
    """Damage a .blend with a clip, and one that is compressed, so often: cut them, change some bytes."""
    takt.register()
    random = np.random.default_rng((hostile.SEED, 13))
    with tempfile.TemporaryDirectory() as folder:
        whole = [_saved(Path(folder) / name, compress=compress) for name, compress in (("a", False), ("b", True))]
        for number in range(count):
            data, way = whole[number % 10 == 0], number % 5
            if way == 0:
                data = data[:int(random.integers(_HEADER, len(data)))]
            else:
                values = np.frombuffer(data, dtype=np.uint8).copy()
                end = len(data) if way == len(_CHANGES) else data.index(b"DNA1")
                at = random.integers(_HEADER, end, _CHANGES[way - 1])
                values[at] = random.integers(0, 256, len(at))
                data = values.tobytes()
            yield partial(read, data, Path(folder) / "damaged.blend")
    takt.unregister()


def read(data: bytes, path: Path) -> object:
    """Read the clips of a .blend."""
    path.write_bytes(data)
    found = second_blender.read(Source(data, path))
    if found is None:
        raise RuntimeError("no second Blender can be started")
    return found


def _saved(path: Path, *, compress: bool) -> bytes:
    operators: Any = bpy.ops
    operators.wm.read_factory_settings(use_empty=True)
    operators.object.armature_add()
    rig: Any = bpy.context.object
    for frame in (1, 12, 24):
        rig.pose.bones[0].rotation_quaternion = (1.0, 0.1 * frame, 0.0, 0.0)
        rig.pose.bones[0].keyframe_insert("rotation_quaternion", frame=frame)
    with quiet():
        operators.wm.save_as_mainfile(filepath=str(path.with_suffix(".blend")), copy=True, compress=compress)
    data = path.with_suffix(".blend").read_bytes()
    read(data, path.with_name("whole.blend"))
    return data
