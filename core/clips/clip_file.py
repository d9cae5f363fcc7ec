"""What a file with clips holds, in the same form for every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Skeleton
from .clip import Clip


@dataclass(frozen=True, eq=False)
class ClipFile:
    """A skeleton with clips, as it came out of a file or goes into one.

    A format that knows more gives a subclass of this, which its own writer gets back.

    skeleton: the file's own, whether or not a clip moves it; of several, as a .blend may hold, that of the first clip.
    clips: as they are stored, each with its own skeleton; see played.
    warnings: sentences on what is wrong in the file, though nothing is lost by it.
    cut_off: the warning that it holds less motion than it announces, "" where it holds all.
    places: (4, 4) how the model space of each skeleton stands in the file's scene, in metres; none where formats say no
        such thing.
    named: further files that were read with it, since it names them; by their paths from its folder.
    """

    skeleton: Skeleton
    clips: tuple[Clip, ...] = ()
    warnings: tuple[str, ...] = field(default=(), kw_only=True)
    cut_off: str = field(default="", kw_only=True)
    named: tuple[str, ...] = field(default=(), kw_only=True)
    places: Mapping[Skeleton, FloatArray] = field(default_factory=dict, kw_only=True)

    @property
    def played(self) -> tuple[Clip, ...]:
        """The clips as they move their skeleton."""
        return self.clips

    def with_clips(self, clips: Sequence[Clip]) -> ClipFile:
        """Return the file with these of its played clips instead of its own."""
        return ClipFile(self.skeleton, tuple(clips), warnings=self.warnings, cut_off=self.cut_off, places=self.places)
