"""Keys tied to moments of the music: where they move when the score changes, and which wait until their block returns.

A tie names a block by the elements of the score's texts as they were. These texts are stored with the tie. So a block
that was removed is found again when its text comes back, by undo or by typing.
"""

from __future__ import annotations

import zlib
from base64 import b85decode, b85encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from ..errors import FileError, TaktError
from ..maths.arrays import FloatArray, IntArray
from ..pha.lineage import matched
from ..pha.split_calls import inverse, parts
from ..pha.text import Text
from .block_names import Block, Lineage, Over, Split, Splits, Step
from .moments import Timeline

VERSION: Final = 1
"""Version of the stored format; data of newer versions is left alone."""
_KEPT: Final = 32
Texts = Mapping[str, str]
"""The texts of a score's files, by their names in a Step."""
Known = Callable[[str, str], list[int] | None]
"""Takes an old and a new text; returns the old number of each element of the new text, or None if unknown."""


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
    packed: dict[str, int] = {}

    def number(texts: Texts) -> dict[str, int]:
        return {name: packed.setdefault(text, len(packed)) for name, text in texts.items()}

    columns = np.round(ties.frame, 5), ties.block, ties.share, np.round(ties.length, 5)
    rows = [*zip(*(column.tolist() for column in columns), strict=True)]
    waiting = [{"texts": number(each.texts), "block": each.block, "share": each.share, "length": each.length,
                "keys": each.keys} for each in ties.waiting]
    data = {"version": VERSION, "in": number(ties.texts), "blocks": ties.blocks, "ties": rows, "waiting": waiting}
    if ties.over is not None:
        data["over"] = ties.over
        data["alone"] = [{"texts": number(call.texts), "chain": call.chain} for call in ties.alone]
    return {**data, "texts": [_packed(text) for text in packed]}


def from_data(data: Any) -> Ties:
    """Return the ties that to_data wrote.

    Raises NewerTiesError if a newer version wrote them, FileError with place and reason if they are damaged.
    """
    try:
        if data["version"] > VERSION:
            raise NewerTiesError(f"the tweaks are of version {data['version']}, which this Takt does not know; "
                                 "update Takt")
        texts = [zlib.decompress(b85decode(text)).decode() for text in data["texts"]]

        def named(numbers: Mapping[str, int]) -> Texts:
            return {name: texts[number] for name, number in numbers.items()}

        rows = np.array(data["ties"], dtype=np.float64).reshape(-1, 4)
        waiting = tuple(Waiting(named(each["texts"]), _block(each["block"]), float(each["share"]),
                                float(each["length"]), each["keys"]) for each in data["waiting"])
        blocks, block = tuple(_block(each) for each in data["blocks"]), rows[:, 1].astype(np.int64)
        if len(block) and not 0 <= block.min() <= block.max() < len(blocks):
            raise IndexError(f"found block {block.max()} of {len(blocks)}")
        over = data.get("over")
        alone = tuple(Call(named(each["texts"]), _block(each["chain"])) for each in data.get("alone", ()))
        return Ties(named(data["in"]), blocks, rows[:, 0], block, rows[:, 2], rows[:, 3], waiting,
                    over and (str(over[0]), Over(str(over[1][0]), int(over[1][1]))), alone)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, zlib.error) as error:
        raise FileError.at(f"the ties of the tweaks are damaged ({error!r})", None) from error


@lru_cache(_KEPT)
def _packed(text: str) -> str:
    return b85encode(zlib.compress(text.encode())).decode()


def _block(data: Any) -> Block:
    return tuple(Step(str(document), int(element), int(home), tuple((int(a), int(b)) for a, b in rounds),
                      int(repetition)) for document, element, home, rounds, repetition in data)
