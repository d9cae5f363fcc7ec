"""Clips read and retargeted once: a store that outlives the performances of scores."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

import numpy as np

from ..clips.clip import Clip
from ..clips.keys import grid_entries
from ..errors import FileError
from ..maths.arrays import BoolArray, FloatArray
from ..retargeting.retarget import Retargeted, retarget, with_contacts
from ..retargeting.skin_points import SkinPoints
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Skeleton

MAX_BYTES: Final = 2**30
_LAID_OUT: Final = 8
"""A clip that was played takes at most so many times the bytes of its tracks: it keeps the keys of what of it moves,
and more, laid out."""
_JOINT_BYTES: Final = 8 * (2 * (4 * 10 + 2 * 3) + 7)
"""And so many for each joint: poses and positions at its ends, in two interpolations, and how far they turn."""
Value = TypeVar("Value")
Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Entry:
    """Something that is kept; error: why it could not be made."""

    value: Any
    size: int
    error: FileError | None = None


@dataclass(eq=False)
class ClipStore:
    """What was read and retargeted, kept up to a number of bytes; what was least recently asked for goes first.

    forgotten: how many things went, for whoever holds on to some of them.

    What is kept under a key never changes: all that it depends on is part of its key. For files these are
    their paths, sizes and times: one that was written anew is read anew the next time that it is looked at. When that
    is, whoever asks says by a moment (`seen`): any object, the same one until folders are to be looked at again.

    Several threads may ask at once. The lock is held while entries are looked up and put in, never while something is
    made; of two threads that make the same, both get what the first one put in.
    """

    max_bytes: int = MAX_BYTES
    forgotten: int = 0
    _entries: OrderedDict[Hashable, _Entry] = field(default_factory=OrderedDict)
    _size: int = 0
    _lock: Lock = field(default_factory=Lock)

    @property
    def size(self) -> int:
        """How many bytes are kept, as they are counted."""
        return self._size

    def read(self, paths: Sequence[Path], read: Callable[[], Value], moment: object = None,
             named: Callable[[Value], tuple[Path, ...]] = lambda _: ()) -> Value:
        """Read files once until one of them changes: return what read gives, or raise the FileError that it raised.

        moment: see `seen`. named: further files that were read with a value, which may change as well.
        """
        try:
            stamps = self.seen(("stamps", *paths), lambda: tuple(stamp(path) for path in paths), moment)
        except OSError:
            return read()  # which says what is wrong
        told = ("named", *paths, *stamps)
        others = self._find(told)
        key = ("file", *paths, *stamps, *self._stamps_of(() if others is None else others.value, moment))
        known = self._find(key)
        if known is None:
            try:
                value = read()
                further = self._put(told, named(value), instead_of=others).value
                key = ("file", *paths, *stamps, *self._stamps_of(further, moment))
                known = self._put(key, value)
            except FileError as error:
                known = self._put(key, None, error)
        if known.error is not None and moment is not None:
            return self.read(paths, read, named=named)  # perhaps it was mended since
        if known.error is not None:
            raise known.error.with_traceback(None)
        found: Value = known.value
        return found

    def _stamps_of(self, paths: tuple[Path, ...], moment: object) -> tuple[Stamp | None, ...]:
        """Return the stamps of files that another names; None for one that is not there."""
        def look() -> tuple[Stamp | None, ...]:
            return tuple(stamp(path) if path.is_file() else None for path in paths)

        return self.seen(("stamps", *paths), look, moment) if paths else ()

    def made(self, key: Hashable, make: Callable[[], Value], holds: Callable[[Value], bool] | None = None) -> Value:
        """Return make(), made once.

        key: all that it depends on. holds: tells whether what was made before is still valid, where only it itself can
        show that.
        """
        known = self._find(key)
        if known is None or not (holds is None or holds(known.value)):
            known = self._put(key, make(), instead_of=known)
        value: Value = known.value
        return value

    def seen(self, key: Hashable, look: Callable[[], Value], moment: object) -> Value:
        """Return what look() finds in folders, looked up once for each moment; as long as it finds nothing, each time.

        key: what is looked for, and where. moment: None for now.
        """
        if moment is None:
            return look()
        return self.made(("seen", key), lambda: (moment, look()), lambda seen: seen[0] is moment and bool(seen[1]))[1]

    def skeleton(self, skeleton: Skeleton) -> Skeleton:
        """Return the one skeleton kept for all equal ones, so that what was made for it is found again."""
        return self.made(("skeleton", skeleton.name, key_of_shape(skeleton)), lambda: skeleton)

    def retargeted(self, clip: Clip, target: Skeleton, turn: FloatArray, *, source_map: SkeletonMap,
                   target_map: SkeletonMap, skin: BoolArray | None, points: SkinPoints | None = None,
                   keep_contacts: bool = False) -> Retargeted:
        """Return a clip on another skeleton, see retarget, made once for each clip, rig, maps, axes, skin and points.

        A first pose that is no part of its motion is left out. It keeps the contacts of the clip that it came from.
        """
        key = ("retargeted", clip, target, turn.tobytes(), None if skin is None else skin.tobytes(), points,
               keep_contacts, source_map.digest, target_map.digest)

        def make() -> Retargeted:
            made = retarget(clip, target, turn, source_map=source_map, target_map=target_map, skin=skin,
                            points=points, without_first_pose=True, keep_contacts=keep_contacts)
            return with_contacts(made, clip, source_map)

        return self.made(key, make)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self.forgotten += len(self._entries)
            self._entries.clear()
            self._size = 0

    def _find(self, key: Hashable) -> _Entry | None:
        with self._lock:
            known = self._entries.get(key)
            if known is not None:
                self._entries.move_to_end(key)
            return known

    def _put(self, key: Hashable, value: object, error: FileError | None = None,
             instead_of: _Entry | None = None) -> _Entry:
        new = _Entry(value, bytes_of(value), error)
        with self._lock:
            known = self._entries.get(key)
            if known is not None and known is not instead_of:
                return known
            if known is not None:
                self._size -= self._entries.pop(key).size
            if new.size <= self.max_bytes:
                self._entries[key] = new
                self._size += new.size
            while self._size > self.max_bytes:
                self._size -= self._entries.popitem(last=False)[1].size
                self.forgotten += 1
            return new


def stamp(path: Path) -> Stamp:
    """Return what changes when a file is written: its size and times, in ns. Raises OSError where it is not there."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def key_of_shape(skeleton: Skeleton) -> Hashable:
    """Return what two skeletons have in common if they are equal but for their own names."""
    arrays = (skeleton.parents, skeleton.rest_rotations, skeleton.rest_translations, skeleton.rest_scales)
    return skeleton.names, *(array.tobytes() for array in arrays), *skeleton.meant.items()


def bytes_of(value: object) -> int:
    """Return how many bytes the arrays of a value take, at any depth; of a retargeted clip, once it was played.

    >>> bytes_of((np.zeros(3), [np.zeros((2, 2))]))
    56
    """
    seen: set[int] = set()

    def of(part: object) -> int:
        if id(part) in seen or isinstance(part, (str, bytes, int, float, type(None))):
            return 0
        seen.add(id(part))
        if isinstance(part, np.ndarray):
            return int(part.nbytes)
        if isinstance(part, Clip):  # without what it derives from itself
            return sum(of(tracks) for tracks in (part.rotations, part.translations, part.scales))
        if isinstance(part, Retargeted):
            clip = part.clip
            grids = sum(8 * grid_entries(tracks) for tracks in (clip.rotations, clip.translations, clip.scales))
            return _LAID_OUT * of(clip) + _JOINT_BYTES * len(clip.skeleton) + grids
        if isinstance(part, dict):
            return sum(map(of, part.values()))
        if isinstance(part, (tuple, list)):
            return sum(map(of, part))
        return sum(map(of, vars(part).values())) if hasattr(part, "__dict__") else 0

    return of(value)
