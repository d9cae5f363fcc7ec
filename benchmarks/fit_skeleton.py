"""Fit skeletons into meshes, and measure how far their joints are from where they should be.

    dev.py bench fit_skeleton [artists] [made] [comic] [odd] [speed] [--data FOLDER] [--count N] [--seed N]

artists  for each humanoid of FOLDER, the distance of the main joints from the artist's, in % of the height, and which
         came out in another limb. What an artist's joints are is read from the names of the bones; where these call
         left what is on the right, as seen from the feet, the line says so. Bones outside the body's box are controls.
made     people made by rule (`tests/core/made_people.py`), whose joints are known.
comic    people made by rule with large heads, hands and feet, and short limbs.
odd      people with tails, four arms, swords and more, in odd poses, turned (`tests/core/odd_people.py`): a line for
         each kind, COUNT bodies in all.
speed    the sample dancer at 50,000 and at 1.5 million vertices, fitted, and fitted and bound: seconds, and the memory
         that arrays take at most.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import checkout
import numpy as np

from takt.core.binding import BindInput
from takt.core.binding.inside import bind_inside
from takt.core.fitting import FitError, FittedSkeleton, FittingProblem, fit_skeleton, hand
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.cage import subdivide
from takt.tests.core.made_people import A_POSE, Build, Person, comic_person, person, random_person
from takt.tests.core.odd_people import KINDS, odd_person

_ROOT = Path(__file__).resolve().parents[1]
_SHARED = Path(os.environ.get("TAKT_DATA", _ROOT / ".." / "shared" / "data"))
_LIMBS = {f"{side}_{limb[0]}": tuple(f"{side}_{joint}" for joint in limb) for side in "lr"
          for limb in (("shoulder", "elbow", "wrist"), ("hip", "knee", "ankle"))}
MAIN = ("HumanoidRoot", "vc7", "skullbase", *(joint for limb in _LIMBS.values() for joint in limb))
"""The fifteen main joints."""

FINGERS = tuple(f"{side}_{finger}{number}" for side in "lr" for finger in hand.FINGERS for number in (2, 3))
"""Joints of fingers from the second on."""

_LIMB_JOINTS = 12
_TELL_EVERY = 50
_NEAR = 0.02
_STATURE_M = 1.735
_WRONG_PERCENT = 6.0
"""Of the height: a body whose main joints are farther off on average counts as wrong too."""

_HANIM_UP, _HANIM_FRONT = np.array((0.0, 1.0, 0.0)), np.array((0.0, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Case:
    """A mesh and its joints, as far as they are known."""

    name: str
    problem: FittingProblem
    joints: Mapping[str, FloatArray]
    height: float


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a case: distances by joint in % of the height, joints in another limb, seconds; or why not."""

    case: Case
    distances: Mapping[str, float]
    wrong: tuple[str, ...]
    seconds: float
    refused: str = ""
    fitted: FittedSkeleton | None = None


def measure(case: Case) -> Outcome:
    """Fit, and compare."""
    begin = time.perf_counter()
    try:
        fitted = fit_skeleton(case.problem)
    except FitError as error:
        return Outcome(case, {}, (), time.perf_counter() - begin, str(error))
    seconds = time.perf_counter() - begin
    if "HumanoidRoot" not in fitted.names:
        return Outcome(case, {}, ("taken for a creature",), seconds, "", fitted)
    known = [name for name in MAIN if name in case.joints]
    known += [name for name in FINGERS if name in case.joints and name in fitted.names]
    distances = {name: 100.0 * float(np.linalg.norm(fitted.position(name) - case.joints[name])) / case.height
                 for name in known}
    return Outcome(case, distances, in_other_limbs(fitted, case.joints), seconds, "", fitted)


def with_sides_exchanged(case: Case) -> Case:
    """Return a case whose joints on the left are called right, and the other way round."""
    return replace(case, name=f"{case.name} (sides named the other way)",
                   joints={other_side(name): point for name, point in case.joints.items()})


def other_side(joint: str) -> str:
    """Return the name of a joint's mirror image."""
    return {"l_": "r_", "r_": "l_"}.get(joint[:2], joint[:2]) + joint[2:]


def in_other_limbs(fitted: FittedSkeleton, joints: Mapping[str, FloatArray]) -> tuple[str, ...]:
    """Return which joints of arms and legs are nearest to a joint of another arm or leg."""
    limb_of = {joint: name for name, limb in _LIMBS.items() for joint in limb if joint in joints}
    there = np.array([joints[joint] for joint in limb_of])
    names = list(limb_of)
    wrong = []
    for joint in names:
        nearest = names[int(np.linalg.norm(there - fitted.position(joint), axis=1).argmin())]
        if limb_of[nearest] != limb_of[joint]:
            wrong.append(joint)
    return tuple(wrong)


def artists(folder: Path) -> Iterator[Case]:
    """Yield the humanoids of a folder with their artists' joints."""
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            data = {key: file[key] for key in file.files}
        heads = data["bone_heads"].astype(np.float64)
        names, parents = [str(name) for name in data["bone_names"]], data["bone_parents"].astype(np.int64)
        offsets = heads - np.where(parents[:, None] >= 0, heads[parents], 0.0)
        skeleton = Skeleton.from_arrays(names, parents, rot.identities(len(names)), offsets, name=path.stem)
        meant = find_map(skeleton).joint_of
        joints = {joint: heads[bone] for joint, bone in meant.items()}
        neck = next((joint for joint in ("vc7", "vc6", "vc5", "vc4", "vc3", "vc2", "vc1") if joint in joints), None)
        if neck:
            joints["vc7"] = joints[neck]
        if sum(joint in joints for joint in MAIN) < len(MAIN) - 4:
            continue
        vertices = data["vertices"].astype(np.float64)
        joints = {name: point for name, point in joints.items() if is_inside(point, vertices)}
        problem = FittingProblem(vertices, data["face_vertices"].astype(np.int64), data["face_sizes"].astype(np.int64),
                                 kind="humanoid")
        top = joints.get("skullbase", (joints["l_shoulder"] + joints["r_shoulder"]) / 2.0)
        up = top - (joints["l_hip"] + joints["r_hip"]) / 2.0
        yield Case(path.stem, problem, joints, float(np.ptp(vertices @ (up / np.linalg.norm(up)))))


def is_inside(point: FloatArray, vertices: FloatArray) -> bool:
    """Tell whether a point (3,) is in the box around vertices (V, 3), or near it."""
    near = _NEAR * np.ptp(vertices, axis=0).max()
    return bool(((point > vertices.min(axis=0) - near) & (point < vertices.max(axis=0) + near)).all())


def made(count: int, seed: int, of: Callable[[int], tuple[Person, str]] = random_person) -> Iterator[Case]:
    """Yield people made by rule; of: makes one of them, and says what it is like."""
    for number in range(seed, seed + count):
        one, words = of(number)
        problem = FittingProblem(one.vertices, one.quads.reshape(-1), np.full(len(one.quads), 4), _HANIM_UP,
                                 _HANIM_FRONT)
        height = float(np.linalg.norm(one.joints["skullbase"] - one.joints["l_ankle"])) / 0.86
        yield Case(f"{number}: {words}", problem, one.joints, height)


def report(cases: Iterator[Case], *, only_bad: bool) -> None:
    """Print a line for each case, or for those with joints in other limbs, and the means by joint."""
    outcomes = []
    for case in cases:
        outcome = measure(case)
        if len(outcome.wrong) > _LIMB_JOINTS // 2:
            other = measure(with_sides_exchanged(case))
            outcome = outcome if other.wrong else other
        outcomes.append(outcome)
        if outcome.refused:
            sys.stdout.write(f"{case.name:24s} refused: {outcome.refused}\n")
        elif not only_bad or outcome.wrong:
            if not outcome.distances:
                sys.stdout.write(f"{outcome.case.name:24s} {' '.join(outcome.wrong)}\n")
                continue
            values = np.array([value for name, value in outcome.distances.items() if name in MAIN])
            fingers = [value for name, value in outcome.distances.items() if name in FINGERS]
            sys.stdout.write(f"{outcome.case.name:24s} mean {values.mean():5.2f}  "
                             f"p90 {np.percentile(values, 90):5.2f}  "
                             f"max {values.max():5.2f} {max(outcome.distances, key=outcome.distances.__getitem__):12s} "
                             f"{outcome.seconds:5.2f} s  "
                             f"{f'fingers {np.mean(fingers):.2f}  ' if fingers else ''}{' '.join(outcome.wrong)}\n")
        if only_bad and len(outcomes) % _TELL_EVERY == 0:
            _summarise(outcomes)
        sys.stdout.flush()
    _summarise(outcomes)


def _summarise(outcomes: list[Outcome]) -> None:
    """Print how many were refused and wrong, and the means by joint."""
    fitted = [outcome for outcome in outcomes if not outcome.refused]
    every = np.array([value for o in fitted for name, value in o.distances.items() if name in MAIN])
    fingers = [value for o in fitted for name, value in o.distances.items() if name in FINGERS]
    if not len(every):
        return
    means = {name: np.mean([o.distances[name] for o in fitted if name in o.distances]) for name in MAIN}
    sys.stdout.write(f"{len(outcomes)} bodies, {len(outcomes) - len(fitted)} refused, "
                     f"{sum(bool(o.wrong) for o in fitted)} with a joint in another limb; of the height: mean "
                     f"{every.mean():.2f} %, p90 {np.percentile(every, 90):.2f} %, fingers "
                     f"{np.mean(fingers) if fingers else np.nan:.2f} % on "
                     f"{sum('l_index2' in o.distances for o in fitted)} bodies\n"
                     + ", ".join(f"{name} {mean:.1f}" for name, mean in means.items()) + "\n")


def report_odd(count: int, seed: int) -> None:
    """Print a line for each kind of odd people: how many have all joints in their limbs, and how sure it was."""
    each, right_of_all, asked = -(-count // len(KINDS)), 0, 0
    for kind in KINDS:
        right, refused, guessed, distances = 0, 0, 0, list[float]()
        wrong = list[str]()
        for number in range(seed, seed + each):
            one = odd_person(kind, number)
            problem = FittingProblem(one.vertices, one.quads.reshape(-1), np.full(len(one.quads), 4), _HANIM_UP,
                                     _HANIM_FRONT)
            outcome = measure(Case(kind, problem, one.joints, _STATURE_M))
            refused += bool(outcome.refused)
            if outcome.fitted is None:
                continue
            is_guess = len(outcome.fitted.guesses) > len(outcome.fitted.names) // 2
            values = [outcome.distances[name] for name in MAIN if name in outcome.distances]
            if outcome.wrong or np.mean(values) > _WRONG_PERCENT:
                wrong.append(f"{number}{' (guessed)' if is_guess else ''}")
                continue
            right, guessed = right + 1, guessed + is_guess
            distances += values
        right_of_all, asked = right_of_all + right, asked + each
        sys.stdout.write(f"{kind:24s} {each:4d} bodies, right {100.0 * right / each:5.1f} %, refused {refused}, called "
                         f"guesses though right {guessed}, mean {np.mean(distances or [np.nan]):.2f} %"
                         f"{', wrong: ' + ', '.join(wrong) if wrong else ''}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{asked} bodies, right {100.0 * right_of_all / asked:.1f} %\n")


def speed() -> None:
    """Print seconds and memory for the dancer at two sizes: of the fitting, and of the fitting and the binding."""
    dancer = person(Build(turns=A_POSE))
    small = subdivide(dancer.vertices, dancer.quads)
    for points, quads in (small, _with_centres(*subdivide(*subdivide(*small)))):
        problem = FittingProblem(points, quads.reshape(-1), np.full(len(quads), quads.shape[1]), _HANIM_UP,
                                 _HANIM_FRONT)
        sys.stdout.write(f"{len(points):9,d} vertices")
        for name, work in (("fitted", fit_skeleton), ("fitted and bound", _fit_and_bind)):
            begin, used = time.perf_counter(), time.process_time()
            work(problem)
            seconds = time.perf_counter() - begin, time.process_time() - used
            tracemalloc.start()
            work(problem)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            sys.stdout.write(f"; {name}: {seconds[0]:.2f} s ({seconds[1]:.2f} s of the processor), "
                             f"{peak / 2**30:.2f} GiB")
            sys.stdout.flush()
        sys.stdout.write("\n")


def _with_centres(points: FloatArray, quads: IntArray) -> tuple[FloatArray, IntArray]:
    """Return a mesh with a vertex in the middle of each face, and four triangles (F, 3) around it."""
    centre = len(points) + np.arange(len(quads))
    corners = np.stack((quads, np.roll(quads, -1, axis=1), np.broadcast_to(centre[:, None], quads.shape)), axis=-1)
    return np.concatenate((points, points[quads].mean(axis=1))), corners.reshape(-1, 3)


def _fit_and_bind(problem: FittingProblem) -> None:
    fitted = fit_skeleton(problem)
    bind_inside(BindInput(problem.vertices, problem.face_vertices, problem.face_sizes,
                          np.zeros(len(problem.vertices), dtype=np.int64), fitted.names, fitted.parents,
                          fitted.positions, fitted.ends))


def main(arguments: list[str]) -> int:
    """Measure what was asked for; without a word everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[[], "artists", "made", "comic", "odd", "speed"], metavar="WHAT")
    parser.add_argument("--data", type=Path, default=_SHARED / "bind")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    what = options.what or ["artists", "made", "comic", "odd", "speed"]
    if "artists" in what:
        report(artists(options.data), only_bad=False)
    if "made" in what:
        report(made(options.count, options.seed), only_bad=True)
    if "comic" in what:
        report(made(options.count, options.seed, comic_person), only_bad=True)
    if "odd" in what:
        report_odd(options.count, options.seed)
    if "speed" in what:
        speed()
    return 0


if __name__ == "__main__":
    checkout.run(lambda: main(sys.argv[1:]))
