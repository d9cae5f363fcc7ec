"""Clips made by formulas of bodies that climb, go and jump, each foot where it belongs; and soles for them."""

from collections.abc import Callable

import numpy as np

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray, smoothstep
from takt.core.retargeting.limbs import Limb, LimbPoses
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton

BODY = build_skeleton()
FPS = 30.0
ACROSS = np.array((1.0, 0.0, 0.0))
HEEL_M, BALL_M = np.array((0.0, -0.08, -0.045)), np.array((0.0, -0.08, 0.126))
"""From the ankle to where the foot turns on the ground."""
Feet = tuple[FloatArray, FloatArray]
"""How far each foot has gone and how high it is, (F, 2, 2), and by how many degrees its heel is raised, (F, 2)."""


def posed(name: str, times: FloatArray, hips: FloatArray, feet: Feet) -> Clip:
    """Return a clip with hips so far up and forward (F, 2) from rest, and feet where they are; toes stay level."""
    joints = BODY.index_of
    (ways, heels_deg), pose = feet, Pose.rest(BODY, len(times))
    pose.translations[:, 0, 1:] = hips
    limbs = [Limb(*(joints[f"{side}_{part}"] for part in ("hip", "knee", "ankle"))) for side in "lr"]
    offset = np.concatenate((np.zeros((*ways.shape[:2], 1)), ways[..., ::-1]), axis=-1)
    for i, limb in enumerate(limbs):
        turn = rot.from_axis_angle(ACROSS, np.radians(heels_deg[:, i]))
        pose.rotations[:, limb.last] = turn
        raised = heels_deg[:, i] > 0.0
        pose.rotations[raised, joints[f"{'lr'[i]}_metatarsal"]] = rot.conjugate(turn[raised])
        on = np.where(raised[:, None], BALL_M, HEEL_M)
        offset[:, i] += on - rot.rotate(turn, on)
    offset[..., 1:] -= hips[:, None]
    world = world_from_pose(BODY, pose)
    still = world[..., 3][:, [limb.last for limb in limbs]]
    at_rest = BODY.rest_world[..., 3][[limb.last for limb in limbs]]
    moved = LimbPoses.of(world, *limbs).reaching(offset + at_rest + hips_of(hips) - still,
                                                 np.broadcast_to(ACROSS, (len(times), 2, 3)))
    for i, limb in enumerate(limbs):
        pose.rotations[:, limb] = moved.at((slice(None), i)).rotations(BODY, world, limb)
    return Clip(name, BODY, float(times[-1]), Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3))


def hips_of(hips: FloatArray) -> FloatArray:
    """Return (F, 2) as offsets (F, 1, 3)."""
    return np.concatenate((np.zeros((len(hips), 1)), hips), axis=1)[:, None]


def times_of(duration_s: float) -> FloatArray:
    return np.arange(round(duration_s * FPS) + 1) / FPS


def climbing(height_m: float) -> Clip:
    """Step on a box with one foot, then the other, stand, and step down on the other side likewise."""
    times, run = times_of(5.0), 0.45

    def foot(start_s: float) -> tuple[FloatArray, FloatArray]:
        begun = times - start_s
        up, down = smoothstep(begun, 0.0, 0.7), smoothstep(begun, 2.4, 3.1)
        arc = 0.06 * sum(np.sin(np.pi * np.clip(part / 0.7, 0.0, 1.0)) for part in (begun, begun - 2.4))
        high = smoothstep(begun, 0.0, 0.5) - smoothstep(begun, 2.6, 3.1)
        return run * (up + down), height_m * high + arc

    ways = np.stack([np.stack(foot(start_s), axis=-1) for start_s in (0.5, 1.2)], axis=1)
    hips = np.stack((-0.06 + height_m * (smoothstep(times, 1.0, 1.9) - smoothstep(times, 2.9, 3.8)),
                     run * (smoothstep(times, 0.6, 1.8) + smoothstep(times, 3.0, 4.2))), axis=1)
    return posed("box", times, hips, (ways, np.zeros((len(times), 2))))


def on_stairs(rise_m: float) -> Clip:
    """Go up stairs, or down, a foot to a step; the first and the last step are gone from and to as the others."""
    times, run, every_s = times_of(4.8), 0.28, 1.2
    phase = times / every_s
    feet = []
    for late in (0.0, 0.5):
        inside, step = np.modf(phase + late)
        at = 2.0 * (step - late)
        swing = smoothstep(inside, 0.55, 1.0)
        arc = 0.05 * np.sin(np.pi * np.clip((inside - 0.55) / 0.45, 0.0, 1.0))
        early = np.minimum(1.0, 1.4 * swing) if rise_m > 0.0 else np.maximum(0.0, 1.4 * swing - 0.4)
        feet.append(np.stack(((at + 2.0 * swing) * run, np.maximum(at + 2.0 * early, 0.0) * rise_m + arc), axis=-1))
    lower = min(rise_m, 0.0)
    hips = np.stack((-0.1 + (2.0 * phase - 1.0) * rise_m + lower, (2.0 * phase - 0.55) * run), axis=1)
    return posed("stairs", times, hips, (np.stack(feet, axis=1), np.zeros((len(times), 2))))


def walking(strike_deg: float = 15.0, step_m: float = 0.6) -> Clip:
    """Walk from the heel to the toes; with 0 degrees on flat feet."""
    times, every_s, off_deg = times_of(3.3), 1.1, 35.0 * (strike_deg > 0.0)
    phase, feet, heels = times / every_s, [], []
    for late in (0.0, 0.5):
        inside, number = np.modf(phase + late)
        swing = np.clip((inside - 0.62) / 0.38, 0.0, 1.0)
        is_swinging = inside > 0.62
        way = (number - late + 0.31) * 2.0 * step_m + 2.0 * step_m * smoothstep(swing, 0.0, 1.0)
        feet.append(np.stack((way, 0.07 * np.sin(np.pi * swing) ** (1.0 if strike_deg else 2.0)), axis=-1))
        stands = -strike_deg * np.clip(1.0 - inside / 0.08, 0.0, 1.0) + off_deg * np.clip(
            (inside - 0.45) / 0.17, 0.0, 1.0)
        heels.append(np.where(is_swinging, off_deg * (1.0 - swing) ** 2 - strike_deg * swing**2, stands))
    hips = np.stack((-0.06 - 0.015 * np.cos(4.0 * np.pi * phase), 2.0 * step_m * phase), axis=1)
    return posed("walk", times, hips, (np.stack(feet, axis=1), np.stack(heels, axis=1)))


def running(step_m: float = 0.9, every_s: float = 0.7, deep_m: float = 0.0) -> Clip:
    """Run: off the ground from the toes, with heels high, and onto it with the heel; feet overlap in no moment.

    deep_m: by how much hips are lower than they would be.
    """
    times = times_of(4.0 * every_s)
    phase, feet, heels = times / every_s, [], []
    for late in (0.0, 0.5):
        inside, number = np.modf(phase + late)
        swing = np.clip((inside - 0.36) / 0.64, 0.0, 1.0)
        way = (number - late + 0.18) * 2.0 * step_m + 2.0 * step_m * smoothstep(swing, 0.0, 1.0)
        feet.append(np.stack((way, 0.22 * np.sin(np.pi * swing) ** 2), axis=-1))
        stands = 45.0 * smoothstep(inside, 0.22, 0.36) - 5.0 * np.clip(1.0 - inside / 0.05, 0.0, 1.0)
        heels.append(np.where(inside > 0.36, 45.0 * (1.0 - swing) ** 2 - 5.0 * swing**2, stands))
    hips = np.stack((-0.1 - deep_m + 0.05 * np.cos(4.0 * np.pi * (phase - 0.16)), 2.0 * step_m * phase), axis=1)
    return posed("run", times, hips, (np.stack(feet, axis=1), np.stack(heels, axis=1)))


def backwards(step_m: float = 0.45, every_s: float = 1.2) -> Clip:
    """Walk backwards, from the ball of the foot to the heel."""
    times = times_of(3.0 * every_s)
    phase, feet, heels = times / every_s, [], []
    for late in (0.0, 0.5):
        inside, number = np.modf(phase + late)
        swing = np.clip((inside - 0.62) / 0.38, 0.0, 1.0)
        way = (number - late + 0.31) * 2.0 * step_m + 2.0 * step_m * smoothstep(swing, 0.0, 1.0)
        feet.append(np.stack((-way, 0.06 * np.sin(np.pi * swing) ** 2), axis=-1))
        stands = 25.0 * np.clip(1.0 - inside / 0.124, 0.0, 1.0) - 15.0 * smoothstep(inside, 0.496, 0.62)
        heels.append(np.where(inside > 0.62, 25.0 * swing**2 - 15.0 * (1.0 - swing) ** 2, stands))
    hips = np.stack((-0.05 - 0.012 * np.cos(4.0 * np.pi * phase), -2.0 * step_m * phase), axis=1)
    return posed("backwards", times, hips, (np.stack(feet, axis=1), np.stack(heels, axis=1)))


def tipping(deg: float = 70.0, fast_m_per_s: float = 1.5, axis: tuple[float, ...] = (0.0, 0.0, 1.0)) -> Clip:
    """Tip over the edge of one foot with straight legs, as in a cartwheel, while the body goes on to that side."""
    times = times_of(1.6)
    turns = rot.from_axis_angle(np.array(axis), np.radians(deg) * smoothstep(times, 0.2, 1.2))
    ankle = BODY.rest_world[BODY.index_of["r_ankle"], :, 3]
    at = ankle + rot.rotate(turns, BODY.rest_world[0, :, 3] - ankle)
    at[:, 0] -= fast_m_per_s * times
    return Clip("tip", BODY, float(times[-1]), Tracks.uniform(np.zeros(1, np.int64), times, turns[:, None]),
                Tracks.uniform(np.zeros(1, np.int64), times, (at - BODY.rest_world[0, :, 3])[:, None]), Tracks.empty(3))


def cut(clip: Clip, begin_s: float, end_s: float, fps: float) -> Clip:
    """Return a part of a clip, with keys of another rate."""
    times = np.linspace(0.0, end_s - begin_s, round((end_s - begin_s) * fps) + 1)
    pose = clip.sample(begin_s + times)
    return Clip(clip.name, BODY, float(times[-1]), Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3))


def jumping(height_m: float = 0.4) -> Clip:
    """Bend the knees, leave the ground from the toes, land, and stand."""
    times, fall_s = times_of(2.8), float(np.sqrt(2.0 * height_m / 9.81))
    flight = np.clip(times - 1.1, 0.0, 2.0 * fall_s)
    high = 0.5 * 9.81 * flight * (2.0 * fall_s - flight)
    landed = 1.1 + 2.0 * fall_s
    bend = smoothstep(times, 0.4, 0.85) * (1.0 - np.clip((times - 0.85) / 0.25, 0.0, 1.0) ** 2)
    bend += smoothstep(times, landed, landed + 0.2) * (1.0 - smoothstep(times, landed + 0.3, landed + 0.8))
    heels = 30.0 * np.clip((times - 0.95) / 0.15, 0.0, 1.0) * (1.0 - smoothstep(times, 1.2, landed))
    ways = np.stack((0.0 * times, high), axis=-1)[:, None].repeat(2, axis=1)
    return posed("jump", times, np.stack((-0.02 - 0.25 * bend + high, 0.0 * times), axis=1),
                 (ways, heels[:, None].repeat(2, axis=1)))


CLIPS: dict[str, Callable[[], Clip]] = {
    "a box": lambda: climbing(0.2), "a high box": lambda: climbing(0.4), "stairs up": lambda: on_stairs(0.18),
    "stairs down": lambda: on_stairs(-0.18), "a walk": walking, "a walk on flat feet": lambda: walking(0.0),
    "a walk backwards": backwards, "a jump": jumping}


def soled(skeleton: Skeleton, scale: float, sole_m: float = 0.0, longer_m: float = 0.0, heel_m: float = 0.045,
          ) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return vertices, joints and weights of a skin with level soles, so thick and so much longer, and thin limbs.

    Each vertex is moved by one joint. scale: of the body, of which metres are said. heel_m: how far behind the ankle
    soles begin.
    """
    found = find_map(skeleton)
    assert found.turn is not None
    up, front = (rot.rotate(found.turn, axis) for axis in np.eye(3)[1:])
    side = np.cross(up, front)
    at, joint_of = skeleton.rest_world[..., 3], found.joint_of
    vertices, joints = [at + 0.02 * scale * axis for axis in (side, -side, front, -front)], 4 * [np.arange(len(at))]
    ground = min(float(at[joint_of[f"{s}_metatarsal"]] @ up) for s in "lr") - 0.024 * scale
    for foot in "lr":
        ankle, ball = joint_of[f"{foot}_ankle"], joint_of[f"{foot}_metatarsal"]
        for joint, ahead in ((ankle, -heel_m), (ankle, 0.05), (ball, 0.0), (ball, 0.07 + longer_m)):
            own = at[ankle if joint == ankle else ball] + scale * ahead * front
            own = own + (ground - sole_m * scale - own @ up) * up
            vertices.append(own + 0.03 * scale * np.stack((side, 0.0 * side, -side)))
            joints.append(np.full(3, joint))
    every = np.concatenate(vertices)
    return every, np.concatenate(joints)[:, None], np.ones((len(every), 1))
