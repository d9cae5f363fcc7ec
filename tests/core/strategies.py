"""Random values of core's types, for hypothesis."""

import numpy as np
from hypothesis import strategies as st

from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Skeleton


def vectors(size: int = 3, largest: float = 10.0) -> st.SearchStrategy[FloatArray]:
    """Vectors without values so small that their squares vanish."""
    component = st.floats(-largest, largest).map(lambda x: 0.0 if abs(x) < 1e-6 else x)
    return st.lists(component, min_size=size, max_size=size).map(np.array)


def quaternions() -> st.SearchStrategy[FloatArray]:
    """Unit quaternions."""
    return vectors(4).filter(lambda q: bool(np.linalg.norm(q) > 1e-3)).map(lambda q: q / np.linalg.norm(q))


@st.composite
def skeletons(draw: st.DrawFn, most: int = 6) -> Skeleton:
    """Skeletons of a few joints, scaled between ½ and 2."""
    joints = draw(st.integers(1, most))
    return Skeleton.from_arrays(
        names=[f"joint{i}" for i in range(joints)],
        parents=[draw(st.integers(-1, i - 1)) for i in range(joints)],
        rest_rotations=np.array([draw(quaternions()) for _ in range(joints)]),
        rest_translations=np.array([draw(vectors()) for _ in range(joints)]),
        rest_scales=np.array([[draw(st.floats(0.5, 2.0)) for _ in range(3)] for _ in range(joints)]))
