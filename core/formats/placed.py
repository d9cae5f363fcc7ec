"""Warnings about bodies that are distorted in their scene; their clips are read undistorted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..errors import quoted
from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Skeleton

_UNEVEN: Final = 1e-3


def is_uneven(matrix: FloatArray) -> bool:
    """Return whether a matrix (4, 4) scales directions by different factors.

    >>> is_uneven(np.diag((2.0, 2.0, 2.0, 1.0))), is_uneven(np.diag((1.0, 2.0, 1.0, 1.0)))
    (False, True)
    """
    sizes = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    return bool(sizes[0] - sizes[2] > _UNEVEN * sizes[0])


def distortions(body: str, placed: FloatArray) -> tuple[str, ...]:
    """Return a sentence for each distortion of a body in its scene that its clips leave out.

    body: its name. placed: (4, 4) from its model space to the scene.
    """
    if not np.isfinite(placed).all():
        return ()
    uneven = (f"{quoted(body)} is scaled unevenly, by itself or by what is around it; its clips are read in its mean "
              "size") if is_uneven(placed) else ""
    mirrored = (f"{quoted(body)} is mirrored, by itself or by what is around it; its clips are read "
                "unmirrored") if np.linalg.det(placed[:3, :3]) < 0.0 else ""
    return tuple(each for each in (uneven, mirrored) if each)


def distortions_of(clips: Iterable[Clip], places: Mapping[Skeleton, FloatArray]) -> tuple[str, ...]:
    """Return the sentences of `distortions` for the bodies of clips; places: see ClipFile."""
    skeletons = {id(clip.skeleton): clip.skeleton for clip in clips}.values()
    return tuple(each for skeleton in skeletons if skeleton in places
                 for each in distortions(skeleton.name, places[skeleton]))
