"""Bodies of toys: large heads, short legs, bones without names, found by their shape alone."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.skeletons import hanim
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.maps.skeleton_map import ESSENTIAL
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.core.rigs import standing_at

SPINE = frozenset(hanim.SPINE)
BODIES = 200
IN_ONE = 20
LIMBS = frozenset(ESSENTIAL) - {"skullbase"} - SPINE


@dataclass
class _Bones:
    """Bones as they are added: position, and the name of the one above."""

    at: dict[str, FloatArray] = field(default_factory=dict)
    above: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, above: str, *place: float) -> str:
        self.at[name], self.above[name] = np.array(place), above
        return name

    def nameless(self) -> tuple[Skeleton, list[str | None]]:
        """Return the skeleton with numbers for names, and what its joints are."""
        order = list(self.at)
        parents = np.array([order.index(self.above[name]) if self.above[name] else -1 for name in order])
        return (standing_at([f"bone_{number:03}" for number in range(len(order))], parents,
                            np.array([self.at[name] for name in order])),
                [name if name in hanim.PARENTS else None for name in order])


def toy(seed: int) -> tuple[Skeleton, list[str | None]]:
    """Return a body of height 1 with legs of 12 to 20 % of it, and what its joints are.

    With or without collarbones, necks, bones at the sides of the pelvis, ends of hands, toes and head, tail and ears.
    """
    random = np.random.default_rng(seed)
    uniform = random.uniform
    bones, leg, arm, head = _Bones(), uniform(0.12, 0.2), uniform(0.22, 0.4), uniform(0.2, 0.42)
    high, width = uniform(0.02, 0.05), uniform(0.05, 0.1)
    hip, neck = leg + high, 1.0 - head
    chest = neck - uniform(0.02, 0.06)
    trunk = bones.add("HumanoidRoot", "", 0.0, hip + uniform(0.0, 0.06), 0.0)
    low = float(bones.at[trunk][1])
    for height in np.linspace(low, chest, int(random.integers(2, 5)))[1:]:
        trunk = bones.add(f"trunk {height}", trunk, 0.0, height, uniform(-0.01, 0.01))
    above = bones.add("neck", trunk, 0.0, neck, 0.0) if random.random() < 0.5 else trunk
    bones.add("skullbase", above, 0.0, neck + 0.15 * head * (above == "neck"), 0.0)
    ends, collars, toes, ears, sides, tail, crown = (random.random(7) < (0.5, 0.6, 0.5, 0.4, 0.2, 0.4, 0.5)).tolist()
    shin, foot, angle, bend = uniform(0.6, 1.1), uniform(0.5, 1.2), uniform(-1.1, 0.1), uniform(0.0, 0.4)
    if crown:
        bones.add("crown", "skullbase", 0.0, 1.0, 0.0)
    for side, x in (("l", 1.0), ("r", -1.0)):
        thigh = leg / (1.0 + shin)
        begin = bones.add(f"{side} of pelvis", "HumanoidRoot", 0.6 * width * x, low - 0.01, 0.0) if sides else (
            "HumanoidRoot")
        knee = bones.add(f"{side}_knee", bones.add(f"{side}_hip", begin, width * x, hip, 0.0), width * x, hip - thigh,
                         0.06 * thigh)
        ankle = bones.add(f"{side}_ankle", knee, width * x, high, -0.05 * thigh)
        ball = bones.add(f"{side}_metatarsal", ankle, width * x, 0.2 * high, foot * thigh)
        if toes:
            bones.add(f"{side} toe", ball, width * x, 0.2 * high, 1.5 * foot * thigh)
        ways = np.array(((x * np.cos(angle), np.sin(angle), 0.0),
                         (x * np.cos(angle) * np.cos(bend), np.sin(angle) * np.cos(bend), np.sin(bend))))
        shoulder = np.array((x * (width + 0.03), chest - 0.01, 0.0))
        begin = bones.add(f"{side}_sternoclavicular", trunk, 0.02 * x, chest - 0.01, 0.0) if collars else trunk
        elbow = shoulder + 0.5 * arm * ways[0]
        wrist = bones.add(f"{side}_wrist", bones.add(f"{side}_elbow", bones.add(f"{side}_shoulder", begin, *shoulder),
                                                     *elbow - (0.0, 0.0, 0.004)), *elbow + 0.5 * arm * ways[1])
        if ends:
            bones.add(f"{side} hand", wrist, *bones.at[wrist] + 0.2 * arm * ways[1])
        for number in range(3 * ears):
            bones.add(f"{side} ear {number}", f"{side} ear {number - 1}" if number else "skullbase",
                      x * (0.06 + 0.015 * number), 1.0 + 0.06 * number, 0.0)
    for number in range(int(random.integers(2, 5)) * tail):
        bones.add(f"tail {number}", f"tail {number - 1}" if number else "HumanoidRoot", 0.0, low - 0.02 * number,
                  -0.05 * (number + 1))
    return bones.nameless()


@pytest.mark.parametrize("seeds", [range(first, first + IN_ONE) for first in range(0, BODIES, IN_ONE)], ids=str)
def test_the_limbs_of_toys_are_found(seeds: range) -> None:
    for seed in seeds:
        skeleton, truth = toy(seed)
        found = find_map(skeleton)
        assert found.is_sure, seed
        wrong = [(name, said) for name, said in zip(truth, found.meant, strict=True)
                 if name != said and LIMBS.intersection((name, said))]
        assert wrong == [], seed


@pytest.mark.parametrize("controls", [False, True])
@pytest.mark.parametrize(("shin", "foot"), [(0.6, 0.7), (0.65, 0.75), (0.8, 0.85), (0.95, 0.9)])
def test_a_foot_longer_than_the_shin_is_no_shin(shin: float, foot: float, controls: bool) -> None:
    """Legs at rest are straight, and ankles bend. controls: handles of an animator, on the ground and in the air."""
    bones = _Bones()
    chest = bones.add("vt9", bones.add("vl5", bones.add("HumanoidRoot", "", 0, 0.4, 0), 0, 0.6, 0), 0, 0.95, 0)
    bones.add("skullbase", chest, 0, 1.25, 0)
    for side, x in (("l", 0.17), ("r", -0.17)):
        ankle, down = 0.29 - 0.23 * shin, 0.161 * foot
        knee = bones.add(f"{side}_knee", bones.add(f"{side}_hip", "HumanoidRoot", x, 0.52, 0), x, 0.29, 0.01)
        bones.add(f"{side}_metatarsal", bones.add(f"{side}_ankle", knee, x, ankle, -0.02), x, ankle - down, down)
        elbow = bones.add(f"{side}_elbow", bones.add(f"{side}_shoulder", chest, 1.2 * x, 1.1, 0), 2.6 * x, 1.1, -0.01)
        bones.add(f"{side} held", bones.add(f"{side}_wrist", elbow, 4.2 * x, 1.1, 0), 5 * x, 1.05, 0)
        if controls:
            ball = bones.add(f"{side} ball", bones.add(f"{side} heel", "", x, 0, -0.12), x, 0, 0.1)
            bones.add(f"{side} foot", ball, x, ankle, -0.02)
            bones.add(f"{side} knee aim", "", x, 0.29, 0.6)
    skeleton, truth = bones.nameless()
    found = find_map(skeleton)
    assert [name if name not in SPINE else None for name in found.meant] == [
        name if name not in SPINE else None for name in truth]
    assert found.is_sure and not found.warnings
