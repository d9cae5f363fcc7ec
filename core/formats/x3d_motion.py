"""The motion of an X3D scene's humanoids: a clip for each TimeSensor that drives one, and for each HAnimMotion.

A TimeSensor sends the share of its cycleInterval that has passed. An interpolator that is routed to it sends the value
between its keys, linear or by the shorter arc. A joint takes that as its rotation, translation or scale. Source:
ISO/IEC 19775-1:2023, X3D, 8 (time), 19 (interpolation).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import interpolated, packed
from ..errors import some_of
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from .x3d_body import HUMANOID, JOINT, MOTION, TRANSFORM, Body, bodies, turns
from .x3d_carrier import FRAME_S, Keys, carried
from .x3d_ease import eased, softened
from .x3d_frames import Moves, frames_of, seconds_of
from .x3d_routes import INTERPOLATORS, TAKEN, driven, note_unplayed, sound_routes
from .x3d_scene import Node, Route, Scene, is_token_of

_ARC_RAD: Final = 0.2
"""Keys of rotations that are far apart get more keys, at most this angle apart. Linear interpolation between these then
differs from the arc by at most 0.0002 rad."""
_NAMED: Final = 5
_LEAST_SPENT: Final = 400
"""Least numbers for which each track counts, so that a few keys are not read for thousands of joints and sensors."""


def humanoids_of(scene: Scene, missing: str) -> tuple[Body, ...]:
    """Return the humanoids of a scene, at least one; missing: what the error message calls missing if there is none.

    Routes that lead nowhere are removed with a warning; motion that is not played gives a warning too. Raises
    FileError, with the line, for humanoids that cannot be read, and if there is none.
    """
    note_unplayed(scene)
    scene.routes[:] = sound_routes(scene)
    moved = frozenset(id(node) for route in scene.routes if route.taken in TAKEN
                      and (node := scene.named.get(route.target)) is not None and (node.kind in JOINT | HUMANOID or (
                          node.kind in TRANSFORM and scene.named[route.source].kind in INTERPOLATORS)))
    found = bodies(scene, moved, frozenset(id(scene.named[route.target]) for route in scene.routes
                                           if route.taken == "scale"))
    if not found:
        raise scene.error(f"has no HAnimHumanoid: there is no {missing}" + (
            "; prototypes and other files are not read" if scene.left_out else ""), 1)
    return found


def clips(scene: Scene, bodies: Sequence[Body]) -> Iterator[Clip]:
    """Yield the clips of humanoids, whose names may be the same.

    Raises FileError, with the line, if keys and values do not match, if a motion has no whole frames, or if there are
    too many numbers.
    """
    joint_of = {id(node): (body, joint) for body in bodies for joint, node in enumerate(body.nodes)
                if node.kind not in TRANSFORM}
    carried_by = dict[int, list[Body]]()
    for body in bodies:
        for node in body.carriers:
            carried_by.setdefault(id(node), []).append(body)
    leading = dict[str, list[Route]]()
    for route in scene.routes:
        leading.setdefault(route.source, []).append(route)
    known, beside = dict[tuple[int, int, float], Keys](), dict[str, int]()
    for sensor in scene.named.values():
        if sensor.kind == "TimeSensor":
            interval = seconds_of(scene, sensor, "cycleInterval", 1.0)
            name = _said_name(scene, sensor)
            moves: dict[Body, dict[tuple[int, str], Keys]] = {}
            around: dict[tuple[int, str], Keys] = {}
            for ease, source, target, taken in driven(scene, sensor, leading):
                if target.kind in TRANSFORM and id(target) not in carried_by:
                    beside[target.said] = target.line
                if id(target) in joint_of or id(target) in carried_by:
                    which = id(source), id(ease), interval
                    keys = known.get(which) or _eased_keys(scene, source, ease, interval)
                    known[which] = keys
                    scene.spend(max(keys.values.size, _LEAST_SPENT), source.line)
                    if id(target) in carried_by:
                        around[id(target), taken] = keys
                    else:
                        body, joint = joint_of[id(target)]
                        moves.setdefault(body, {})[joint, taken] = keys
            for body in dict.fromkeys(body for node, _ in around for body in carried_by[node]):
                moves.setdefault(body, {}).update(carried(scene, body, around))
            yield from (_clip(body, name, interval, own) for body, own in moves.items())
    if beside:
        scene.note(f"left out: motion of {some_of(list(beside), _NAMED)}, which is no joint of a humanoid",
                   min(beside.values()))
    for body in bodies:
        motions = {id(motion): motion for motion, _ in scene.children(body.humanoid, MOTION)}
        for number, motion in enumerate(motions.values()):
            name = _said_name(scene, motion) or scene.text(motion, "description") or f"Motion_{number}"
            duration, motion_moves = frames_of(scene, body, motion)
            if motion_moves:
                yield _clip(body, name, duration, motion_moves)


def _said_name(scene: Scene, node: Node) -> str:
    """Return a node's name, or its description if that differs only by characters that a name cannot contain."""
    name, said = scene.text(node, "name") or node.name, scene.text(node, "description")
    return said if is_token_of(name, said) else name


def _eased_keys(scene: Scene, source: Node, ease: Node | None, interval_s: float) -> Keys:
    """Return the keys of an interpolator that gets its fraction through an ease, or from the sensor itself."""
    keys = _keys_of(scene, source, interval_s)
    if ease is None:
        return keys
    course = softened(*_ease(scene, ease)) if ease.kind == "EaseInEaseOut" else Keys(*_written(scene, ease, 1))
    scene.spend(len(course.times) * len(keys.times), ease.line)
    return _within(eased(keys, Keys(course.times * interval_s, course.values * interval_s)), interval_s)


def _ease(scene: Scene, node: Node) -> tuple[FloatArray, FloatArray]:
    """Return the key (K,) and easeInEaseOut (N, 2) of an EaseInEaseOut."""
    shares = _rising(scene, node, scene.numbers(node, "key", 1)[:, 0])
    if not len(shares):
        raise scene.error(f"{node.said}: key holds 0 numbers; at least 1 is wanted", node.line)
    return shares, scene.numbers(node, "easeInEaseOut", 2)


def _keys_of(scene: Scene, node: Node, interval_s: float) -> Keys:
    """Return the keys of an interpolator over its sensor's interval, in seconds."""
    width = INTERPOLATORS[node.kind]
    shares, values = _written(scene, node, width)
    if node.kind.startswith("S"):
        scene.note(f"{node.said}: its keys are joined straight, not by a spline", node.line)
    keys = Keys(shares * interval_s, rot.continuous(values) if width == 4 else values)
    return _within(_on_arcs(keys) if width == 4 else keys, interval_s)


def _written(scene: Scene, node: Node, width: int) -> tuple[FloatArray, FloatArray]:
    """Return the key (K,) and keyValue (K, C) of an interpolator; four numbers become rotations wxyz."""
    shares = scene.numbers(node, "key", 1)[:, 0]
    values = (turns(scene, node, "keyValue") if width == 4 and "keyValue" in node.fields
              else scene.numbers(node, "keyValue", width))
    if len(shares) != len(values) or not len(shares):
        value = node.fields.get("keyValue") or node.fields.get("key")
        raise scene.error(f"{node.said}: key holds {len(shares)} numbers and keyValue {len(values)} values; as many of "
                          "both are wanted, and at least 1", value.line if value else node.line)
    return _rising(scene, node, shares), values


def _rising(scene: Scene, node: Node, shares: FloatArray) -> FloatArray:
    """Return the key (K,) of a node; raise FileError if it decreases."""
    falls = np.flatnonzero(np.diff(shares) < 0.0)
    if len(falls):
        raise scene.error(f"{node.said}: in key {shares[falls[0] + 1]:g} comes after {shares[falls[0]]:g}; keys that "
                          "never fall are wanted", node.fields["key"].line)
    return shares


def _within(keys: Keys, end_s: float) -> Keys:
    """Return keys without those before 0 and after a clip's end."""
    if keys.times[0] >= 0.0 and keys.times[-1] <= end_s:
        return keys
    inside = keys.times[(keys.times > 0.0) & (keys.times < end_s)]
    times = np.concatenate(((0.0,), inside, (end_s,)))
    return Keys(times, interpolated(keys.times, keys.values, times))


def _on_arcs(keys: Keys) -> Keys:
    """Add keys on the arcs between rotations that are far apart in time and in angle."""
    times, values = keys
    arcs = rot.angle_between(values[:-1], values[1:])
    steps = np.where(np.diff(times) > FRAME_S, np.ceil(arcs / _ARC_RAD), 1.0).clip(1.0).astype(np.int64)
    if (steps == 1).all():
        return keys
    first = np.repeat(np.arange(len(steps)), steps)
    share = (np.arange(len(first)) - np.repeat(np.cumsum(steps) - steps, steps)) / steps[first]
    between = rot.slerp(values[first], values[first + 1], share)
    between[share == 0.0] = values[first[share == 0.0]]
    return Keys(np.append(times[first] + share * np.diff(times)[first], times[-1]),
                 rot.continuous(np.concatenate((between, values[-1:]))))


def _clip(body: Body, name: str, duration_s: float, moves: Moves) -> Clip:
    """Make a clip from the moves of joints; joints without moves keep the values of their nodes."""
    rows: dict[str, list[tuple[int, FloatArray, FloatArray]]] = {taken: [] for taken in TAKEN}
    still = {at: Keys(np.zeros(1), value[None]) for at, value in body.still.items()}
    for (joint, taken), (times, values) in (still | dict(moves)).items():
        way, above = body.ways[joint], int(body.skeleton.parents[joint])
        if taken == "translation":
            values = rot.rotate(body.turn if above < 0 else rot.conjugate(body.ways[above]), values * body.unit_m)
        elif taken == "rotation" and not np.array_equal(way, rot.IDENTITY):
            values = rot.multiply(rot.multiply(rot.conjugate(way), values), way)
        rows[taken].append((joint, times, values))
    rotations, translations, scales = (packed(sorted(rows[taken], key=itemgetter(0)), width)
                                       for taken, width in TAKEN.items())
    return Clip(name, body.skeleton, duration_s, rotations, translations, scales, skin=body.skin)


