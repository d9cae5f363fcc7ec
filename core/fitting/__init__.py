"""Fitting a skeleton into a mesh that has none: from a `FittingProblem` to a `FittedSkeleton`."""

from .fit import fit_skeleton
from .problem import FitError, FittedSkeleton, FittingProblem

__all__ = ["FitError", "FittedSkeleton", "FittingProblem", "fit_skeleton"]
