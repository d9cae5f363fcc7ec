"""Convert a score of version 2 to the input of rows: parts and mirror images of clips, blocks, waits."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.excerpt import Excerpt, mirrored
from ..errors import Place, Problem, ScoreError, SkeletonMismatchError, quoted, some_of
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..pha.sequence import WAIT, Block, Lane, Sequence
from ..skeletons.body_parts import BodyMasks
from ..skeletons.maps import SkeletonMap
from ..skeletons.mirror import Mirror
from .blocks import BelowPose, BlockMaker
from .placing.root_alignment import RootAlignment
from .placing.root_motion import root_joint
from .playing import Playing
from .row import Row
from .stage import Stage

WAITING: Final = "wait"
TOGETHER: Final = "together"
"""Names of waits and blocks in place of a clip's name; names of clips have a dot."""
MAX_BLOCKS: Final = 500
"""Greatest number of blocks that differ in length, content or the pose before them; a stage is made for each."""
MAX_PIECES: Final = 1_000
"""Greatest number of different parts of clips; each part has keys of its own."""
_STILL_DEG, _MOVES_DEG = 8.0, 40.0
"""A clip counts as moving only the other side if it turns a lane's joints by less than the first angle, and those of
the other side by more than the second."""
_SAMPLES: Final = 33
Piece = Clip | Excerpt | Stage


def arranged(sequence: Sequence, clips: SequenceOf[Clip], body: SkeletonMap, playing: Playing,
             place: Place) -> tuple[Sequence, list[Piece], tuple[Problem, ...]]:
    """Return a sequence over new pieces, these pieces, and warnings.

    clips: those of the sequence, on the skeleton of body. place: the score's place in a file, for messages. Raises
    ScoreError if there are more than MAX_BLOCKS different blocks. Raises SkeletonMismatchError if the score mirrors
    a body whose left and right are unknown.
    """
    if sequence.is_mirrored is None and not sequence.blocks and (sequence.clip >= 0).all():
        return sequence, list(clips), ()
    if len(sequence.blocks) > MAX_BLOCKS:
        raise ScoreError(Problem(f"found {len(sequence.blocks)} <together> of different lengths or contents, expected "
                                 f"at most {MAX_BLOCKS}", place))
    arrangement = _Arrangement(sequence.blocks, tuple(clips), sequence.clips, body, playing, place)
    row, pieces = arrangement.row(sequence)
    return row, pieces, tuple(arrangement.said.values())


@dataclass(eq=False)
class _Arrangement:
    blocks: tuple[Block, ...]
    clips: tuple[Clip, ...]
    names: tuple[str, ...]
    body: SkeletonMap
    playing: Playing
    place: Place
    said: dict[str, Problem] = field(default_factory=dict)
    _pieces: dict[tuple[int, bool, bool, float, float], Clip | Excerpt] = field(default_factory=dict)
    _mirrored: dict[int, Clip] = field(default_factory=dict)
    _made: dict[tuple[int, bytes], Stage] = field(default_factory=dict)
    _makers: dict[tuple[int, bool], BlockMaker] = field(default_factory=dict)
    _masks: dict[int, BodyMasks] = field(default_factory=dict)
    _ranges: dict[int, tuple[Clip | Excerpt | Stage, FloatArray]] = field(default_factory=dict)

    def row(self, sequence: Sequence) -> tuple[Sequence, list[Piece]]:
        """Return the same segments with the pieces that they play."""
        different, at = _variants(sequence, len(self.clips))
        if len(different) > MAX_PIECES + len(self.clips) + len(self.blocks):
            raise ScoreError(Problem(f"found {len(different)} different parts of clips, expected at most {MAX_PIECES}",
                                     self.place))
        pieces: list[Piece | None] = []
        makers: dict[int, BlockMaker] = {}
        for number, (clip, is_mirrored, is_reversed, begin, end) in enumerate(different):
            if clip >= len(self.clips):
                makers[number] = self._maker(int(clip) - len(self.clips), bool(is_mirrored))
                pieces.append(None)
            else:
                pieces.append(self._piece(int(clip), bool(is_mirrored), bool(is_reversed), begin, end))
        names = [WAITING if key[0] < 0 else TOGETHER if number in makers else self.names[int(key[0])]
                 for number, key in enumerate(different)]
        if makers:
            at = self._with_blocks(sequence, at, pieces, names, makers)
        kept, renumbered = np.unique(at, return_inverse=True)
        chosen = [piece for piece in (pieces[i] for i in kept.tolist()) if piece is not None]
        return sequence.with_clips(tuple(names[i] for i in kept.tolist()), renumbered.reshape(-1)), chosen

    def _with_blocks(self, sequence: Sequence, at: IntArray, pieces: list[Piece | None], names: list[str],
                     makers: dict[int, BlockMaker]) -> IntArray:
        """Make the stages of blocks in the order in which they play, each over the pose before it.

        at: (S,) the piece of each segment. pieces, names: of all pieces; stages are added. makers: by piece. Returns
        `at` with the added pieces.
        """
        at = at.copy()
        below = BelowPose.of(self.body.skeleton)
        if sequence.is_loop:
            for number in _in_order_of_last(at):
                below.go_on(pieces[number])
        numbers: dict[tuple[int, bytes], int] = {}
        done = 0
        for i in np.flatnonzero(np.isin(at, list(makers))).tolist():
            for number in _in_order_of_last(at[done:i]):
                below.go_on(pieces[number])
            done = i
            maker = makers[int(at[i])]
            key = int(at[i]), below.key(maker.needed)
            if key not in numbers:
                if len(numbers) >= MAX_BLOCKS:
                    raise ScoreError(Problem(f"found more than {MAX_BLOCKS} <together> that begin in different poses, "
                                             "expected fewer, or lanes that move the whole body", self.place))
                numbers[key] = len(pieces)
                pieces.append(maker.over(below.pose if maker.needed.any() else None))
                names.append(TOGETHER)
            at[i] = numbers[key]
        return at

    def _piece(self, clip: int, is_mirrored: bool, is_reversed: bool, begin: float, end: float) -> Clip | Excerpt:
        key = clip, is_mirrored, is_reversed, begin, end
        if key not in self._pieces:
            if clip == WAIT:
                none = Tracks.empty(4), Tracks.empty(3), Tracks.empty(3)
                self._pieces[key] = Clip(WAITING, self.body.skeleton, 1.0, *none)
            else:
                whole = self._mirror_image(clip) if is_mirrored else self.clips[clip]
                is_whole = not is_reversed and (begin, end) == (0.0, 1.0)
                length = whole.duration_s
                self._pieces[key] = whole if is_whole else Excerpt(whole, begin * length, end * length, is_reversed)
        return self._pieces[key]

    def _mirror_image(self, clip: int) -> Clip:
        if clip not in self._mirrored:
            lonely = [self.body.skeleton.names[joint] for joint in self._mirror.alone if self.clips[clip].moved[joint]]
            if lonely:
                self._say(f"{quoted(self.names[clip])} is mirrored, but without a partner on the other side: "
                          + some_of(lonely))
            self._mirrored[clip] = mirrored(self.clips[clip], self._mirror)
        return self._mirrored[clip]

    @cached_property
    def _mirror(self) -> Mirror:
        return Mirror.of(self.body)

    @cached_property
    def _root(self) -> int | None:
        """The joint that carries the body in all clips."""
        return root_joint(self.clips, self.playing.followers, self.body) if self.clips else None

    def _maker(self, number: int, is_mirrored: bool) -> BlockMaker:
        key = number, is_mirrored
        if key not in self._makers:
            block = self.blocks[number]
            masks, rows = [], []
            self._say_what_mixes_with_nothing(block)
            for lane in block.lanes:
                own = self._masks.setdefault(id(lane.masks), BodyMasks(lane.masks, self.body))
                said = len(own.missing)
                mask = own.of(lane.body, lane.fade)
                for name in list(own.missing)[said:]:
                    self._say(f"<lane> body: {quoted(self.body.skeleton.name)} has nothing for {quoted(name)}")
                masks.append(mask[self._mirror.partner] if is_mirrored else mask)
                row = None if lane.sequence is None else self._lane_row(lane.sequence)
                rows.append(row)
                if row is not None:
                    self._say_what_stays_still(lane, row, masks[-1])
            clips = [clip for row in rows if row is not None for clip in row.sources.clips]
            carried = None
            if self._root is not None and any(clip.moved[self._root] for clip in clips):
                carried = RootAlignment.of(clips, self.playing.up, self.playing.followers, self.body)
            self._makers[key] = BlockMaker.of(block, rows, masks, carried, self.playing)
        return self._makers[key]

    def _lane_row(self, sequence: Sequence) -> Row:
        """Return the row of a lane. It has no transitions beside waits, since the lane fades in and out there."""
        waits = sequence.clip < 0
        cuts = waits | np.append(waits[1:], False)
        sequence, pieces = self.row(replace(sequence, transition_s=np.where(cuts, 0.0, sequence.transition_s)))
        moves_root = self._root is not None and any(piece.moved[self._root] for piece in pieces)
        row = Row.of(sequence, pieces, self.playing if moves_root else replace(self.playing, root_motion="AS_AUTHORED"))
        for problem in row.problems:
            if not problem.is_note:
                self._say(f"<lane>: {problem.message}", problem.place)
        return row

    def _say_what_mixes_with_nothing(self, block: Block) -> None:
        modes = ["", *(lane.mode for lane in block.lanes), ""]
        if any("mix" not in (modes[i - 1], modes[i + 1]) for i, mode in enumerate(modes) if mode == "mix"):
            self._say("<lane> mode: a 'mix' has no 'mix' beside it, so it lies over the lanes below, as far as it "
                      "weighs; to average two lanes, give both mode=\"mix\"")

    def _say_what_stays_still(self, lane: Lane, row: Row, mask: FloatArray) -> None:
        """Warn if a lane's clips hardly move the joints that it takes from them, but move those of the other side.

        Files that key all joints move even still ones a little, hence the thresholds. mask: (J,) weights of the joints.
        """
        pieces = [piece for piece, name in zip(row.sources.clips, row.sequence.clips, strict=True) if name != WAITING]
        own, mostly = mask > 0.0, mask > 0.5
        if not pieces or not mostly.any() or own.all():
            return
        name = next(name for name in row.sequence.clips if name != WAITING)
        if not any(piece.moved[own].any() for piece in pieces):
            self._say(f"<call> {quoted(name)} moves nothing of {quoted(lane.body)}, so its lane does nothing: name "
                      "another part of the body", _first_call(lane), is_missed=True)
            return
        try:
            other = self._mirror.partner[mostly]
        except SkeletonMismatchError:
            return
        if mostly[other].any():
            return
        turns = np.max([self._turns(piece) for piece in pieces], axis=0)
        moves, beside = np.degrees((turns[mostly].max(), turns[other].max()))
        if moves < _STILL_DEG and beside > _MOVES_DEG:
            self._say(f"<call> {quoted(name)} turns {quoted(lane.body)} by no more than {moves:.0f}°, but the other "
                      f"side by {beside:.0f}°: name that side, or mirror the call", _first_call(lane), is_missed=True)

    def _turns(self, piece: Clip | Excerpt | Stage) -> FloatArray:
        """Return the greatest angle, (J,), by which each joint turns away from its first pose in a piece."""
        if id(piece) not in self._ranges:
            rotations = piece.sample(np.linspace(0.0, piece.duration_s, _SAMPLES)).rotations
            self._ranges[id(piece)] = piece, rot.angle_between(rotations, rotations[:1]).max(axis=0)
        return self._ranges[id(piece)][1]

    def _say(self, message: str, place: Place | None = None, *, is_missed: bool = False) -> None:
        self.said.setdefault(message, Problem(message, place or self.place, is_warning=True, is_missed=is_missed))


def _first_call(lane: Lane) -> Place | None:
    """Return the place of the first clip's call in a lane, None if it is unknown."""
    assert lane.sequence is not None  # called only for lanes with clips
    steps = lane.sequence.origins.of_segment(int((lane.sequence.clip >= 0).argmax()))
    return steps[-1].place if steps else None


def _variants(sequence: Sequence, clips: int) -> tuple[list[tuple[int, bool, bool, float, float]], IntArray]:
    """Return the different combinations of (clip, mirrored, reversed, begin, end), and each segment's index (S,)."""
    assert sequence.is_mirrored is not None and sequence.is_reversed is not None and sequence.part is not None
    is_clip, is_block = (sequence.clip >= 0) & (sequence.clip < clips), sequence.clip >= clips
    parts, part = np.unique(sequence.part[:, 0] + 1j * sequence.part[:, 1], return_inverse=True)
    code = ((sequence.clip + 1) * 2 + (sequence.is_mirrored & (is_clip | is_block))) * 2
    code = (code + (sequence.is_reversed & is_clip)) * len(parts) + np.where(is_clip, part.reshape(-1), 0)
    _, first, at = np.unique(code, return_index=True, return_inverse=True)
    return [(int(sequence.clip[i]), bool(sequence.is_mirrored[i]) and not sequence.clip[i] < 0,
             bool(sequence.is_reversed[i]) and bool(is_clip[i]), float(sequence.part[i, 0]), float(sequence.part[i, 1]))
            for i in first.tolist()], at.reshape(-1)


def _in_order_of_last(numbers: IntArray) -> list[int]:
    """Return the different numbers in the order of their last occurrences.

    >>> _in_order_of_last(np.array((3, 1, 3, 2)))
    [1, 3, 2]
    """
    backwards = numbers[::-1]
    different, first = np.unique(backwards, return_index=True)
    return [int(number) for number in different[np.argsort(-first)]]
