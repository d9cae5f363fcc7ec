"""Draw what happens to a clip on its way to a body: `python3 docs/retargeting_picture.py`. Needs NumPy alone."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout

from takt.benchmarks.contact_sheet import Figure, figure, posed, sticks, write_png
from takt.core.binding import BINDING_METHODS, DEFAULT_METHOD, BindInput, BindSettings
from takt.core.clips.keyed import poses_at
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.comparing.reference import find_reference
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.body import build_body
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rewriting import Rewriting, movements, rewritten

CELL, POINTS = 300, 200_000
CLIP, MOMENT_S = "disco", 1.1


def dancer() -> Figure:
    """Return the sample character, bound."""
    body, skeleton = build_body(), build_skeleton()
    places = skeleton.rest_world[:, :, 3]
    below = [np.flatnonzero(skeleton.parents == joint) for joint in range(len(skeleton))]
    tails = np.array([places[children[0]] if len(children) else places[joint] + (0.0, 0.05, 0.0)
                      for joint, children in enumerate(below)])
    sizes = np.full(len(body.quads), 4, dtype=np.int64)
    made = BindInput(body.positions, body.quads.ravel(), sizes, np.zeros(len(body.positions), np.int64),
                     skeleton.names, skeleton.parents, places, tails)
    weights = BINDING_METHODS[DEFAULT_METHOD].bind(made, BindSettings(), None).influences.dense(len(skeleton))
    corners = np.concatenate((body.quads[:, :3], body.quads[:, (0, 2, 3)]))
    return figure(find_map(skeleton), body.positions, corners, weights, POINTS)


def main() -> None:
    """Draw five steps beside each other."""
    clip = next(clip for clip in movements() if clip.name == CLIP)
    new = rewritten(clip, Rewriting(zero="LINE", names="numbered", seed=2)).clip
    found = find_reference(new, find_map(new.skeleton))
    assert found.time_s is not None
    body = dancer()
    done = retarget(new, body.map.skeleton, points=body.skin).clip
    reference = found.clip.skeleton.rest_world[:, :, 3]
    size = float(np.ptp(reference[:, 1]))

    def at(time_s: float) -> FloatArray:
        places = world_from_pose(new.skeleton, poses_at(new, np.array((time_s,))))[0, :, :, 3]
        return (places - (0.0, places[:, 1].min(), 0.0)) / size

    line = new.skeleton.rest_world[:, :, 3]
    line = rot.rotate(rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), 0.6), line - line.mean(axis=0)) / size / 1.6
    cells = (sticks(line + np.array((0.0, 0.5, 0.0)), found.map, CELL, is_known=False),
             sticks(at(found.time_s), found.map, CELL, is_known=False),
             sticks((reference - (0.0, reference[:, 1].min(), 0.0)) / size, found.map, CELL),
             sticks(at(MOMENT_S), found.map, CELL), posed(body, done, MOMENT_S, CELL))
    write_png(np.concatenate(cells, axis=1), checkout.ROOT / "docs" / "images" / "retargeting.png")


if __name__ == "__main__":
    main()
