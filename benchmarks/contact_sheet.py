"""Every clip on every body as pictures to look at, without Blender: contact_sheet OUT_FOLDER [WORD in clips' names].

A row for each clip: its own skeleton as sticks, then each character of the test data as its skin; left is red, right is
blue, and the line is the ground. Clips are the samples' and those of the test data that core reads. Neither is part of
the project but the samples, and no more are these pictures.
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from takt.core.clips.clip import Clip
from takt.core.clips.keyed import poses_at
from takt.core.errors import TaktError
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.beside import DATA
from takt.tests.core.rewriting import movements
from takt.tests.core.rigs import real

CELL, ROWS, POINTS = 110, 10, 20_000
MOMENT: Final = 0.45
"""Of a clip's length."""
SEEN_FROM: Final = rot.multiply(rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.radians(8.0)),
                                rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), np.radians(-35.0)))
_TINTS: Final = np.array(((0.75, 0.75, 0.72), (0.85, 0.45, 0.4), (0.42, 0.52, 0.9)))
_LIGHT: Final = np.array((0.35, 0.55, 0.76))


@dataclass(frozen=True, eq=False)
class Figure:
    """A character: points of its surface (P, 3) at rest with normals, what moves them (P, K), and their colours.

    ground: how high its soles are at rest, along its own up; size: how tall it is.
    """

    map: SkeletonMap
    skin: SkinPoints
    points: SkinPoints
    normals: FloatArray
    tints: FloatArray
    ground: float
    size: float


def figures() -> Iterator[tuple[str, Figure]]:
    """Yield all characters of the test data that are known as bodies."""
    for path in sorted((DATA / "bind").glob("*.npz")):
        found = find_map(real(path.stem))
        if found.is_humanoid and found.is_sure and found.turn is not None:
            with np.load(path) as arrays:
                vertices = arrays["vertices"].astype(np.float64)
                weights = np.zeros((len(vertices), len(found.skeleton)))
                weights[arrays["weight_vertex"], arrays["weight_bone"]] = arrays["weight_value"]
                corners = triangles(arrays["face_vertices"].astype(np.int64), arrays["face_sizes"].astype(np.int64))
            yield path.stem, figure(found, vertices, corners, weights)


def figure(found: SkeletonMap, vertices: FloatArray, corners: IntArray, weights: FloatArray,
           count: int = POINTS) -> Figure:
    """Spread points evenly over a character's surface: vertices (V, 3), triangles (T, 3), weights (V, J)."""
    joints = np.argsort(-weights, axis=1)[:, :4]
    strongest = np.take_along_axis(weights, joints, axis=1)
    strongest /= np.maximum(strongest.sum(axis=1, keepdims=True), 1e-9)
    random = np.random.default_rng(1)
    first, second, third = (vertices[corners[:, corner]] for corner in range(3))
    normals = np.cross(second - first, third - first)
    area = np.linalg.norm(normals, axis=1)
    chosen = random.choice(len(corners), count, p=area / area.sum())
    shares = random.dirichlet((1.0, 1.0, 1.0), count)
    places = np.einsum("pc,pcx->px", shares, vertices[corners[chosen]])
    nearest = corners[chosen, shares.argmax(axis=1)]
    turn = np.asarray(found.turn)
    up = rot.rotate(turn, np.array((0.0, 1.0, 0.0)))
    sides = np.array([0 if name is None else {"l": 1, "r": 2}.get(name.split("_")[0], 0) for name in found.meant])
    return Figure(found, SkinPoints.of(vertices, joints, strongest),
                  SkinPoints(places, joints[nearest], strongest[nearest]), normals[chosen] / area[chosen, None],
                  _TINTS[sides[joints[nearest, 0]]], float((vertices @ up).min()), float(np.ptp(vertices @ up)))


def triangles(corners: IntArray, sizes: IntArray) -> IntArray:
    """Cut faces into fans, (T, 3)."""
    starts = np.cumsum(sizes) - sizes
    counts = np.maximum(sizes - 2, 0)
    face = np.repeat(np.arange(len(sizes)), counts)
    step = np.arange(len(face)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack((corners[starts[face]], corners[starts[face] + step + 1], corners[starts[face] + step + 2]), axis=1)


def clips(word: str) -> Iterator[tuple[Clip, SkeletonMap]]:
    """Yield the clips with a word in their names, each with its map."""
    library = Library([DATA])
    found = list(movements())
    for path in (*sorted((DATA / "clips").iterdir()), *sorted((DATA / "characters").glob("*.gl*")),
                 DATA / "ogre" / "Sinbad.skeleton"):
        found += [clip for clip in library.clips_of_file(path.resolve())[0] if clip.duration_s > 0.0]
    yield from ((clip, library.skeleton_map(clip.skeleton)) for clip in found if word in clip.name)


def drawn(figure: Figure, clip: Clip, source: SkeletonMap) -> FloatArray:
    """Return one moment of a clip on a character, (CELL, CELL, 3)."""
    done = retarget(clip, figure.map.skeleton, source_map=source, target_map=figure.map, points=figure.skin,
                    without_first_pose=True, keep_contacts=True)
    return posed(figure, done.clip, MOMENT * done.clip.duration_s, CELL)


def posed(figure: Figure, clip: Clip, time_s: float, cell: int) -> FloatArray:
    """Return a character at a time of a clip of its own skeleton, (cell, cell, 3)."""
    rest = figure.map.skeleton.rest_world
    world = world_from_pose(figure.map.skeleton, poses_at(clip, np.array((time_s,))))[0]
    linear = world[..., :3] @ np.linalg.inv(rest[..., :3])
    moved = world[..., 3] - (linear @ rest[..., 3, None])[..., 0]
    turns = np.einsum("pk,pkxy->pxy", figure.points.weights, linear[figure.points.joints])
    places = ((turns @ figure.points.positions[..., None])[..., 0]
              + np.einsum("pk,pkx->px", figure.points.weights, moved[figure.points.joints]))
    normals = (turns @ figure.normals[..., None])[..., 0]
    back = rot.conjugate(np.asarray(figure.map.turn))
    return splatted((rot.rotate(back, places) - (0.0, figure.ground, 0.0)) / figure.size, rot.rotate(back, normals),
                    figure.tints, cell)


def moment(clip: Clip, source: SkeletonMap) -> FloatArray:
    """Return the same moment of the clip's own skeleton, on the lowest that it reaches."""
    times = np.append(MOMENT * clip.duration_s, np.linspace(0.0, clip.duration_s, 12))
    back = rot.conjugate(np.asarray(source.turn)) if source.turn is not None else rot.IDENTITY
    places = rot.rotate(back, world_from_pose(clip.skeleton, poses_at(clip, times))[..., 3])
    size = float(np.ptp(rot.rotate(back, clip.skeleton.rest_world[:, :, 3])[:, 1]))
    return sticks((places[0] - (0.0, places[..., 1].min(), 0.0)) / max(size, 1e-9), source, CELL)


def sticks(world: FloatArray, known: SkeletonMap, cell: int, *, is_known: bool = True) -> FloatArray:
    """Draw a skeleton whose joints are at positions (J, 3); is_known: in the colours of its sides."""
    parents = known.skeleton.parents
    kept = np.flatnonzero((parents >= 0) & np.array([name is not None for name in known.meant]))
    steps = np.linspace(0.0, 1.0, cell)[:, None]
    places = np.concatenate([world[parents[j]] + steps * (world[j] - world[parents[j]]) for j in kept])
    sides = [{"l": 1, "r": 2}.get((known.meant[j] or "").split("_")[0], 0) * is_known for j in kept]
    facing = np.broadcast_to(rot.rotate(rot.conjugate(SEEN_FROM), np.array((0.0, 0.0, 1.0))), places.shape)
    return splatted(places, facing, np.repeat(_TINTS[sides], cell, axis=0), cell)


def splatted(places: FloatArray, normals: FloatArray, tints: FloatArray, cell: int) -> FloatArray:
    """Draw points of a body as tall as 1 above the ground, the nearer ones over the others."""
    middle = (places.min(axis=0) + places.max(axis=0)) / 2.0
    seen = rot.rotate(SEEN_FROM, places - (middle[0], 0.0, middle[2]))
    shade = 0.35 + 0.65 * np.abs(rot.rotate(SEEN_FROM, normals) @ _LIGHT)
    picture = np.full((cell, cell, 3), 0.16)
    picture[round(0.9 * cell)] = 0.3
    x = np.rint(cell * (0.5 + 0.7 * seen[:, 0])).astype(np.int64)
    y = np.rint(cell * (0.9 - 0.7 * seen[:, 1])).astype(np.int64)
    order = np.argsort(seen[:, 2])
    order = order[(x[order] >= 0) & (x[order] < cell) & (y[order] >= 0) & (y[order] < cell)]
    picture[y[order], x[order]] = (tints * shade[:, None])[order]
    return picture


def write_png(picture: FloatArray, path: Path) -> None:
    """Write a picture (H, W, 3) of numbers from 0 to 1."""
    pixels = np.rint(picture.clip(0.0, 1.0) * 255.0).astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 2, 0, 0, 0)),
              (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    parts = [struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
             for kind, body in chunks]
    path.write_bytes(b"".join((b"\x89PNG\r\n\x1a\n", *parts)))


def main(folder: Path, word: str) -> None:
    """Draw the sheets, and print what is in their rows and columns."""
    bodies = dict(figures())
    print("columns: sticks,", ", ".join(bodies), flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[FloatArray] = []
    names: list[str] = []
    sheet = 0
    for clip, source in clips(word):
        cells = [moment(clip, source)]
        for name, body in bodies.items():
            try:
                cells.append(drawn(body, clip, source))
            except TaktError as error:
                cells.append(np.full((CELL, CELL, 3), 0.05))
                print(f"{clip.name} on {name}: {error}")
        rows.append(np.concatenate(cells, axis=1))
        names.append(clip.name)
        if len(rows) == ROWS:
            sheet += 1
            write_png(np.concatenate(rows), folder / f"sheet_{sheet:02}.png")
            print(f"sheet_{sheet:02}.png:", ", ".join(names), flush=True)
            rows, names = [], []
    if rows:
        write_png(np.concatenate(rows), folder / f"sheet_{sheet + 1:02}.png")
        print(f"sheet_{sheet + 1:02}.png:", ", ".join(names))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/contact_sheet"), sys.argv[2] if len(sys.argv) > 2 else "")
