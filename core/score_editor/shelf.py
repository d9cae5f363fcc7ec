"""The shelf below a score: clips and procedures to insert, as chips in groups, filtered by a search.

A chip of a clip shows a figure in its most telling pose; a larger one moves while the mouse is over the chip. All
chips have the same width, so that none moves when its figure or its length becomes known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from .commands import Playable
from .figures import Figure, figure_triangles
from .names import own_part
from .overlay import height_of_words
from .picture import Colour, Layer, Pen, Say, clipped
from .theme import Theme
from .view import View

SHELF_PX, LOW_SHELF_PX, CHIP_PX = 116.0, 70.0, 42.0
"""Heights of the shelf, of a shelf with a single row, and of a chip, in pixels at an interface scale of 1."""
CHIP_WIDE_PX = 132.0
"""Width of each chip, likewise."""
ACTIONS, OTHER_ACTIONS = "Actions", "Actions of Other Characters"
"""Groups of the open file's Actions, which come last among clips."""
FAVOURITES = "Your Favourites"
"""Group of the clips that the user likes, which come first."""
CLIPS, THIS_SCORE = "Clips", "This Score"
"""Groups of files beside the library's folders, and of procedures."""
_CUT_OFF = "cut off"
DAMAGED = "cannot be read: "
"""The beginning of messages that say why a file cannot be read."""
NO_CLIP = "holds no clip: "
"""The beginning of messages about intact files without clips, such as models."""
OF_FILES = DAMAGED, NO_CLIP
"""The beginnings of problems of files that a score could call."""
_GAP_PX, _PAD_PX, _TITLE_PX, _FIGURE_PX = 6.0, 7.0, 18.0, 30.0
_CARD_PX, _ABOVE_PX = 120.0, 8.0
_OURS = frozenset((ACTIONS, OTHER_ACTIONS, FAVOURITES, CLIPS, THIS_SCORE))
_PLACES = {FAVOURITES: -1, ACTIONS: 1, OTHER_ACTIONS: 2}
_MOST_OF = 2.5
"""A window lower than this many shelves shows no shelf."""
_OF_FILE, _SRC = attrgetter("src", "is_clip", "shelf_group"), attrgetter("src")
_SMALL = 0.85
"""Text size of durations, relative to that of names."""


@dataclass(frozen=True, eq=False)
class Shelf:
    """The chips of the shelf with their positions.

    playables: N; boxes: (N, 4) in pixels; titles: of the groups, with their positions. height: of the shelf, 0 if
    the window has no room for one; farthest: limit of scrolling, in pixels. order: (N,) number of each chip's playable
    among the arranged ones.
    """

    playables: tuple[Playable, ...]
    boxes: FloatArray
    titles: tuple[tuple[str, float, float], ...]
    height: float
    farthest: float
    order: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    def told_anew(self, playables: Sequence[Playable]) -> Shelf:
        """Return the same chips in the same places with updated playables, given in the order of arrange()."""
        return replace(self, playables=tuple(map(playables.__getitem__, self.order.tolist())))

    def as_now(self, playable: Playable) -> Playable:
        """Return a playable with what is known of it now, itself if it is not on the shelf any longer."""
        number = self.number_of(playable)
        return playable if number is None else self.playables[number]

    def number_of(self, playable: Playable) -> int | None:
        """Return the number of a playable's chip, None if it has none."""
        src = playable.src
        return next((number for number, each in enumerate(self.playables)
                     if each.src == src and each == playable), None)

    def seen(self, view: View) -> IntArray:
        """Return which of the chips a window shows at least a part of."""
        return np.flatnonzero((self.boxes[:, 2] > view.left) & (self.boxes[:, 0] < view.width))

    def at(self, x: float, y: float) -> Playable | None:
        """Return the playable at a pixel."""
        if not 0.0 <= y <= self.height or not len(self.boxes):
            return None
        boxes = self.boxes
        inside = np.flatnonzero((boxes[:, 0] <= x) & (x <= boxes[:, 2]) & (boxes[:, 1] <= y) & (y <= boxes[:, 3]))
        return self.playables[int(inside[0])] if len(inside) else None


def found(playables: Iterable[Playable], search: str) -> tuple[Playable, ...]:
    """Return those whose names, files or tags contain all words of a search, ignoring case.

    If the search has commas, the phrases between them are looked for instead of single words.

    >>> [each.name for each in found([Playable("feet.Steps", "left", 1.0), Playable("hands", "clap", 1.0)], "STEP le")]
    ['left']
    >>> [each.name for each in found([Playable("a", "a", 1.0, tags=("walk", "turning left")), Playable(
    ...     "left", "b", 1.0, tags=("walk",))], "walk, turning left")]
    ['a']
    """
    words = phrases(search)
    if not words:
        return tuple(playables)
    return tuple(each for each in playables if all(word in (each.found_by or found_by(each)) for word in words))


def phrases(search: str) -> list[str]:
    """Return what a search looks for: phrases between commas, else words.

    >>> phrases("Walk, turning left,"), phrases("walk LEFT")
    (['walk', 'turning left'], ['walk', 'left'])
    """
    whole = search.casefold()
    return [word for each in whole.split(",") if (word := each.strip())] if "," in whole else whole.split()


def found_by(playable: Playable) -> str:
    """Return the names and tags of a chip as text for searches."""
    return f"{playable.full_name}\n{', '.join(playable.tags)}".casefold() if playable.tags else (
        playable.full_name.casefold())


def height_of(view: View, score_px: float) -> float:
    """Return the height of the shelf below a score of a height: lower if it would cover the score's lower end.

    >>> height_of(View(800, 400), 200.0), height_of(View(800, 300), 200.0), height_of(View(800, 100), 60.0)
    (116.0, 70.0, 0.0)
    """
    high, low = SHELF_PX * view.scale, LOW_SHELF_PX * view.scale
    height = high if view.height - score_px >= high else low
    return height if view.height >= _MOST_OF * height else 0.0


def arrange(playables: Iterable[Playable], view: View, theme: Theme, *, scroll_px: float = 0.0,
            score_px: float = 0.0) -> Shelf:
    """Arrange chips, group by group, in as many rows as fit; the rest is farther to the right.

    A group is a file, or a folder of files with one clip each; a search that finds one clip of a file changes no group.
    Clips come first, so that they stay in place when procedures are made. Then come the file's Actions, the score's own
    procedures, and other scores, in order. If a group begins to the left of the window, its title is at the left edge.
    score_px: height of the score above.
    """
    height, px, size = height_of(view, score_px), view.scale, theme.size_px * view.scale
    rows = max(int((height / px - _TITLE_PX - _GAP_PX) // (CHIP_PX + _GAP_PX / 2.0)), 1)
    wide, tall = (CHIP_WIDE_PX + _GAP_PX) * px, (CHIP_PX + _GAP_PX / 2.0) * px
    start, lefts, numbers = max(view.left, 2.0 * _PAD_PX * px), list[float](), list[int]()
    left, kept, titles = start - scroll_px, list[int](), list[tuple[str, float, float]]()
    playables = tuple(playables)
    for title, chips in _grouped(playables):
        columns = -(-len(chips) // rows)
        numbers.extend(range(len(chips)))
        lefts += [left] * len(chips)
        kept += chips
        words = title
        if columns > 1 or "." in title:
            words = clipped(title, columns * wide - _GAP_PX * px, size, theme.measure)
        words_px = theme.measure(words, size)
        whole_px = max(columns * wide, words_px)
        titles.append((words, min(max(left, start), left + whole_px - words_px), height - 0.75 * _TITLE_PX * px))
        left += whole_px + _GAP_PX * px
    number = np.array(numbers, dtype=np.int64)
    x, high = np.array(lefts) + number // rows * wide, height - _TITLE_PX * px - number % rows * tall
    boxes = np.stack((x, high - CHIP_PX * px, x + CHIP_WIDE_PX * px, high), axis=-1)
    return Shelf(tuple(map(playables.__getitem__, kept)), boxes, tuple(titles), height,
                 max(left + scroll_px - view.width, 0.0), np.array(kept, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class OnShelf:
    """What a shelf shows besides its chips.

    hovered: the playable under the mouse. words: shown if the shelf is empty. note: a problem of the whole shelf.
    figures: of clips, as far as known. colours: numbers of the score's procedures, by name.
    """

    hovered: Playable | None = None
    words: str = ""
    note: str = ""
    figures: Mapping[Playable, Figure] = field(default_factory=dict)
    colours: Mapping[str, int] = field(default_factory=dict)


def shelf_layers(shelf: Shelf, view: View, theme: Theme, shown: OnShelf | None = None) -> tuple[Layer, ...]:
    """Draw a shelf, each chip in the colour of its block in the score."""
    shown = shown or OnShelf()
    pen, px, size, say = Pen(), view.scale, theme.size_px * view.scale, theme.say
    if shelf.height <= 0.0:
        return ()
    pen.rectangle((0.0, 0.0, view.width, shelf.height), theme.mixed(0.03))
    pen.rectangle((0.0, shelf.height - px, view.width, shelf.height), theme.mixed(0.2))
    seen = shelf.seen(view)
    chips = [shelf.playables[chip] for chip in seen.tolist()]
    is_clip = np.array([each.is_clip for each in chips], np.bool_)
    colour = np.array([0 if each.is_clip else shown.colours.get(each.name, 0) for each in chips], np.int64)
    fills = theme.fills(colour, np.zeros(len(colour), np.int64), is_clip)
    for each, box, fill in zip(chips, shelf.boxes[seen], fills.tolist(), strict=True):
        red, green, blue, _ = theme.mixed(0.1) if each.problem else fill
        pen.rectangle(box, (red, green, blue, 1.0), radius=3.0 * px, outline_px=px,
                      outline=theme.text if each == shown.hovered else theme.mixed(0.25))
        _on_chip(pen, each, box, shown.figures.get(each), view, theme)
    for title, x, y in shelf.titles:
        if -view.width < x < view.width:
            pen.text(say(title) if title in _OURS else title, x, y, 0.9 * size, theme.faint)
    if shown.words and not len(shelf.boxes):
        pen.text(shown.words, max(view.left, 2.0 * _PAD_PX * px), 0.45 * shelf.height, size, theme.faint)
    front = Pen()
    front.rectangle((view.width, 0.0, 2.0 * view.width, shelf.height - px), theme.mixed(0.03))  # below the sidebar
    if shown.note:
        said = clipped(shown.note, 0.7 * (view.width - view.left), 0.9 * size, theme.measure)
        left = view.width - theme.measure(said, 0.9 * size) - 3.0 * _PAD_PX * px
        front.rectangle((left, shelf.height - _TITLE_PX * px, view.width, shelf.height - px), theme.mixed(0.03))
        front.text(said, left + _PAD_PX * px, shelf.height - 0.75 * _TITLE_PX * px, 0.9 * size, theme.warning)
    if view.left > 0.0:  # drawn over chips that are scrolled to the left
        front.rectangle((0.0, 0.0, view.left - px, shelf.height - px), theme.mixed(0.03))
        left, middle = 2.0 * _PAD_PX * px, 0.55 * shelf.height  # a press there opens the choice of a folder
        for said, low, much, share in ((say("Library"), 0.0, size, 0.8), (say("+ Folder…"), 1.8, _SMALL * size, 0.9)):
            front.text(clipped(said, view.left - left, much, theme.measure), left, middle - low * size, much,
                       theme.mixed(share))
    return pen.layer(), front.layer()


def card_layer(shelf: Shelf, chip: Playable, figure: Figure, time_s: float, view: View, theme: Theme, *,
               words: str = "") -> Layer:
    """Draw a card above the shelf with a clip's figure at a time of its motion; words: what is written below it."""
    pen, px = Pen(), view.scale
    number = shelf.number_of(chip)
    if number is None or view.height < shelf.height + _CARD_PX * px:
        return pen.layer()
    left, _, right, _ = shelf.boxes[number].tolist()
    x = min(max((left + right - _CARD_PX * px) / 2.0, view.left), max(view.width - _CARD_PX * px, 0.0))
    low = min(shelf.height + _ABOVE_PX * px + height_of_words(words, view, theme), view.height - _CARD_PX * px)
    box = np.array((x, low, x + _CARD_PX * px, low + _CARD_PX * px))
    pen.rectangle(box, theme.mixed(0.02), radius=3.0 * px, outline=theme.mixed(0.5), outline_px=px)
    pen.triangles(*figure_triangles(figure, figure.instant(time_s), box, theme.mixed(0.95), theme.mixed(0.55), px))
    return pen.layer()


def _on_chip(pen: Pen, playable: Playable, box: FloatArray, figure: Figure | None, view: View, theme: Theme) -> None:
    """Draw the contents of a chip: name, length and figure; clips get the same room before their figure is known."""
    px, size = view.scale, theme.size_px * view.scale
    left, low, right, high = box.tolist()
    text = left + ((_PAD_PX / 2.0 + _FIGURE_PX + 1.0) if playable.is_clip else _PAD_PX) * px
    room = right - text - 0.5 * _PAD_PX * px
    if figure is not None:
        frame = np.array((left + _PAD_PX / 2.0 * px, low + 2.0 * px, text - px, high - 2.0 * px))
        pen.triangles(*figure_triangles(figure, figure.telling, frame, theme.mixed(0.95), theme.mixed(0.6), px))
    title, says = (clipped(words, room, much, theme.measure) for words, much in (
        (playable.title, size), (_seconds(playable, theme.say), _SMALL * size)))
    pen.text(title, text, low + 0.56 * CHIP_PX * px, size, theme.faint if playable.problem else theme.text)
    if playable.is_favourite:
        pen.triangles(*_star((right - 1.4 * _PAD_PX * px, low + 1.4 * _PAD_PX * px), 0.8 * _PAD_PX * px, theme.warning))
    colour = (theme.faint if playable.problem.startswith(NO_CLIP) else theme.error if playable.problem else
              theme.warning if playable.cut_off else theme.mixed(0.75))
    pen.text(says, text, low + 0.2 * CHIP_PX * px, _SMALL * size, colour)


def _star(middle: tuple[float, float], radius: float, colour: Colour) -> tuple[FloatArray, FloatArray]:
    """Return the corners (30, 2) of triangles that are a star of five points, and their colours."""
    turns = np.pi * (0.5 + np.arange(11) / 5.0)
    reach = radius * np.where(np.arange(11) % 2, 0.4, 1.0)
    rim = np.array(middle) + reach[:, None] * np.stack((np.cos(turns), np.sin(turns)), axis=-1)
    corners = np.stack((np.broadcast_to(middle, (10, 2)), rim[:-1], rim[1:]), axis=1).reshape(-1, 2)
    return corners, np.tile(colour, (len(corners), 1))


def _seconds(playable: Playable, say: Say) -> str:
    if playable.problem:
        return say("cannot be read" if playable.problem.startswith(DAMAGED) else
                   "holds no clip" if playable.problem.startswith(NO_CLIP) else "cannot be called")
    if not playable.is_read:
        return say("not read yet")
    return f"{playable.duration_s:.3g} s{f', {say(_CUT_OFF)}' * bool(playable.cut_off)}"


def told(playable: Playable, tick_s: float) -> str:
    """Return the description of a playable: its name and its length in seconds and in ticks at a tempo.

    >>> told(Playable("feet.Steps", "left", 1.2), 0.8)
    'feet.Steps.left: 1.2 s, 1.5 ticks at this tempo'
    """
    if playable.problem:
        return f"{playable.src} {playable.problem}"
    if not playable.is_read:
        return f"{playable.src}: not read yet; drag it into the score to read it"
    length = f"{playable.duration_s:.3g} s, {playable.duration_s / tick_s:.3g} ticks at this tempo"
    more = (playable.cut_off, ", ".join(playable.tags))
    return " · ".join((f"{playable.full_name}: {length}", *filter(None, more)))


def _grouped(playables: Sequence[Playable]) -> list[tuple[str, list[int]]]:
    """Return the groups: their titles, and the numbers of their playables."""
    srcs = list(map(_SRC, playables))  # there may be very many
    several = {src for src, chips in Counter(srcs).items() if chips > 1}
    of_part = Counter(_OF_FILE(playables[at]) for at, src in enumerate(srcs) if src in several) if several else {}
    alone: dict[str, list[int]] = {}  # by folder; lookup needs no compound key
    groups: dict[tuple[bool, int, bool, str], list[int]] = {}
    for number, (each, src) in enumerate(zip(playables, srcs, strict=True)):
        is_clip, group = each.is_clip, each.shelf_group
        if is_clip and not group and not each.is_one_of_many and (
                src not in several or of_part[src, is_clip, group] == 1):
            folder = src.rpartition(".")[0] if each.name != src and not each.problem else _folder(each)
            there = alone.get(folder)
            if there is None:
                there = alone[folder] = groups.setdefault((False, 0, False, folder), [])
        else:
            there = groups.setdefault((not is_clip, _PLACES.get(group, 0), False, group) if group else
                                      (not is_clip, 0, True, src), [])
        there.append(number)
    in_order = sorted(groups, key=lambda group: (group[0], group[1], group[3] != ""))
    paths = [group[3] for group in in_order]
    names = told_apart(paths, [_name(group[3], playables[groups[group][0]]) for group in in_order])
    return [(group[3] if playables[groups[group][0]].shelf_group else name or (THIS_SCORE if group[0] else CLIPS),
             groups[group]) for group, name in zip(in_order, names, strict=True)]


def told_apart(paths: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names of dotted paths, each with as much of its path as tells it from the others.

    >>> told_apart(["walks.slow", "a.runs.slow", "fast"], ["slow", "slow", "fast"])
    ['walks.slow', 'runs.slow', 'fast']
    >>> told_apart(["king.takes.day 1.raw", "fool.takes.day 1.raw", "raw"], ["raw"] * 3)
    ['king.….raw', 'fool.….raw', 'raw']
    """
    found, parts = list(names), [path.split(".") for path in paths]
    alike = Counter(names)
    rest = [at for at, name in enumerate(names) if alike[name] > 1 and name]
    much = {at: names[at].count(".") + 1 for at in rest}
    while rest:
        ends = {at: ".".join(parts[at][-much[at]:]) for at in rest}
        alike = Counter(ends.values())
        for at, end in ends.items():
            is_long = much[at] > names[at].count(".") + 2 and alike[end] == 1
            found[at] = f"{parts[at][-much[at]]}.….{names[at]}" if is_long else end
            much[at] += 1
        rest = [at for at in rest if alike[ends[at]] > 1 and much[at] <= len(parts[at])]
    alike = Counter(found)  # if the part that is left out is the difference
    return [paths[at] if alike[name] > 1 and "…" in name else name for at, name in enumerate(found)]


def _name(path: str, chip: Playable) -> str:
    """Return the name of a folder or file by its dotted path; chip: one in it, which knows names that have dots."""
    return next((name for name in chip.dotted if path == name or path.endswith(f".{name}")), path.rpartition(".")[2])


def _folder(chip: Playable) -> str:
    """Return the folder of a chip's file, dotted; src is a path for a file that no src leads to."""
    src = chip.src
    if chip.problem and not chip.problem.startswith(OF_FILES):
        return src.rpartition("/")[0].replace("/", ".")
    if chip.name == src:  # src is also the clip's name, as for Actions, where a number is no folder
        return src.removesuffix(own_part(src)).removesuffix(".")
    return src.rpartition(".")[0]
