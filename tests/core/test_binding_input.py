"""What binding refuses to read, and why."""

from typing import Any

import numpy as np
import pytest

from takt.core.binding import BindInput
from takt.core.errors import BindError, TaktError

from .bodies import limb

GOOD: dict[str, Any] = {"vertices": [[0, 0, 0], [1, 0, 0], [0, 0, 1]], "faces": [[0, 1, 2]], "bone_names": ["a", "b"],
        "bone_parents": [-1, 0], "heads": [[0, 0, 0], [0, 0, 1]], "tails": [[0, 0, 1], [0, 0, 2]]}


def test_lists_become_arrays():
    body = BindInput.from_arrays(**GOOD)
    assert body.vertices.dtype == np.float64 and body.face_sizes.tolist() == [3] and body.part.tolist() == [0, 0, 0]


def test_no_face_and_no_length_are_allowed():
    BindInput.from_arrays(**GOOD | {"faces": [], "tails": GOOD["heads"]})


@pytest.mark.parametrize(("change", "error", "text"), [
    ({"bone_names": [], "bone_parents": [], "heads": [], "tails": []}, BindError, "no bone to bind to"),
    ({"vertices": [], "faces": []}, BindError, "no vertex to bind"),
    ({"vertices": [[0, 0, 0], [np.nan, 0, 0], [0, 0, 1]]}, BindError,
     "1 of 3 vertices have coordinates that are not finite, the first is vertex 1 of mesh 0"),
    ({"heads": [[0, 0, 0], [0, np.inf, 1]]}, BindError, "bone 'b' has a rest position that is not finite"),
    ({"heads": [[0, 0, 0]]}, TaktError, r"heads has shape \(1, 3\), expected \(2, 3\)"),
    ({"part": [0, 0]}, TaktError, r"part has shape \(2,\), expected \(3,\)"),
    ({"faces": [[0, 1]]}, TaktError, "face_sizes must be 3 or more and sum to the 2 face corners; they sum to 2"),
    ({"faces": [[0, 1, 3]]}, TaktError, "a face names vertex 3; there are 3 vertices"),
    ({"bone_names": ["a", "a"]}, TaktError, "two bones are named 'a'"),
    ({"bone_parents": [-1, 2]}, TaktError, "bone 'b' has parent 2; there are 2 bones"),
    ({"bone_parents": [1, 0]}, TaktError, "bone 'a' is its own ancestor"),
])
def test_refuses(change, error, text):
    with pytest.raises(error, match=text):
        BindInput.from_arrays(**GOOD | change)


def test_a_long_chain_is_no_circle():
    body = limb()
    bones = 300
    heads = np.linspace((0, 0, 0), (0, 0, 4), bones)
    BindInput(body.vertices, body.face_vertices, body.face_sizes, body.part, tuple(map(str, range(bones))),
              np.arange(bones) - 1, heads, heads)
