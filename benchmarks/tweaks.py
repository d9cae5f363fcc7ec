"""What tweaks cost: 1,000 keys above the sample character's dance.

python3 dev.py bench tweaks lets the sample character dance, sets 1,000 keys in a layer of tweaks (seeded), and prints
in milliseconds of the processor, medians of several and the worst, what an edit of the score adds for the keys (25 ms
are wanted in all): copies of them are moved as sampling in the background begins, and the keys themselves once the
Action is written, where what was found for the copies serves again. Rebuild writes at once. Then what a drag of one
key costs (it is tied and eased anew; 20 ms are wanted), and a drag of half of all moments in the score editor: at each
move of the mouse (20 ms are wanted), and when it is let go. Then the same for a layer over the chorus, which is called
three times. Sampling and writing the score's own Action are measured by bench edit and bench score.
"""

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

import takt
from takt.bridge import properties
from takt.bridge.actions.keys import write_keys
from takt.bridge.scores import score
from takt.bridge.tweaking import tweak_copies, tweak_curves, tweak_moments, tweak_selection, tweaks
from takt.bridge.tweaking.tweak_placing import bag_of
from takt.samples import dancer

from .timing import say

KEYS, BONES, RUNS = 1_000, 20, 15
_operators: Any = bpy.ops
_context: Any = bpy.context


def main() -> int:
    """Set the keys, then measure."""
    takt.register()
    rig, _ = dancer.bound_dancer()
    dancer.play()
    _operators.takt.tweak()
    scene, action = _context.scene, rig.animation_data.action
    count = set_keys(rig, action, float(scene.frame_end))
    tweaks.look(rig, scene)
    say(f"Blender {bpy.app.version_string}, {count} keys of {BONES} bones, {len(score_motion(rig).sequence)} blocks")
    say(f"{'':58}{'median':>10}{'worst':>10}")
    starts = iter(range(2, 1000))

    edited = [score_motion(rig)]

    def changed() -> None:
        properties.character(rig).frame_start = next(starts)
        edited[0] = replace(score_motion(rig))  # as after an edit: nothing is known of it

    def sampled() -> None:
        with tweak_copies.moved(rig, scene, edited[0]):
            pass

    def written() -> None:
        tweaks.go_along(rig, scene, edited[0])

    def dragged() -> None:
        tweaks.look(rig, scene)

    def drag() -> None:
        bag: Any = bag_of(action)
        points = bag.fcurves[0].keyframe_points
        copied = {each.co.y for each in points if each.type == "GENERATED"}
        own = [each for each in points if each.type != "GENERATED"]
        point = next((each for each in own if each.co.y in copied), own[0])  # in the chorus, where there are copies
        point.co.y += 0.01
        score_motion(rig)

    pulled: dict[str, Any] = {}

    def press() -> None:
        frames = tweak_moments.frames_of(rig)
        assert frames is not None
        pulled["frames"] = frames[:-1:2]
        pulled["taken"] = tweak_moments.Taken(rig, pulled["frames"])

    def moved() -> None:
        pulled["taken"].in_the_way(pulled["frames"] + 0.7, is_copy=False)

    def let_go() -> None:
        tweak_moments.move(rig, pulled["frames"], pulled["frames"] + 0.7)
        tweaks.look(rig, scene)
        tweak_selection.choose(rig, pulled["frames"] + 0.7)

    for procedure in ("", "chorus"):
        properties.character(rig).tweaks[0].procedure = procedure
        tweaks.look(rig, scene)
        edits = [(measured(changed, sampled), measured(nothing, written)) for _ in range(RUNS)]
        for name, spent in (("edit, before sampling", [first for first, _ in edits]),
                            ("edit, as it is written", [second for _, second in edits]),
                            ("edit, both", [*map(sum, edits)]),
                            ("edit, written at once", [measured(changed, written) for _ in range(RUNS)]),
                            ("drag of a key", [measured(drag, dragged) for _ in range(RUNS)]),
                            ("drag of half of the moments, the press", [measured(nothing, press) for _ in range(RUNS)]),
                            ("drag of half of the moments, a move", [measured(press, moved) for _ in range(RUNS)]),
                            ("drag of half of the moments, let go", [measured(press, let_go) for _ in range(3)])):
            called = f"{name}, over the {procedure}" if procedure else name
            say(f"{called:58}{statistics.median(spent):10.1f}{max(spent):10.1f}")
    takt.unregister()
    return 0


def score_motion(rig: Any) -> Any:
    """Return what the score plays."""
    return score.motion_of(rig)


def set_keys(rig: Any, action: Any, last: float, keys: int = KEYS, first: int = 0) -> int:
    """Set keys of rotations: at each moment of some bones, from a first one on; return how many of bones there are."""
    random, bag = np.random.default_rng(1), bag_of(action)
    assert bag is not None
    names = [bone.name for bone in rig.pose.bones][first:first + BONES]
    for name in names:
        frames = np.sort(random.choice(np.arange(2, int(last)), keys // BONES, replace=False)).astype(np.float64)
        turns = random.normal(size=(len(frames), 4)) * 0.1 + (1.0, 0.0, 0.0, 0.0)
        write_keys(bag, name, "rotation_quaternion", frames, turns / np.linalg.norm(turns, axis=1, keepdims=True))
    return int(tweak_curves.read(bag).are_own.sum()) // 4


def nothing() -> None:
    """Leave all as it is."""


def measured(before: Callable[[], None], run: Callable[[], None]) -> float:
    """Return what the processor spends on a run, in ms."""
    before()
    begin = time.process_time()
    run()
    return (time.process_time() - begin) * 1e3


if __name__ == "__main__":
    sys.exit(main())
