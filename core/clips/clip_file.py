"""The contents of a clip file, in the same form for every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Skeleton
from .clip import Clip


@dataclass(frozen=True, eq=False)
class ClipFile:
    """A skeleton with clips, as read from a file or to be written to one.

    A format with further data returns a subclass, which its own writer accepts.

    skeleton: the file's own, even if no clip moves it. If the file has several, as a .blend may, that of the first
    clip. clips: as they are stored, each with its own skeleton; see played.
    warnings: sentences about faults in the file that lose no data.
    cut_off: the warning that the file holds less motion than it announces, or "" if it holds all.
    places: matrices (4, 4) from each skeleton's model space to the file's scene, in metres; empty if the format has
    none.
    named: further files that this file names and that were read with it, by their paths from its folder.
    """

    skeleton: Skeleton
    clips: tuple[Clip, ...] = ()
    warnings: tuple[str, ...] = field(default=(), kw_only=True)
    cut_off: str = field(default="", kw_only=True)
    named: tuple[str, ...] = field(default=(), kw_only=True)
    places: Mapping[Skeleton, FloatArray] = field(default_factory=dict, kw_only=True)

    @property
    def played(self) -> tuple[Clip, ...]:
        """The clips ready to be played on their skeletons."""
        return self.clips

    def with_clips(self, clips: Sequence[Clip]) -> ClipFile:
        """Return the file with its clips replaced by these, which are some of its played clips."""
        return ClipFile(self.skeleton, tuple(clips), warnings=self.warnings, cut_off=self.cut_off, places=self.places)
