"""Names for the array types of core."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def frozen(values: npt.ArrayLike, *, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[np.generic]:
    """Copy values into a new contiguous array that refuses writes."""
    array = np.array(values, dtype=dtype, order="C")
    array.setflags(write=False)
    return array
