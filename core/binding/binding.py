"""What every binding method returns."""

from __future__ import annotations

from dataclasses import dataclass

from ..skinning.influences import Influences
from .roles import Roles


@dataclass(frozen=True, eq=False)
class Binding:
    """The influences of all vertices, and the roles in which the method saw the bones; None if it ignores roles."""

    influences: Influences
    roles: Roles | None = None
