"""Binding a mesh to a skeleton: each method is a function from a `BindInput` to `Influences`, in a file of its own."""

from collections.abc import Callable
from dataclasses import dataclass

from ..influences import Influences
from .euclidean import bind_euclidean
from .input import BindInput
from .settings import BindSettings

__all__ = ["DEFAULT_METHOD", "METHODS", "BindInput", "BindMethod", "BindSettings"]


@dataclass(frozen=True)
class BindMethod:
    """A way to bind, as the interface shows it."""

    label: str
    description: str
    bind: Callable[[BindInput, BindSettings], Influences]


METHODS: dict[str, BindMethod] = {
    "EUCLIDEAN": BindMethod("Distance", "The nearest bones, weighed by a power of their distance", bind_euclidean),
}

DEFAULT_METHOD = "EUCLIDEAN"
