"""What every binding method returns."""

from __future__ import annotations

from dataclasses import dataclass

from ..skinning.influences import Influences
from .roles import Roles


@dataclass(frozen=True, eq=False)
class Binding:
    """The influences of all vertices, and what the method took the bones for; None where it does not ask."""

    influences: Influences
    roles: Roles | None = None
