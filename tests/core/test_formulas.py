"""Formulas give the same numbers for one frame, by Python's floats, and for many, by arrays."""

from collections.abc import Sequence

import numpy as np
import pytest

from takt.core.maths import formulas
from takt.core.maths import rotations as rot
from takt.core.maths.formulas import (
    Number,
    arc_cosine,
    chosen,
    cosine_sine,
    cross,
    direction,
    dot,
    greatest,
    holds_anywhere,
    least,
    length,
    of_both,
    product,
    root,
    rotated,
    unit,
    within,
    worked_out,
)


def everything(one: Sequence[Number], rows: Sequence[Sequence[Number]], by: Sequence[Number]) -> Sequence[Number]:
    """Use each function, on both sides of each choice."""
    v, (w, x, y, z), (scale,) = one[:3], unit((one[0], one[1], one[2], one[3])), by
    inside = chosen(w > 0.0, least(x, 0.1), greatest(y, 0.2))
    found = arc_cosine(2.0 * z), direction(x, y), root(x), dot(v, rows[0])
    known, both = scale * w if holds_anywhere(w == w) else w, product((w, x, y, z), one)
    several = both[0], both[1], both[2], known, length(v), within(x, -0.1, 0.2), within(x, y, y + 1.0)
    one_row, other = of_both(lambda row, by: (row[0] * by, row[1] - row[2]), rows[0], rows[1], scale)
    sums = one_row[0] + other[0], one_row[1] + other[1]
    return cosine_sine(inside) + found + cross(v, rows[1]) + rotated((w, x, y, z), v) + several + sums


def test_one_frame_alone_is_what_it_is_among_many() -> None:
    rng = np.random.default_rng(1)
    records = rng.normal(size=(3, 40, 4)), rng.normal(size=(3, 40, 2, 3)), rng.normal(size=(1, 40, 1))
    whole = worked_out(everything, *records)
    alone = [worked_out(everything, *(record[:, i:i + 1] for record in records)) for i in range(40)]
    assert whole.shape == (3, 40, 21)
    np.testing.assert_allclose(np.concatenate(alone, axis=1), whole, atol=1e-14)
    q = rot.normalized(records[0])
    np.testing.assert_allclose(whole[..., 9:12], rot.rotate(q, records[0][..., :3]), atol=1e-12)
    np.testing.assert_allclose(whole[..., 12:15], rot.multiply(q, records[0])[..., :3], atol=1e-12)
    np.testing.assert_allclose(whole[..., 16], np.linalg.norm(records[0][..., :3], axis=-1), atol=1e-12)
    np.testing.assert_allclose(whole[..., 19], records[1][..., 0].sum(axis=-1) * records[2][..., 0], atol=1e-12)
    np.testing.assert_allclose(whole[..., 17], np.clip(q[..., 1], -0.1, 0.2), atol=1e-12)
    np.testing.assert_allclose(whole[..., 6:9], rot.cross(records[0][..., :3], records[1][..., 1, :]), atol=1e-12)


def test_one_frame_needs_no_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of numpy is called within a formula then: that is what makes it quick."""
    record = np.random.default_rng(2).normal(size=(1, 1, 4))
    rows, by = np.ones((1, 1, 2, 3)), np.ones((1, 1, 1))
    seen: list[object] = []

    def watched(one: Sequence[float], two: Sequence[Sequence[float]], three: Sequence[float]) -> Sequence[float]:
        with monkeypatch.context() as patch:
            patch.setattr(formulas, "np", None)
            seen.extend(everything(one, two, three))
        return [0.0]

    worked_out(watched, record, rows, by)
    assert len(seen) == 21 and all(type(number) is float for number in seen)
