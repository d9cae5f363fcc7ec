"""Naming conventions with an exact table: each joint is found for certain, also where the words alone mislead."""

import numpy as np
import pytest

from takt.core.skeletons import hanim
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.maps import names as vocabulary
from takt.core.skeletons.maps.conventions import CONVENTIONS, Convention
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rigs import standing_at

PARENTS = {"torso": "pelvis", "femur": "pelvis", "tibia": "femur", "talus": "tibia", "calcn": "talus", "toes": "calcn",
           "humerus": "torso", "ulna": "humerus", "radius": "ulna", "hand": "radius"}
JOINTS = {"pelvis": hanim.ROOT, "torso": "vt6", "femur": "hip", "tibia": "knee", "talus": "ankle", "toes": "metatarsal",
          "humerus": "shoulder", "ulna": "elbow", "hand": "wrist"}
BESIDE = {"calcn": "ankle", "radius": "elbow"}
"""Bones that are no joint of H-Anim lie near these."""


@pytest.mark.parametrize("convention", CONVENTIONS, ids=lambda each: each.label)
def test_what_a_table_says_the_vocabulary_knows(convention: Convention) -> None:
    for name, words in convention.table().items():
        read = vocabulary.read(words)
        assert read.is_helper or read.word, name
        assert read.is_helper or bool(read.side) == ("{}" in words or words.startswith(("left", "right"))), name
    assert all(need in convention.words for need in convention.needs)


def test_opensims_body_is_found_for_certain() -> None:
    body = build_skeleton()
    names, parents, places = ["pelvis"], [-1], [body.rest_world[body.index_of[hanim.ROOT], :3, 3]]
    for bone, above in PARENTS.items():
        for side in ("l", "r") if bone != "torso" else ("",):
            joint = JOINTS.get(bone) or BESIDE[bone]
            place = body.rest_world[body.index_of[f"{side}_{joint}" if side else joint], :3, 3]
            names.append(f"{bone}_{side}" if side else bone)
            parents.append(names.index(f"{above}_{side}" if f"{above}_{side}" in names else above))
            places.append(place + np.array((0.0, -0.02 * (bone in BESIDE), 0.0)))
    found = find_map(standing_at(names, np.array(parents), np.array(places)))
    meant = dict(zip(names, found.meant, strict=True))
    for name in names:
        bone, _, side = name.partition("_")
        if bone in BESIDE:
            assert meant[name] is None
        elif bone != "torso":
            assert meant[name] == (f"{side}_{JOINTS[bone]}" if side else JOINTS[bone])
    assert meant["torso"] in hanim.SPINE and not found.warnings and min(
        certain for joint, certain in zip(found.meant, found.certainties, strict=True) if joint) >= 0.9
