"""Clips: keyed motion of a skeleton's joints."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from ..errors import TaktError
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.skeleton import Pose, Skeleton
from ..skeletons.skin_sample import SkinSample
from .keys import Interpolation, KeyTable, TranslationInterpolation
from .tracks import Tracks

if TYPE_CHECKING:
    from .body_contacts import Contact
    from .contacts import FootContacts

__all__ = ["Clip", "Interpolation", "Tracks", "TranslationInterpolation"]

_NOT_MADE: Any = object()
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Clip:
    """A named piece of motion, 0 to duration_s, relative to its skeleton's rest pose (see Pose).

    rotations: tracks of quaternions wxyz; translations and scales: tracks of vectors.
    is_looping: a track that ends before duration_s continues to the value of its first key, reached at duration_s.
    contacts: of the feet, by side (l, r); None if they have not been detected. A retargeted clip keeps those of its
    source.
    bearing: contacts of other body parts (body_contacts.py); a retargeted clip keeps those of its source.
    gait_legs_per_s: the speed, in leg lengths per second, of a gait in place whose feet slide unevenly and that was
    made to travel (in_place.py); else 0.
    skin: a sample of the body that the clip was made for, if its file has one. Edited clips do not keep it.
    """

    name: str
    skeleton: Skeleton
    duration_s: float
    rotations: Tracks
    translations: Tracks
    scales: Tracks
    is_looping: bool = False
    contacts: Mapping[str, FootContacts] | None = None
    skin: SkinSample | None = None
    bearing: tuple[Contact, ...] = ()
    gait_legs_per_s: float = 0.0
    _derived: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.duration_s) and self.duration_s >= 0.0):
            raise TaktError(f"clip {self.name!r} lasts {self.duration_s} s; a finite length of at least 0 is wanted")
        for tracks, channels in ((self.rotations, 4), (self.translations, 3), (self.scales, 3)):
            if tracks.channels != channels:
                raise TaktError(f"clip {self.name!r} has {tracks.channels} channels, expected {channels}")
            if ((tracks.joints < 0) | (tracks.joints >= len(self.skeleton))).any():
                raise TaktError(f"clip {self.name!r} moves joints that its skeleton does not have")

    @classmethod
    def still(cls, skeleton: Skeleton, duration_s: float = 0.0, name: str = "", is_looping: bool = False) -> Clip:
        """Return a clip in which a skeleton rests."""
        return cls(name, skeleton, duration_s, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3), is_looping)

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that any track moves, (J,)."""
        moved = np.zeros(len(self.skeleton), dtype=np.bool_)
        for tracks in (self.rotations, self.translations, self.scales):
            moved[tracks.joints] = True
        return moved

    @cached_property
    def _keys(self) -> KeyTable:
        return KeyTable.of(self.skeleton, [(self.duration_s, self.is_looping, self.rotations, self.translations,
                                            self.scales)])

    def part(self, joints: IntArray) -> Clip:
        """Return the clip for some joints only (ascending indices), which must include their ancestors."""
        mask, row = np.zeros(len(self.skeleton), dtype=np.bool_), np.zeros(len(self.skeleton), dtype=np.int64)
        mask[joints], row[joints] = True, np.arange(len(joints))
        rotations, translations, scales = (
            replace(tracks, joints=row[tracks.joints]) for tracks in
            (tracks.of_joints(mask) for tracks in (self.rotations, self.translations, self.scales)))
        return Clip(self.name, self.skeleton.part(joints), self.duration_s, rotations, translations, scales,
                    self.is_looping)

    def derived(self, make: Callable[Concatenate[Clip, Arguments], Result], *arguments: Arguments.args,
                **_: Arguments.kwargs) -> Result:
        """Return make(self, *arguments), cached as long as the clip exists; make must be a pure function."""
        key = (make, *arguments)
        result: Result = self._derived.get(key, _NOT_MADE)
        if result is _NOT_MADE:
            result = self._derived[key] = make(self, *arguments)  # type: ignore[call-arg]  # without keywords
        return result

    def sample(self, times_s: FloatArray, interpolation: Interpolation = "LERP",
               translation: TranslationInterpolation = "LINEAR") -> Pose:
        """Return the poses (F, J, …) at times (F,); joints without tracks are at rest.

        Times outside the clip hold its ends. See KeyTable for the interpolations; LERP is OGRE's default.
        """
        times_s = np.asarray(times_s, dtype=np.float64)
        return self._keys.sample(np.zeros(len(times_s), dtype=np.int64), times_s, interpolation, translation)
