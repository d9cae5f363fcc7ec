"""Fitting a skeleton into a mesh that has none: from a `FittingProblem` to a `FittedSkeleton`."""

from .fit import fit_skeleton
from .problem import BodyKind, FitError, FittedSkeleton, FittingProblem

__all__ = ["BodyKind", "FitError", "FittedSkeleton", "FittingProblem", "fit_skeleton"]
