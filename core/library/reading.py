"""How a library reads clip files: the choices that do not depend on folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from ..errors import FileError, quoted
from ..formats import FORMATS, endings
from ..formats.format import Format
from ..retargeting.comparing.bvh_space import BvhSpace


@dataclass(frozen=True, eq=False)
class Reading:
    """How clip files are read.

    load_format: the ending of a format that is tried before the others, or "". formats: by identifier, in the order in
    which files of one name are tried. second_files: by clip file, the file that the user has chosen for formats that
    need one beside it. bvh: axes and unit of BVH files.

    Raises FileError if no format has the ending load_format.
    """

    load_format: str = ""
    formats: Mapping[str, Format] = field(default_factory=lambda: FORMATS)
    second_files: Mapping[Path, Path] = field(default_factory=lambda: MappingProxyType({}))
    bvh: BvhSpace = field(default_factory=BvhSpace)

    def __post_init__(self) -> None:
        if self.load_format and self.load_format not in self.endings:
            raise FileError.at(f"load_format is {quoted(self.load_format)}; expected one of {', '.join(self.endings)}")

    @cached_property
    def endings(self) -> tuple[str, ...]:
        """The endings of clip files."""
        return endings(self.formats)

    @cached_property
    def endings_in_order(self) -> tuple[str, ...]:
        """The endings of clip files in the order in which they are tried."""
        return tuple(dict.fromkeys((self.load_format, *self.endings) if self.load_format else self.endings))
