"""How far apart Takt and others have the same file, in one table: bench agreement.

Others are X_ITE and Blender for X3D, assimp for COLLADA, OpenUSD for USD, three-vrm for VRMA, and Takt itself for what
comes back. What is missing here is said so in its row. Exits with 1 where one is farther apart than it may be.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from takt.benchmarks import three_vrm_player, x_ite_player
from takt.benchmarks.timing import say
from takt.core.clips.clip_file import ClipFile
from takt.core.formats import FORMATS, collada, collada_character, usd, vrma_write, x3d
from takt.core.formats.format import Source
from takt.core.formats.x3d_write import X3dFile, write
from takt.core.maths import rotations as rot
from takt.tests.core import (
    collada_files,
    test_collada_assimp,
    test_three_vrm,
    test_usd_core,
    test_x3d_write,
    usd_oracle,
)
from takt.tests.core.test_characters import skinned


class Row(NamedTuple):
    """What is compared with whom, how far apart it is, and how far it may be."""

    what: str
    whom: str
    apart: float
    most: float
    unit: str


def x3d_and_back() -> Iterator[Row]:
    """Write a clip as X3D, and read it again."""
    clip = test_x3d_write.dance(1)
    for name in ("X3D", "X3D_CLASSIC"):
        entry = FORMATS[name]
        assert entry.write is not None and entry.read is not None
        data = entry.write(X3dFile(test_x3d_write.BODY, (clip,)), 30.0)
        (found,) = entry.read(Source(data, Path("a"))).clips
        yield Row(f"{entry.label}, keys there and back", "itself", float(
            rot.angle_between(found.rotations.values, clip.rotations.values).max()), 1e-6, "rad")


def x3d_in_x_ite() -> Iterator[Row]:
    """Play a character in X_ITE."""
    if x_ite_player.missing():
        raise LookupError(x_ite_player.missing())
    made = test_x3d_write.skin()
    for way in ("interpolators", "HAnimMotion"):
        data = write(X3dFile(test_x3d_write.BODY, (test_x3d_write.dance(9),), skin=made,
                             as_frames=way == "HAnimMotion"), 30.0)
        found = x_ite_player.played(data)
        if "error" in found:
            raise LookupError(found["error"])
        (clip,) = x3d.read(data).clips
        yield Row(f"X3D, {way}: joints at {x_ite_player.TIMES} times", f"X_ITE {found['version']}",
                  x_ite_player.farthest(clip, found["frames"]), 1e-4, "m")


def x3d_in_blender() -> Iterator[Row]:
    """Export the sample from Blender, and play it in X_ITE."""
    if x_ite_player.missing():
        raise LookupError(x_ite_player.missing())
    from takt.benchmarks import x_ite_skin  # which wants Blender

    for each in x_ite_skin.agreements():
        yield Row(f"X3D, {each.way}: the dancer's skin", f"Blender and X_ITE {each.version}", each.skin_m, 1e-3, "m")


def collada_in_assimp() -> Iterator[Row]:
    """Read bodies in COLLADA as assimp reads them."""
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("matrices", "channels"):
            worst = 0.0
            for up, meter in (("Y_UP", 1.0), ("Z_UP", 1.0), ("X_UP", 1.0), ("Z_UP", 0.0254)):
                data = test_collada_assimp.file_of(kind, up, meter, seed=3)
                ours, theirs = (test_collada_assimp.places(clip, test_collada_assimp.TIMES) for clip in (
                    collada.read(data).clips[0], test_collada_assimp.through_assimp(data, Path(folder))))
                height = float(np.ptp(np.concatenate(list(ours.values())), axis=0).max())
                factor = (np.linalg.norm(theirs["Leg"][0] - theirs["Hips"][0])
                          / np.linalg.norm(ours["Leg"][0] - ours["Hips"][0]))
                worst = max(worst, *(float(np.abs(theirs[name] / factor - ours[name]).max()) / height
                                     for name in collada_files.JOINTS))
            yield Row(f"COLLADA, {kind}: joints in 4 axes and units", "assimp", worst, 1e-4, "of the height")
        times, worst = np.array((0.0, 0.5, 1.0)), 0.0
        for up in ("Y_UP", "Z_UP", "X_UP"):
            data = collada_files.dressed(up=up, shift=(0.0, 0.0, 0.0))
            test_collada_assimp.through_assimp(data, Path(folder))
            theirs_skin = np.concatenate(test_collada_assimp.assimp_skins(Path(folder) / "a.glb", times))
            (character,) = collada_character.read(data).characters
            own = np.concatenate([np.stack([skinned(character, number, time) for time in times.tolist()], axis=1)
                                  for number in range(2)])
            worst = max(worst, float(np.abs(own[:, None] - theirs_skin[None]).max(axis=(2, 3)).min(axis=1).max()))
        yield Row("COLLADA, two skins in 3 axes: vertices", "assimp", worst, 1e-4, "m")


def usd_in_openusd() -> Iterator[Row]:
    """Read skeletons of USD as OpenUSD evaluates them."""
    python = os.environ.get("TAKT_USD_PYTHON", "")
    if python in ("", "none"):
        raise LookupError("TAKT_USD_PYTHON names no Python that has usd-core")
    with tempfile.TemporaryDirectory() as folder:
        told = test_usd_core.told(python, Path(folder))
        for ending in (".usda", ".usdc", ".usdz"):
            worst = 0.0
            for name in (name for name in usd_oracle.CASES if name.endswith(ending)):
                (clip,) = usd.read((Path(folder) / name).read_bytes(), Path(name)).clips
                worst = max(worst, test_usd_core.apart(clip, name, told[name]))
            yield Row(f"USD, {ending}: joints at {len(usd_oracle.TIMES)} times", "OpenUSD", worst, 1e-4, "m")


def vrma_in_three_vrm() -> Iterator[Row]:
    """Play the motion of avatars, written as VRMA, in three-vrm on them."""
    if three_vrm_player.missing():
        raise LookupError(three_vrm_player.missing())
    for version in (0, 1):
        data = test_three_vrm.avatar(version)
        clip = test_three_vrm.moving(test_three_vrm.body_of(data), 0)
        motion = vrma_write.write(ClipFile(clip.skeleton, (clip,)))
        found = three_vrm_player.played(data, motion, test_three_vrm.TIMES)
        turned, placed = three_vrm_player.farthest(clip, found, test_three_vrm.TIMES)
        what = f"VRMA on VRM {version}, {len(found['bones'])} bones"
        yield Row(f"{what}: turns at {len(test_three_vrm.TIMES)} times", "three-vrm", turned, 0.1, "degrees")
        yield Row(f"{what}: hips", "three-vrm", placed, 1e-3, "m")


WAYS: tuple[Callable[[], Iterator[Row]], ...] = (x3d_and_back, x3d_in_x_ite, x3d_in_blender, collada_in_assimp,
                                                 usd_in_openusd, vrma_in_three_vrm)


def main() -> int:
    """Print the table."""
    failed = False
    say(f"{'':52}{'beside':34}{'apart':>9}   may be")
    for way in WAYS:
        try:
            for row in way():
                failed |= not row.apart <= row.most
                say(f"{row.what:52}{row.whom:34}{row.apart:9.1e}   {row.most:g} {row.unit}"
                    f"{'' if row.apart <= row.most else '   TOO FAR'}")
        except (LookupError, ImportError, OSError, subprocess.SubprocessError) as error:
            say(f"{(way.__doc__ or '').strip():52}not compared: {error}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
