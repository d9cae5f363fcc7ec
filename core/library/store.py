"""A cache of clips that were read and retargeted, which outlives the performances of scores."""

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
from ..errors import FileError, NeedsBlenderError
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
    """A cache of read and retargeted clips, limited in bytes; the least recently used entries are removed first.

    forgotten: how many entries were removed, for callers that keep some of them.

    The value of a key never changes: the key includes everything that the value depends on. For files, these are their
    paths, sizes and times: a file that was written again is read again at the next lookup. The caller decides when that
    is by a moment (`seen`): any object, the same one until folders should be searched again.

    Several threads may use the cache at once. The lock is held while entries are looked up and stored, never while a
    value is computed. If two threads compute the same value, both get the one that was stored first.
    """

    max_bytes: int = MAX_BYTES
    forgotten: int = 0
    _entries: OrderedDict[Hashable, _Entry] = field(default_factory=OrderedDict)
    _size: int = 0
    _lock: Lock = field(default_factory=Lock)

    @property
    def size(self) -> int:
        """The counted size of all entries, in bytes."""
        return self._size

    def read(self, paths: Sequence[Path], read: Callable[[], Value], moment: object = None,
             named: Callable[[Value], tuple[Path, ...]] = lambda _: ()) -> Value:
        """Read files once until one of them changes: return the result of `read`, or raise its FileError.

        moment: see `seen`. named: returns the further files that were read with a value, which may change as well.
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
            except NeedsBlenderError:
                raise
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
        """Return make(), called once per key.

        key: everything that the value depends on. holds: returns whether a cached value is still valid, if only the
        value itself shows that.
        """
        known = self._find(key)
        if known is None or not (holds is None or holds(known.value)):
            known = self._put(key, make(), instead_of=known)
        value: Value = known.value
        return value

    def found(self, key: Hashable) -> Any:
        """Return the value that is kept for a key of `made`, or None."""
        known = self._find(key)
        return None if known is None else known.value

    def seen(self, key: Hashable, look: Callable[[], Value], moment: object) -> Value:
        """Return what look() finds in folders, called once per moment, or each time until it finds something.

        key: what is looked for, and where. moment: None to look now.
        """
        if moment is None:
            return look()
        return self.made(("seen", key), lambda: (moment, look()), lambda seen: seen[0] is moment and bool(seen[1]))[1]

    def skeleton(self, skeleton: Skeleton) -> Skeleton:
        """Return the one cached skeleton for all equal ones, so that values computed for it are found again."""
        return self.made(("skeleton", skeleton.name, key_of_shape(skeleton)), lambda: skeleton)

    def retargeted(self, clip: Clip, target: Skeleton, turn: FloatArray, *, source_map: SkeletonMap,
                   target_map: SkeletonMap, skin: BoolArray | None, points: SkinPoints | None = None,
                   keep_contacts: bool = False) -> Retargeted:
        """Return a clip on another skeleton (see retarget), cached by clip, rig, maps, axes, skin and points.

        A first pose that is not part of the motion is left out. The result keeps the contacts of the source clip.
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
    """Return what changes when a file is written: its size and times, in ns; raise OSError if it does not exist."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def key_of_shape(skeleton: Skeleton) -> Hashable:
    """Return a key that is the same for skeletons that differ only in their own names."""
    arrays = (skeleton.parents, skeleton.rest_rotations, skeleton.rest_translations, skeleton.rest_scales)
    return skeleton.names, *(array.tobytes() for array in arrays), *skeleton.meant.items()


def bytes_of(value: object) -> int:
    """Return how many bytes the arrays in a value take, at any depth; for a retargeted clip, after it was played.

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
