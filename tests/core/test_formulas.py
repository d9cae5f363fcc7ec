"""Formulas give the same numbers for one frame, by Python's floats, and for many, by arrays."""

from collections.abc import Sequence

import numpy as np
import pytest

from takt.core.maths import formulas
from takt.core.maths import rotations as rot
from takt.core.maths.formulas import (
    Number,
    arc_cosine,
    by_rows,
    chosen,
    conjugate,
    cosine_sine,
    cross,
    direction,
    dot,
    either,
    greatest,
    holds_anywhere,
    is_nothing,
    joined,
    least,
    length,
    lengths,
    minus,
    of_each,
    plus,
    product,
    quaternion,
    root,
    rotated,
    scaled,
    unit,
    within,
    worked_out,
)


def everything(one: Sequence[Number], rows: Sequence[Sequence[Number]], by: Sequence[Number]) -> Sequence[Number]:
    """Use each function, on both sides of each choice."""
    v, q, (scale,) = one[:3], unit(one), by
    w, x, y, z = q
    inside = chosen(w > 0.0, least(x, 0.1), greatest(y, 0.2))
    found = arc_cosine(2.0 * z), direction(x, y), root(x), dot(v, rows[0])
    known, both = scale * w if holds_anywhere(w == w) else w, product(quaternion(w, q[1:]), one)
    several = both[0], both[1], both[2], known, length(v), within(x, -0.1, 0.2), within(x, y, y + 1.0)
    moved = scaled(minus(plus(v, rows[0]), either(w > 0.0, rows[1], rows[1])), scale)
    each = of_each(lambda first, last: (first - last) * scale, rows[0], rows[1])
    numbers: list[Number] = []
    for part in (cosine_sine(inside), found, cross(v, rows[1]), rotated(q, v), several, moved, by_rows(rows, v), each):
        numbers.extend(part)
    numbers.append(x if is_nothing(scale) else x * scale)
    numbers.extend(joined(conjugate(q), lengths(v, rows[0])))
    return numbers


def test_one_frame_alone_is_what_it_is_among_many() -> None:
    rng = np.random.default_rng(1)
    records = rng.normal(size=(3, 40, 4)), rng.normal(size=(3, 40, 3, 3)), rng.normal(size=(1, 40, 1))
    whole = worked_out(everything, *records)
    alone = [worked_out(everything, *(record[:, i:i + 1] for record in records)) for i in range(40)]
    assert whole.shape == (3, 40, 35)
    np.testing.assert_allclose(np.concatenate(alone, axis=1), whole, atol=1e-14)
    q = rot.normalized(records[0])
    np.testing.assert_allclose(whole[..., 9:12], rot.rotate(q, records[0][..., :3]), atol=1e-12)
    np.testing.assert_allclose(whole[..., 12:15], rot.multiply(q, records[0])[..., :3], atol=1e-12)
    np.testing.assert_allclose(whole[..., 16], np.linalg.norm(records[0][..., :3], axis=-1), atol=1e-12)
    v, rows, scale = records[0][..., :3], records[1], records[2]
    np.testing.assert_allclose(whole[..., 19:22], (v + rows[..., 0, :] - rows[..., 1, :]) * scale, atol=1e-12)
    np.testing.assert_allclose(whole[..., 22:25], (rows @ v[..., None])[..., 0], atol=1e-12)
    np.testing.assert_allclose(whole[..., 25:28], (rows[..., 0, :] - rows[..., 1, :]) * scale, atol=1e-12)
    np.testing.assert_allclose(whole[..., 29:33], rot.conjugate(q), atol=1e-12)
    np.testing.assert_allclose(whole[..., 33], whole[..., 16], atol=1e-12)
    np.testing.assert_allclose(whole[..., 34], np.linalg.norm(rows[..., 0, :], axis=-1), atol=1e-12)
    np.testing.assert_allclose(whole[..., 28], q[..., 1] * scale[..., 0], atol=1e-12)
    np.testing.assert_allclose(whole[..., 17], np.clip(q[..., 1], -0.1, 0.2), atol=1e-12)
    np.testing.assert_allclose(whole[..., 6:9], rot.cross(records[0][..., :3], records[1][..., 1, :]), atol=1e-12)


def test_one_frame_needs_no_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of numpy is called within a formula then: that is what makes it quick."""
    record = np.random.default_rng(2).normal(size=(1, 1, 4))
    rows, by = np.ones((1, 1, 3, 3)), np.ones((1, 1, 1))
    seen: list[object] = []

    def watched(one: Sequence[float], two: Sequence[Sequence[float]], three: Sequence[float]) -> Sequence[float]:
        with monkeypatch.context() as patch:
            patch.setattr(formulas, "np", None)
            seen.extend(everything(one, two, three))
        return [0.0]

    worked_out(watched, record, rows, by)
    assert len(seen) == 35 and all(type(number) is float for number in seen)
