"""Keys tied to moments of the music: where they move when the score changes, and which wait until their block returns.

A tie names a block by the elements of the score's texts as they were. These texts are stored with the tie. So a block
that was removed is found again when its text comes back, by undo or by typing.
"""

from __future__ import annotations

import json
import zlib
from base64 import b85decode, b85encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from ..errors import FileError, TaktError
from ..maths.arrays import FloatArray, IntArray
from ..pha.lineage import NEW, matched
from ..pha.split_calls import inverse, parts
from ..pha.text import Text
from .block_names import Block, Lineage, Over, Split, Splits, Step
from .moments import Timeline
from .stored import DamagedError, Stored

VERSION: Final = 1
"""Version of the stored format; data of newer versions is left alone."""
_KEPT: Final = 32
_MOST_SAID: Final = 1 << 14
_MOST: Final = 1e9
"""Largest stored frame, length and share: a share is large if a key lies far from a short block."""
_LARGEST: Final = 2 ** 31 - 1
_MOST_BYTES: Final = 64 << 20
"""Most bytes of an unpacked text."""
Texts = Mapping[str, str]
"""The texts of a score's files, by their names in a Step."""
Known = Callable[[str, str], list[int] | None]
"""Takes an old and a new text; returns the old number of each element of the new text, or None if unknown."""

_Place = TypeVar("_Place", Step, Over)


class NewerTiesError(TaktError):
    """Raised for ties that a newer version has written."""


@dataclass(frozen=True, eq=False)
class Ties:
    """N ties of keys, and the keys that wait until their blocks come back.

    texts: those in which the blocks are named. blocks: their names. frame: (N,) frames of the keys. block: (N,) index
    into blocks. share: (N,) of the block. length: (N,) the block's length in frames. waiting: keys that were taken
    away. over: the procedure in all of whose calls the keys act, by its name and its element; None if they act only
    where they were set. alone: calls of that procedure with keys of their own.
    """

    texts: Texts
    blocks: tuple[Block, ...]
    frame: FloatArray
    block: IntArray
    share: FloatArray
    length: FloatArray
    waiting: tuple[Waiting, ...] = ()
    over: tuple[str, Over] | None = None
    alone: tuple[Call, ...] = ()

    @classmethod
    def none(cls, waiting: tuple[Waiting, ...] = ()) -> Ties:
        """Return ties of no keys, apart from those that wait."""
        return cls({}, (), np.zeros(0), np.zeros(0, np.int64), np.zeros(0), np.zeros(0), waiting)

    def __len__(self) -> int:
        return len(self.frame)

    def find(self, frames: FloatArray, tolerance: float) -> IntArray:
        """Return the index of the tie at each of frames (F,), within a tolerance in frames; −1 for none."""
        if not len(self):
            return np.full(len(frames), -1)
        order = np.argsort(self.frame)
        after = np.minimum(np.searchsorted(self.frame[order], frames), len(order) - 1)
        near = np.stack((np.maximum(after - 1, 0), after))
        best = np.take_along_axis(near, np.abs(self.frame[order][near] - frames).argmin(axis=0)[None], axis=0)[0]
        return np.where(np.abs(self.frame[order][best] - frames) <= tolerance, order[best], -1)


@dataclass(frozen=True, eq=False)
class Waiting:
    """Keys at one moment of a block that was removed.

    texts: those in which the block is named. share: of the block. length: the block's in frames. keys: any value of the
    caller's.
    """

    texts: Texts
    block: Block
    share: float
    length: float
    keys: Any = field(repr=False)


class Call(NamedTuple):
    """A call of a procedure: the chain of calls that leads to it, and the texts in which these are named."""

    texts: Texts
    chain: Block


def tied(timeline: Timeline, frames: FloatArray, frame_start: float, fps: float,
         waiting: tuple[Waiting, ...] = ()) -> Ties:
    """Tie keys at frames (N,) to the blocks of a timeline that begins at frame_start."""
    segment, share = timeline.moments((frames - frame_start) / fps)
    different, block = np.unique(segment, return_inverse=True)
    ends = np.stack((timeline.times(segment, np.zeros(len(segment))), timeline.times(segment, np.ones(len(segment)))))
    return Ties(texts_of(timeline), tuple(map(timeline.block, different.tolist())), np.array(frames), block, share,
                np.diff(ends, axis=0)[0] * fps, waiting)


def texts_of(timeline: Timeline) -> Texts:
    """Return the texts from which a timeline was made."""
    documents = timeline.sequence.origins.places.documents
    return {name: str(document.text) for name, document in zip(timeline.calls.names, documents, strict=True)}


def renamed(ties: Ties, texts: Texts) -> Ties:
    """Return ties in which each file has its name in other texts: it may lie elsewhere now, or be renamed.

    Such a file is found by its text; if that changed, too, by the last part of its path.
    """
    every = ties.texts, *(each.texts for each in ties.waiting), *(each.texts for each in ties.alone)
    if all(name in texts for own in every for name in own):
        return ties

    def names_and_texts(own: Texts) -> tuple[Mapping[str, str], Texts]:
        names = _names_now(own, texts)
        return names, {names.get(name, name): text for name, text in own.items()}

    names, own = names_and_texts(ties.texts)
    waiting, alone = list[Waiting](), list[Call]()
    for each in ties.waiting:
        theirs, found = names_and_texts(each.texts)
        waiting.append(replace(each, texts=found, block=_called(each.block, theirs)))
    for call in ties.alone:
        theirs, found = names_and_texts(call.texts)
        alone.append(Call(found, _called(call.chain, theirs)))
    over = ties.over and (ties.over[0], _called((ties.over[1],), names)[0])
    return replace(ties, texts=own, blocks=tuple(_called(block, names) for block in ties.blocks),
                   waiting=tuple(waiting), over=over, alone=tuple(alone))


def _names_now(old: Texts, new: Texts) -> dict[str, str]:
    """Return the new names of files that have other names in new texts."""
    gone, free = ([name for name in one if name and name not in other] for one, other in ((old, new), (new, old)))
    found: dict[str, str] = {}

    def is_equal(one: str, other: str) -> bool:
        return old[one] == new[other]

    def is_named_alike(one: str, other: str) -> bool:
        return _alike(one, other) > 0

    for test in (is_equal, is_named_alike):
        for name in gone:
            here = [] if name in found else [each for each in free if test(name, each)]
            if here:
                found[name] = max(here, key=lambda each: _alike(name, each))
                free.remove(found[name])
    return found


def _alike(one: str, other: str) -> int:
    """Return how many of the last parts of two paths are equal."""
    pairs = zip(reversed(PurePosixPath(one).parts), reversed(PurePosixPath(other).parts), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _called(places: tuple[_Place, ...], names: Mapping[str, str]) -> tuple[_Place, ...]:
    return tuple([each._replace(document=names.get(each.document, each.document)) for each in places])


def lineage(old: Texts, new: Texts, known: Known) -> Lineage:
    """Return the old number of each element of the new texts. Files that are new or unchanged are left out."""
    found: dict[str, list[int]] = {}
    for name, text in new.items():
        before = old.get(name)
        if before is None or before == text:
            continue
        origin = known(before, text)
        found[name] = matched(Text.of(before), Text.of(text)) if origin is None else origin
    return found


def splits(old: Texts, new: Texts, lineage: Lineage) -> Splits:
    """Return which calls were split or joined between old and new texts, by file. lineage: that of these texts."""
    found = {}
    for name, origin in lineage.items():
        before, after = Text.of(old[name]), Text.of(new[name])
        split = Split(parts(before, after, origin), parts(after, before, inverse(origin, len(before))), origin)
        if split.parts or split.joined:
            found[name] = split
    return found


def to_data(ties: Ties) -> dict[str, Any]:
    """Return ties as values that JSON can hold. The keys of `waiting` must be such values already."""
    return _data(ties, [*zip(*(column.tolist() for column in _columns(ties)), strict=True)], ties.blocks)


def to_json(ties: Ties) -> str:
    """Return as JSON what to_data returns. An edit changes few of its numbers and blocks, so their texts are cached."""
    if len(_digits) > _MOST_SAID:
        _digits.clear()
    frames, blocks, shares, lengths = (column.tolist() for column in _columns(ties))
    columns = (map(_digits.__getitem__, frames), blocks, map(_digits.__getitem__, shares),
               map(_digits.__getitem__, lengths))
    rows = [f"[{frame},{block},{share},{length}]" for frame, block, share, length in zip(*columns, strict=True)]
    said = {"blocks": map(_block_said, ties.blocks), "ties": rows}
    values = {name: f"[{','.join(said[name])}]" if name in said else _said(value)
              for name, value in _data(ties, (), ()).items()}
    return f"{{{','.join([f'{_said(name)}:{value}' for name, value in values.items()])}}}"


def _columns(ties: Ties) -> tuple[FloatArray | IntArray, ...]:
    """Return the numbers of each tie as they are stored, without negative zeros."""
    return np.round(ties.frame, 5) + 0.0, ties.block, ties.share + 0.0, np.round(ties.length, 5) + 0.0


def _data(ties: Ties, rows: Sequence[tuple[float, ...]], blocks: tuple[Block, ...]) -> dict[str, Any]:
    packed: dict[str, int] = {}

    def number(texts: Texts) -> dict[str, int]:
        return {name: packed.setdefault(text, len(packed)) for name, text in texts.items()}

    waiting = [{"texts": number(each.texts), "block": each.block, "share": each.share, "length": each.length,
                "keys": each.keys} for each in ties.waiting]
    data = {"version": VERSION, "in": number(ties.texts), "blocks": blocks, "ties": rows, "waiting": waiting}
    if ties.over is not None:
        data["over"] = ties.over
        data["alone"] = [{"texts": number(call.texts), "chain": call.chain} for call in ties.alone]
    return {**data, "texts": [_packed(text) for text in packed]}


def from_data(data: Any) -> Ties:
    """Return the ties that to_data wrote.

    Raises NewerTiesError if a newer version wrote them, FileError with place and reason if they are damaged.
    """
    try:
        return from_stored(Stored(data))
    except DamagedError as error:
        raise FileError.at(f"the ties of the tweaks are damaged ({error})", None) from error


def from_stored(data: Stored) -> Ties:
    """Return ties as from_data does; raises DamagedError if they are damaged. The keys that wait are not checked."""
    version = data["version"].whole(1, _LARGEST)
    if version > VERSION:
        raise NewerTiesError(f"the tweaks are of version {version}, which this Takt does not know; "
                             "update Takt")
    texts = [_unpacked(text) for text in data["texts"].items()]

    def named(numbers: Stored) -> Texts:
        return {Stored(name, numbers.place).text(): texts[numbers[name].whole(0, len(texts) - 1)]
                for name in numbers.named()}

    blocks = tuple(map(_block, data["blocks"].items()))
    rows = [each.items(4) for each in data["ties"].items()]
    waiting = tuple(Waiting(named(each["texts"]), _block(each["block"]), each["share"].number(-_MOST, _MOST),
                            each["length"].number(0.0, _MOST), each["keys"].value)
                    for each in data["waiting"].items())
    over, alone = data.get("over"), data.get("alone")
    return Ties(named(data["in"]), blocks, np.array([row[0].number(-_MOST, _MOST) for row in rows]),
                np.array([row[1].whole(0, len(blocks) - 1) for row in rows], dtype=np.int64),
                np.array([row[2].number(-_MOST, _MOST) for row in rows]),
                np.array([row[3].number(0.0, _MOST) for row in rows]), waiting,
                None if over is None else _over(over),
                () if alone is None else tuple(Call(named(each["texts"]), _block(each["chain"]))
                                               for each in alone.items()))


def _over(data: Stored) -> tuple[str, Over]:
    name, procedure = data.items(2)
    document, element = procedure.items(2)
    return name.text(), Over(document.text(), element.whole(NEW, _LARGEST))  # NEW: the score no longer has it


def _unpacked(packed: Stored) -> str:
    """Return a text that _packed has packed."""
    unpacking = zlib.decompressobj()
    try:
        found = unpacking.decompress(b85decode(packed.text()), _MOST_BYTES).decode()
    except (ValueError, zlib.error):
        raise packed.wrong("a text that Takt has packed") from None
    if not unpacking.eof:
        raise packed.wrong("a text that Takt has packed")
    return found


def _said(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


class _Digits(dict[float, str]):
    """Numbers as JSON has them, each formatted once."""

    def __missing__(self, number: float) -> str:
        self[number] = found = repr(number)
        return found


_digits = _Digits()
_block_said = lru_cache(_MOST_SAID)(_said)


@lru_cache(_KEPT)
def _packed(text: str) -> str:
    return b85encode(zlib.compress(text.encode())).decode()


def _block(data: Stored) -> Block:
    return tuple(_step(*each.items(5)) for each in data.items())


def _step(document: Stored, element: Stored, home: Stored, rounds: Stored, repetition: Stored) -> Step:
    pairs = [each.items(2) for each in rounds.items()]
    return Step(document.text(), element.whole(NEW, _LARGEST), home.whole(NEW, _LARGEST),
                tuple((a.whole(NEW, _LARGEST), b.whole(0, _LARGEST)) for a, b in pairs), repetition.whole(0, _LARGEST))
