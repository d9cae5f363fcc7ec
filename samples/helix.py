"""A double helix after B-DNA, with a spine unlike a humanoid's: body, skeleton, movements, and Blender objects.

+Y is up, lengths are metres. Ten and a half base pairs make a turn, the diameter to a turn's rise is as 20 to 35.7,
and the strands stand 144° apart, which makes the two grooves. Source: R. E. Dickerson et al., Science 216 (1982).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..core.clips.clip import Clip, Tracks
from ..core.maths import rotations as rot
from ..core.maths.arrays import FloatArray, IntArray
from ..core.skeletons.skeleton import Skeleton
from .body import Body

if TYPE_CHECKING:
    import bpy

MODULE = "helix/Moves.skeleton.xml"
ROOT = "root"
JOINTS = 12
"""Number of joints of the spine, above the root."""
HEIGHT_M = 2.0
GROUND_M = 0.1
PAIRS = 25
PAIRS_PER_TURN = 10.5
RADIUS_M = 10.0 / 35.7 * HEIGHT_M * PAIRS_PER_TURN / (PAIRS - 1)
STRANDS_APART_RAD = np.radians(144.0)
STRAND_M, RUNG_M = 0.042, 0.022
RINGS_PER_PAIR = 3
RINGS_PER_RUNG = 4
SEQUENCE = "GATTACATGCCATAGACTTGACATG"
OPPOSITE = {"A": "T", "T": "A", "G": "C", "C": "G"}
PALETTE: dict[str, tuple[str, tuple[float, float, float]]] = {
    "1": ("Strand", (0.045, 0.155, 0.235)),
    "2": ("Opposite Strand", (0.93, 0.33, 0.16)),
    "A": ("Adenine", (0.20, 0.55, 0.30)),
    "T": ("Thymine", (0.72, 0.14, 0.14)),
    "G": ("Guanine", (0.95, 0.72, 0.16)),
    "C": ("Cytosine", (0.16, 0.36, 0.75)),
}
"""Materials: of the strands, and of the rungs' halves by base."""

KEYS_PER_S = 15
DIGITS = 6
_X, _Y, _Z = np.eye(3)
_CAP = np.array(((0, 1, 2, 3), (0, 3, 4, 7), (4, 5, 6, 7)))
"""An end of eight corners in quads."""
_SIDES = 8


@cache
def build_skeleton() -> Skeleton:
    """Return a root on the ground and the spine: twelve joints along the axis, unturned at rest."""
    offsets = np.tile((0.0, HEIGHT_M / JOINTS, 0.0), (1 + JOINTS, 1))
    offsets[:2, 1] = 0.0, GROUND_M
    names = [ROOT, *(f"spine_{number:02}" for number in range(1, JOINTS + 1))]
    return Skeleton.from_arrays(names, np.arange(1 + JOINTS) - 1, rot.identities(1 + JOINTS), offsets)


@cache
def build_clips() -> tuple[Clip, ...]:
    """Return the movements; each begins and ends upright, so that any follows any."""
    return _twist(), _sway(), _wave()


def build_body() -> Body:
    """Return two strands and between them a rung for each pair, in halves: closed tubes; materials index PALETTE."""
    keys = list(PALETTE)
    along = np.linspace(0.0, PAIRS - 1.0, RINGS_PER_PAIR * (PAIRS - 1) + 1)
    tubes = [(strand_at(along, side), STRAND_M, keys[side]) for side in (0, 1)]
    for pair, base in enumerate(SEQUENCE):
        one, other = strand_at(np.array((float(pair),)), 0), strand_at(np.array((float(pair),)), 1)
        middle = (one + other) / 2.0
        share = np.linspace(0.0, 1.0, RINGS_PER_RUNG + 1)[:, None]
        tubes.append((one + share * (middle - one), RUNG_M, base))
        tubes.append((other + share * (middle - other), RUNG_M, OPPOSITE[base]))
    points, quads, materials, count = [], [], [], 0
    for path, radius, key in tubes:
        ring, faces = tube(path, radius)
        points.append(ring)
        quads.append(faces + count)
        materials.append(np.full(len(faces), keys.index(key)))
        count += len(ring)
    return Body(np.concatenate(points), np.concatenate(quads), np.concatenate(materials))


def strand_at(pair: FloatArray, side: int) -> FloatArray:
    """Return where strand 0 or 1 runs at heights counted in base pairs from below, (N,) → (N, 3)."""
    angle = 2.0 * np.pi * pair / PAIRS_PER_TURN + side * STRANDS_APART_RAD
    height = GROUND_M + HEIGHT_M * pair / (PAIRS - 1)
    return np.stack((RADIUS_M * np.cos(angle), height, -RADIUS_M * np.sin(angle)), axis=-1)


def tube(path: FloatArray, radius_m: float) -> tuple[FloatArray, IntArray]:
    """Return a closed tube around a level path or one around the axis, (N, 3): points (8N, 3) and quads outwards."""
    along = np.gradient(path, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = np.cross(along, _Y if np.abs(along[:, 1]).max() < 0.5 else path * (1.0, 0.0, 1.0))
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(side, along)
    angle = 2.0 * np.pi * np.arange(_SIDES)[:, None] / _SIDES
    rings = path[:, None] + radius_m * (np.cos(angle) * side[:, None] - np.sin(angle) * up[:, None])
    corner = np.arange(_SIDES)
    strip = np.stack((corner, np.roll(corner, -1), np.roll(corner, -1) + _SIDES, corner + _SIDES), axis=-1)
    sides = (strip + _SIDES * np.arange(len(path) - 1)[:, None, None]).reshape(-1, 4)
    return rings.reshape(-1, 3), np.concatenate((sides, _CAP[:, ::-1], _CAP + _SIDES * (len(path) - 1)))


def _twist() -> Clip:
    """Wind the helix up by most of a turn, and back further than it was."""
    times = _times(3.0)
    wound = 24.0 * np.sin(2.0 * np.pi * times / 3.0) * np.sin(np.pi * times / 3.0)
    return _clip("twist", times, _turns(_Y, np.tile(wound[:, None], JOINTS)))


def _sway() -> Clip:
    """Bend to one side and to the other, like a reed whose top lags behind."""
    times = _times(3.0)
    late = np.clip(times[:, None] / 3.0 * 1.2 - 0.2 * np.linspace(0.0, 1.0, JOINTS), 0.0, 1.0)
    return _clip("sway", times, _turns(_Z, 4.0 * np.sin(2.0 * np.pi * late) * np.sin(np.pi * late)))


def _wave() -> Clip:
    """Send a wave from below to the top, forwards and sideways: a corkscrew."""
    times = _times(3.0)
    phase = 2.0 * np.pi * (2.0 * times[:, None] / 3.0 - np.arange(JOINTS) / JOINTS)
    swell = 9.0 * np.sin(np.pi * times / 3.0)[:, None] ** 2
    return _clip("wave", times, rot.multiply(_turns(_X, swell * np.sin(phase)), _turns(_Z, swell * np.cos(phase))))


def _times(duration_s: float) -> FloatArray:
    return np.linspace(0.0, duration_s, round(duration_s * KEYS_PER_S) + 1)


def _turns(axis: FloatArray, degrees: FloatArray) -> FloatArray:
    return rot.from_axis_angle(axis, np.radians(degrees))


def _clip(name: str, times: FloatArray, turns: FloatArray) -> Clip:
    rounded = np.round(rot.continuous(turns), DIGITS)
    return Clip(name, build_skeleton(), float(times[-1]), Tracks.uniform(1 + np.arange(JOINTS), times, rounded),
                Tracks.empty(3), Tracks.empty(3))


def build_helix(context: bpy.types.Context) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Add the helix to the scene, not bound yet; return the armature and the mesh, both at the origin."""
    from .character import add_armature, add_mesh

    skeleton = build_skeleton()
    heads = dict(zip(skeleton.names, skeleton.rest_world[:, :, 3], strict=True))
    up = np.array((0.0, HEIGHT_M / JOINTS, 0.0))
    tails = {name: head + up for name, head in heads.items()} | {ROOT: heads["spine_01"]}
    scene, layer = context.scene, context.view_layer
    if scene is None or layer is None:
        raise RuntimeError("the helix needs a scene to stand in; open or make one first")
    return (add_armature("Helix", scene, layer, skeleton, heads, tails),
            add_mesh("Helix Body", scene, build_body(), dict(enumerate(PALETTE.values()))))
