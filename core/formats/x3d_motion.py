"""The motion of an X3D scene's humanoids: a clip for each TimeSensor that drives one, and for each HAnimMotion.

A TimeSensor sends the share of its cycleInterval that has passed, an interpolator that is routed to it sends the value
between its keys, straight or by the shorter arc, and a joint takes that as its rotation, translation or scale.
Source: ISO/IEC 19775-1:2023, X3D, 8 (time), 19 (interpolation); ISO/IEC 19774-2:2019, H-Anim motion, 4 and 6.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import interpolated, packed
from ..errors import quoted, some_of
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons import hanim
from .number_text import words
from .x3d_body import HUMANOID, JOINT, MOTION, TRANSFORM, Body, bodies, turns
from .x3d_carrier import FRAME_S, Keys, carried
from .x3d_ease import eased
from .x3d_scene import Node, Route, Scene, is_token_of

_TAKEN: Final = {"rotation": 4, "translation": 3, "scale": 3}
_FOR: Final = {"OrientationInterpolator": 4, "PositionInterpolator": 3, "SquadOrientationInterpolator": 4,
               "SplinePositionInterpolator": 3}
_EASE: Final = "ScalarInterpolator"
_ARC_RAD: Final = 0.2
"""Keys of rotations are put closer than this, where they are far apart: what goes straight between them then strays
from the arc by no more than 0.0002 rad."""
_LEAST_SPENT: Final = 400
"""Numbers that each track counts for, so that a few keys are not read for thousands of joints and sensors."""
_LONGEST_S: Final = 1e6
_CHANNELS: Final = {f"{axis}{kind}".lower(): (kind, number) for kind in ("position", "rotation", "scale")
                    for number, axis in enumerate("XYZ")}


Moves = Mapping[tuple[int, str], Keys]
"""What a joint does with a property, by its number in a body."""


def humanoids_of(scene: Scene, missing: str) -> tuple[Body, ...]:
    """Return the humanoids of a scene, at least one; missing: what there is not where there is none.

    Routes that lead nowhere are taken out, and said to be. Raises FileError, with the line, for humanoids that cannot
    be read, and where there is none.
    """
    scene.routes[:] = _sound_routes(scene)
    moved = frozenset(id(node) for route in scene.routes if route.taken in _TAKEN
                      and (node := scene.named.get(route.target)) is not None and (node.kind in JOINT | HUMANOID or (
                          node.kind in TRANSFORM and scene.named[route.source].kind in _FOR)))
    found = bodies(scene, moved, frozenset(id(scene.named[route.target]) for route in scene.routes
                                           if route.taken == "scale"))
    if not found:
        raise scene.error(f"has no HAnimHumanoid: there is no {missing}" + (
            "; prototypes and other files are not read" if scene.left_out else ""), 1)
    return found


def clips(scene: Scene, bodies: Sequence[Body]) -> Iterator[Clip]:
    """Yield the clips of humanoids, whose names may be the same.

    Raises FileError, with the line, for keys and values that do not belong together, for values of motions that are no
    whole frames, and for more numbers than are read.
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
    known = dict[tuple[int, int, float], Keys]()
    for sensor in scene.named.values():
        if sensor.kind == "TimeSensor":
            interval = _seconds(scene, sensor, "cycleInterval", 1.0)
            name = _said_name(scene, sensor)
            moves: dict[Body, dict[tuple[int, str], Keys]] = {}
            around: dict[tuple[int, str], Keys] = {}
            for ease, source, target, taken in _driven(scene, sensor, leading):
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
    for body in bodies:
        motions = {id(motion): motion for motion, _ in scene.children(body.humanoid, MOTION)}
        for number, motion in enumerate(motions.values()):
            name = _said_name(scene, motion) or scene.text(motion, "description") or f"Motion_{number}"
            duration, motion_moves = _motion(scene, body, motion)
            if motion_moves:
                yield _clip(body, name, duration, motion_moves)


def _said_name(scene: Scene, node: Node) -> str:
    """Return a node's name; its description where that is the same but for what a name cannot hold."""
    name, said = scene.text(node, "name") or node.name, scene.text(node, "description")
    return said if is_token_of(name, said) else name


def _sound_routes(scene: Scene) -> Iterator[Route]:
    """Yield the routes that lead from a node to another; note those that do not, and those that joints cannot take."""
    for route in scene.routes:
        source, target = scene.named.get(route.source), scene.named.get(route.target)
        said = f"ROUTE from {quoted(route.source)} to {quoted(route.target)} is left out"
        if source is None or target is None:
            missing = route.source if source is None else route.target
            if not scene.left_out:  # else it may lead to what that was
                scene.note(f"{said}: no node has the DEF {quoted(missing)}", route.line)
            continue
        if source.kind in _FOR and target.kind in JOINT | HUMANOID and _TAKEN.get(route.taken) != _FOR[source.kind]:
            scene.note(f"{said}: {target.said} takes no {quoted(route.taken)} from an {source.kind}", route.line)
        yield route


def _seconds(scene: Scene, node: Node, name: str, default: float) -> float:
    """Return a time that is greater than 0."""
    found = float(scene.vector(node, name, (default,))[0])
    if not 0.0 < found <= _LONGEST_S:
        raise scene.error(f"{node.said}: {name} is {found:g}; seconds greater than 0 and up to {_LONGEST_S:g} are "
                          "wanted", node.fields[name].line)
    return found


def _driven(scene: Scene, sensor: Node, leading: Mapping[str, Sequence[Route]]
            ) -> Iterator[tuple[Node | None, Node, Node, str]]:
    """Yield what eases the sensor's fraction, None for nothing; an interpolator; what takes its values, and as what.

    leading: the routes from each name.
    """
    def interpolators(name: str, sent: str) -> Iterator[Node]:
        for target in dict.fromkeys(route.target for route in leading.get(name, ()) if route.sent == sent):
            if (node := scene.named.get(target)) is not None:
                yield node

    for first in interpolators(sensor.name, "fraction"):
        ease = first if first.kind == _EASE else None
        for source in (first,) if ease is None else interpolators(ease.name, "value"):
            if source.kind in _FOR:
                for target, taken in dict.fromkeys(
                        (route.target, route.taken) for route in leading.get(source.name, ())):
                    node = scene.named.get(target)
                    if node is not None and _TAKEN.get(taken) == _FOR[source.kind]:
                        yield ease, source, node, taken


def _eased_keys(scene: Scene, source: Node, ease: Node | None, interval_s: float) -> Keys:
    """Return the keys of an interpolator that gets its fraction by way of an ease, or from the sensor itself."""
    keys = _keys_of(scene, source, interval_s)
    if ease is None:
        return keys
    shares, values = _written(scene, ease, 1)
    scene.spend(len(shares) * len(keys.times), ease.line)
    return _within(eased(keys, Keys(shares * interval_s, values * interval_s)), interval_s)


def _keys_of(scene: Scene, node: Node, interval_s: float) -> Keys:
    """Return the keys of an interpolator while its sensor's interval passes."""
    width = _FOR[node.kind]
    shares, values = _written(scene, node, width)
    if node.kind.startswith("S"):
        scene.note(f"{node.said}: its keys are joined straight, not by a spline", node.line)
    keys = Keys(shares * interval_s, rot.continuous(values) if width == 4 else values)
    return _within(_on_arcs(keys) if width == 4 else keys, interval_s)


def _written(scene: Scene, node: Node, width: int) -> tuple[FloatArray, FloatArray]:
    """Return the key (K,) and keyValue (K, C) of an interpolator; of four numbers, as rotations wxyz."""
    shares = scene.numbers(node, "key", 1)[:, 0]
    values = (turns(scene, node, "keyValue") if width == 4 and "keyValue" in node.fields
              else scene.numbers(node, "keyValue", width))
    if len(shares) != len(values) or not len(shares):
        value = node.fields.get("keyValue") or node.fields.get("key")
        raise scene.error(f"{node.said}: key holds {len(shares)} numbers and keyValue {len(values)} values; as many of "
                          "both are wanted, and at least 1", value.line if value else node.line)
    falls = np.flatnonzero(np.diff(shares) < 0.0)
    if len(falls):
        raise scene.error(f"{node.said}: in key {shares[falls[0] + 1]:g} comes after {shares[falls[0]]:g}; keys that "
                          "never fall are wanted", node.fields["key"].line)
    return shares, values


def _within(keys: Keys, end_s: float) -> Keys:
    """Cut keys off at 0 and at a clip's end, where they go beyond."""
    if keys.times[0] >= 0.0 and keys.times[-1] <= end_s:
        return keys
    inside = keys.times[(keys.times > 0.0) & (keys.times < end_s)]
    times = np.concatenate(((0.0,), inside, (end_s,)))
    return Keys(times, interpolated(keys.times, keys.values, times))


def _on_arcs(keys: Keys) -> Keys:
    """Put keys onto the arcs between rotations that are far apart, in time and in angle."""
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
    """Make a clip of what joints do; those that nothing moves stay as their nodes are."""
    rows: dict[str, list[tuple[int, FloatArray, FloatArray]]] = {taken: [] for taken in _TAKEN}
    still = {at: Keys(np.zeros(1), value[None]) for at, value in body.still.items()}
    for (joint, taken), (times, values) in (still | dict(moves)).items():
        way, above = body.ways[joint], int(body.skeleton.parents[joint])
        if taken == "translation":
            values = rot.rotate(body.turn if above < 0 else rot.conjugate(body.ways[above]), values * body.unit_m)
        elif taken == "rotation" and not np.array_equal(way, rot.IDENTITY):
            values = rot.multiply(rot.multiply(rot.conjugate(way), values), way)
        rows[taken].append((joint, times, values))
    rotations, translations, scales = (packed(sorted(rows[taken], key=itemgetter(0)), width)
                                       for taken, width in _TAKEN.items())
    return Clip(name, body.skeleton, duration_s, rotations, translations, scales, skin=body.skin)


def _motion(scene: Scene, body: Body, motion: Node) -> tuple[float, Moves]:
    """Return how long an HAnimMotion lasts, and what joints do in it."""
    frame_s = _seconds(scene, motion, "frameDuration", 0.1)
    channels = _channels(scene, motion)
    count = sum(map(len, channels))
    values = scene.numbers(motion, "values", 1)[:, 0]
    if not count or not len(values) or len(values) % count:
        line = motion.fields["values"].line if "values" in motion.fields else motion.line
        raise scene.error(f"{motion.said}: values holds {len(values)} numbers; a multiple of its {count} channels is "
                          "wanted, and at least one frame", line)
    named = words(scene.text(motion, "joints"))
    if len(named) != len(channels):
        line = motion.fields["joints"].line if "joints" in motion.fields else motion.line
        raise scene.error(f"{motion.said}: joints names {len(named)} joints, but channels are for {len(channels)}; as "
                          "many are wanted", line)
    frames = values.reshape(-1, count)
    times: FloatArray = np.arange(len(frames), dtype=np.float64) * frame_s
    joint_of, unknown = _by_name(body), list[str]()
    enabled = words(scene.text(motion, "channelsEnabled").lower())
    moves: dict[tuple[int, str], Keys] = {}
    at = 0
    for number, (name, own) in enumerate(zip(named, channels, strict=True)):
        columns = frames[:, at:at + len(own)]
        at += len(own)
        joint = joint_of.get(hanim.canonical(name) or name)
        if joint is None and name != "IGNORED":
            unknown.append(name)
        if joint is not None and enabled[number:number + 1] != ["false"]:
            moves |= {(joint, taken): Keys(times, each) for taken, each in _of_columns(own, columns)}
    if unknown:
        names = some_of([quoted(name) for name in unknown], 3)
        scene.note(f"{motion.said} moves joints that {body.name} does not have: {names}", motion.line)
    return float(times[-1]), moves


def _by_name(body: Body) -> dict[str, int]:
    """Return the joints of a body by their names, of the standard's by those of version 1."""
    names = zip(body.called, hanim.canonical_names(body.called), strict=True)
    return {meant or name: joint for joint, (name, meant) in enumerate(names)}


def _channels(scene: Scene, motion: Node) -> list[list[str]]:
    """Return the channels of each joint that a motion names, in lower case."""
    found: list[list[str]] = []
    wanted = list[int]()
    text = scene.text(motion, "channels")
    for word in words(text):
        if word.isdecimal():
            found.append([])
            wanted.append(int(word[:9]))
        else:
            if not found:
                found.append([])
            found[-1].append(word.lower())
    if wanted and len(wanted) == len(found):
        wrong = next((i for i, own in enumerate(found) if len(own) != wanted[i]), None)
        if wrong is not None:
            raise scene.error(f"{motion.said}: channels announces {wanted[wrong]} for joint {wrong + 1}, but names "
                              f"{len(found[wrong])}", motion.fields["channels"].line)
    return found


def _of_columns(channels: list[str], columns: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Yield the properties that channels give, with their values (F, C) in frames (F, N) of degrees and lengths."""
    kinds: dict[str, list[tuple[int, int]]] = {}
    for column, word in enumerate(channels):
        if word in _CHANNELS:
            kind, axis = _CHANNELS[word]
            kinds.setdefault(kind, []).append((column, axis))
    for kind, taken, rest in (("position", "translation", 0.0), ("scale", "scale", 1.0)):
        if kind in kinds:
            values = np.full((len(columns), 3), rest)
            for column, axis in kinds[kind]:
                values[:, axis] = columns[:, column]
            yield taken, values
    if "rotation" in kinds:
        q = rot.identities(len(columns))
        for column, axis in kinds["rotation"]:
            q = rot.multiply(q, rot.from_axis_angle(np.eye(3)[axis], np.radians(columns[:, column])))
        yield "rotation", rot.continuous(q)
