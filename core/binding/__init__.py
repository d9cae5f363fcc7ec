"""Binding a mesh to a skeleton: each method is a function from a `BindInput` to a `Binding`, in a file of its own."""

from collections.abc import Callable
from dataclasses import dataclass

from .binding import Binding
from .euclidean import bind_euclidean
from .input import BindInput
from .inside import bind_inside
from .settings import RANGES, BindCancelledError, BindSettings, Progress

__all__ = ["BINDING_METHODS", "DEFAULT_METHOD", "RANGES", "BindCancelledError", "BindInput", "BindMethod",
           "BindSettings", "Binding", "Progress"]


@dataclass(frozen=True)
class BindMethod:
    """A method of binding, as the interface shows it.

    bind: finds the weights, and calls its third argument, unless None, with the share of the work done; when
    that answers False, it raises BindCancelledError. settings: names of the `BindSettings` that it reads.
    """

    label: str
    description: str
    bind: Callable[[BindInput, BindSettings, Progress | None], Binding]
    settings: tuple[str, ...]


BINDING_METHODS: dict[str, BindMethod] = {
    "INSIDE": BindMethod(
        "Inside Distance", "The nearest bones along paths inside the body, blended over its surface",
        bind_inside, ("influences", "hardness", "smoothing", "resolution", "prune_below", "weld_seams")),
    "EUCLIDEAN": BindMethod(
        "Distance", "The nearest bones, weighed by a power of their distance",
        lambda body, settings, progress: Binding(bind_euclidean(body, settings, progress)), ("influences", "exponent")),
}

DEFAULT_METHOD = "INSIDE"
