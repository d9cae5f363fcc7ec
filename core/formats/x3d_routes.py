"""The routes of an X3D scene from clocks through interpolators to joints, and those that are not supported.

Source: ISO/IEC 19775-1:2023, X3D, 4.4.8 (events and routes), 19.2.1 (interpolators).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ..errors import quoted, some_of
from .x3d_body import HUMANOID, JOINT
from .x3d_scene import Node, Route, Scene

TAKEN: Final = {"rotation": 4, "translation": 3, "scale": 3}
"""The fields of joints that can be moved, and the numbers of components of their values."""
INTERPOLATORS: Final = {"OrientationInterpolator": 4, "PositionInterpolator": 3, "SquadOrientationInterpolator": 4,
                        "SplinePositionInterpolator": 3}
_EASES: Final = {"ScalarInterpolator": "value", "EaseInEaseOut": "modifiedFraction"}
"""Nodes that may be between a clock and an interpolator, and the fields that they send."""
_CLOCK: Final = "TimeSensor"
_NAMED: Final = 5


def sound_routes(scene: Scene) -> Iterator[Route]:
    """Yield the routes from one node to another; warn of broken routes, and of those that joints cannot use."""
    for route in scene.routes:
        source, target = scene.named.get(route.source), scene.named.get(route.target)
        said = f"ROUTE from {quoted(route.source)} to {quoted(route.target)} is left out"
        if source is None or target is None:
            missing = route.source if source is None else route.target
            if not scene.left_out:  # else it may lead to a part that was left out
                scene.note(f"{said}: no node has the DEF {quoted(missing)}", route.line)
            continue
        sent = INTERPOLATORS.get(source.kind)
        if sent is not None and target.kind in JOINT | HUMANOID and TAKEN.get(route.taken) != sent:
            scene.note(f"{said}: {target.said} takes no {quoted(route.taken)} from {source.said}", route.line)
        yield route


def driven(scene: Scene, sensor: Node, leading: Mapping[str, Sequence[Route]]
            ) -> Iterator[tuple[Node | None, Node, Node, str]]:
    """Yield the interpolators that a sensor drives, each with the node and the field that take its values.

    leading: the routes from each name. Yields (ease, interpolator, target, field); ease: the node that eases the
    sensor's fraction, or None.
    """
    def interpolators(name: str, sent: str) -> Iterator[Node]:
        for target in dict.fromkeys(route.target for route in leading.get(name, ()) if route.sent == sent):
            if (node := scene.named.get(target)) is not None:
                yield node

    for first in interpolators(sensor.name, "fraction"):
        ease = first if first.kind in _EASES else None
        for source in (first,) if ease is None else interpolators(ease.name, _EASES[ease.kind]):
            if source.kind in INTERPOLATORS:
                for target, taken in dict.fromkeys(
                        (route.target, route.taken) for route in leading.get(source.name, ())):
                    node = scene.named.get(target)
                    if node is not None and TAKEN.get(taken) == INTERPOLATORS[source.kind]:
                        yield ease, source, node, taken


def note_unplayed(scene: Scene) -> None:
    """Warn of nodes between clocks and joints that are not played, such as followers and scripts."""
    after, before = dict[str, list[str]](), dict[str, list[str]]()
    for route in scene.routes:
        if (source := scene.named.get(route.source)) is None or source.kind != _CLOCK:
            after.setdefault(route.source, []).append(route.target)
        before.setdefault(route.target, []).append(route.source)
    clocks = {name for name, node in scene.named.items() if node.kind == _CLOCK}
    joints = {name for name, node in scene.named.items() if node.kind in JOINT | HUMANOID}
    driven_by_clock = _reached([route.target for route in scene.routes if route.source in clocks
                                and route.sent == "fraction"], after)
    between = (driven_by_clock & _reached([route.source for route in scene.routes if route.target in joints
                                           and route.taken in TAKEN], before)) - clocks - joints
    left_out = {each.name: each for each in scene.left_out if each.kind == "Script"}
    found = dict[str, int]()
    for name in sorted(between):
        node = scene.named.get(name)
        eases = [each for each in before[name] if each in between and each in scene.named
                 and scene.named[each].kind in _EASES]
        if node is None and name in left_out:
            found[f"Script {quoted(name)}"] = left_out[name].line
        elif node is not None and (node.kind not in INTERPOLATORS | _EASES or (node.kind in _EASES and eases)):
            found[node.said] = node.line
    if found:
        scene.has_unplayed = True
        scene.note(f"left out: motion that joints get by way of {some_of(list(found), _NAMED)}, which is not played",
                   min(found.values()))


def _reached(begin: Iterable[str], ways: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the names that can be reached from some names, including these."""
    found, stack = set[str](), list(begin)
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack.extend(ways.get(name, ()))
    return found
