"""Draw a score that goes to a place, reaches for a cup and walks along a path: `python3 docs/scene_picture.py`.

Needs NumPy alone. The dancer stands where the score has it at a few moments; the line is the way of its hips over the
ground, the spots are its footprints, the ring is the place with where it faces, the cube is the cup.
"""

import sys
from pathlib import Path
from typing import Final

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout

from takt.benchmarks.contact_sheet import Figure, write_png
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import ScenePath, ScenePlace
from takt.core.playing.score import Settings, play
from takt.core.skeletons.skeleton import world_from_pose
from takt.docs.retargeting_picture import dancer
from takt.samples.clip_files import LIBRARY

SIZE: Final = 1400, 660
SCORE: Final = """<pha version="2" tickLength="0.5">
  <load src="feet.Steps"/> <load src="gestures.Greetings"/>
  <role name="mark" is="place"/> <role name="round" is="path"/> <role name="cup" is="prop"/>
  <procedure name="walk"><call name="left_step" duration="1"/><call name="right_step" duration="1"/></procedure>
  <procedure name="main">
    <call name="walk" to="mark" duration="16" repeat="fit"/>
    <together>
      <lane><call name="hello" duration="8"/></lane>
      <lane><look at="cup" duration="7"/><wait duration="1"/></lane>
      <lane><reach for="cup" with="right hand" duration="2" hold="4"/><wait duration="2"/></lane>
    </together>
    <call name="walk" along="round" duration="24" repeat="fit"/>
  </procedure>
</pha>"""
MARK: Final = ScenePlace((1.9, 0.0, 0.3), (1.0, 0.0, 0.35))
CUP: Final = ScenePlace((2.38, 1.15, 0.35), (0.0, 0.0, 1.0))
MOMENTS_S: Final = (0.0, 3.0, 10.5, 15.6, 18.6, 21.2)
_SEEN_FROM: Final = rot.multiply(rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.radians(24.0)),
                                 rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), np.radians(-12.0)))
_LIGHT: Final = np.array((0.35, 0.55, 0.76))
_BACK, _WAY, _PRINTS, _ROLES = (np.array(colour) for colour in (
    (0.16, 0.16, 0.16), (0.55, 0.5, 0.25), (0.62, 0.62, 0.6), (0.95, 0.7, 0.2)))


def round_path() -> ScenePath:
    """Return a path from the mark back to where the dancer set out, in a bow."""
    angles = np.linspace(0.15, 1.05 * np.pi, 80)
    return ScenePath(tuple((float(1.9 * np.cos(angle)), 0.0, float(0.3 + 1.3 * np.sin(angle))) for angle in angles))


def points_of(figure: Figure, motion: Motion, time_s: float) -> tuple[FloatArray, FloatArray]:
    """Return where the dancer's surface is at a time, and its normals, (P, 3) each."""
    rest = figure.map.skeleton.rest_world
    world = world_from_pose(figure.map.skeleton, motion.sample(np.array((time_s,))))[0]
    linear = world[..., :3] @ np.linalg.inv(rest[..., :3])
    moved = world[..., 3] - (linear @ rest[..., 3, None])[..., 0]
    turns = np.einsum("pk,pkxy->pxy", figure.points.weights, linear[figure.points.joints])
    places = (turns @ figure.points.positions[..., None])[..., 0]
    places += np.einsum("pk,pkx->px", figure.points.weights, moved[figure.points.joints])
    return places, (turns @ figure.normals[..., None])[..., 0]


def spots(middles: FloatArray, radius: float, count: int = 400) -> FloatArray:
    """Return points of discs on the ground about middles (N, 3)."""
    turns = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    far = radius * np.sqrt(np.arange(count) / count)
    disc = np.stack((far * np.cos(turns), np.zeros(count), far * np.sin(turns)), axis=1)
    return np.asarray((middles[:, None] * (1.0, 0.0, 1.0) + disc).reshape(-1, 3))


def marks(motion: Motion) -> list[tuple[FloatArray, FloatArray]]:
    """Return what lies on the ground and what plays the roles, as points with a colour each."""
    times = np.arange(0.0, motion.duration_s, 0.004)
    assert motion.body is not None and motion.feet is not None
    joints = motion.body.joint_of
    world = world_from_pose(motion.skeleton, motion.sample(times))[..., 3]
    way = world[:, joints["HumanoidRoot"]] * (1.0, 0.0, 1.0)
    prints = []
    for number, side in enumerate("lr"):
        for begin, end in motion.feet.lock.footholds.spans_s(number).tolist():
            at = np.clip(np.searchsorted(times, (begin + end) / 2.0), 0, len(times) - 1)
            prints.append(world[at, joints[f"{side}_metatarsal"]])
    angles = np.linspace(0.0, 2.0 * np.pi, 1500)
    ring = np.array(MARK.position) + 0.22 * np.stack((np.cos(angles), 0.0 * angles, np.sin(angles)), axis=1)
    ahead = np.array(MARK.ahead) / np.linalg.norm(MARK.ahead)
    arrow = np.array(MARK.position) + np.linspace(0.22, 0.5, 400)[:, None] * ahead
    cube = np.array(CUP.position) + np.random.default_rng(0).uniform(-0.045, 0.045, (4000, 3))
    return [(spots(way[::12], 0.012, 40), _WAY), (spots(np.array(prints), 0.055), _PRINTS),
            (spots(ring, 0.012, 12), _ROLES), (spots(arrow, 0.012, 12), _ROLES), (cube, _ROLES)]


def main() -> None:
    """Draw the picture."""
    body = dancer()
    cast = (("mark", MARK), ("round", round_path()), ("cup", CUP))
    motion = play(resolve(parse(SCORE), Library([LIBRARY])), Performer(body.map.skeleton, np.array((0.0, 1.0, 0.0))),
                  Settings(cast=cast))
    width, height = SIZE
    picture = np.tile(_BACK, (height, width, 1))
    for points, colour in marks(motion):
        drawn(picture, points, np.tile(colour, (len(points), 1)))
    every = [points_of(body, motion, time_s) for time_s in MOMENTS_S]
    places, normals = (np.concatenate(each) for each in zip(*every, strict=True))
    shade = 0.35 + 0.65 * np.abs(rot.rotate(_SEEN_FROM, normals) @ _LIGHT)
    drawn(picture, places, np.tile(body.tints, (len(every), 1)) * shade[:, None])
    write_png(picture, checkout.ROOT / "docs" / "images" / "scene.png")


def drawn(picture: FloatArray, places: FloatArray, colours: FloatArray) -> None:
    """Draw points (P, 3) with colours (P, 3), the nearer ones over the others."""
    height, width, _ = picture.shape
    seen = rot.rotate(_SEEN_FROM, places - np.array((0.1, 0.93, 0.75)))
    scale = width / 5.7
    x, y = np.rint(width / 2.0 + scale * seen[:, 0]), np.rint(height / 2.0 - scale * seen[:, 1])
    order = np.argsort(seen[:, 2])
    order = order[(x[order] >= 0) & (x[order] < width) & (y[order] >= 0) & (y[order] < height)]
    picture[y[order].astype(np.int64), x[order].astype(np.int64)] = colours[order]


if __name__ == "__main__":
    main()
