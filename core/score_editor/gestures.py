"""The mouse gestures of the score editor: one list, in the order in which parts of the editor are tested.

A new gesture is one entry here, with its functions: one that finds its part at a point (`hit.py`), one for the drag
(`drag.py`), and its hint. The mouse cursor, its shortcut and the operator for the press follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from ..pha.open_scores import Scores
from ..playing.why import Why
from . import hints
from . import hit as parts
from .change import locked
from .contact_lines import said_of_contact
from .drag import Carry, Drag, PullEdge, PullRepeats, PullTransition
from .grid import Meter
from .hit import Hit, Part, Point
from .layout import BoxId, Layout
from .nudge_beat import NudgeBeat
from .pull_weight import PullWeight
from .trim import TrimEdge
from .view import View

Press = Literal["drag", "scrub", "contact", "tweak", "box_select", ""]
Modifier = Literal["ctrl", "shift"]


@dataclass(frozen=True, eq=False)
class Pressed:
    """A mouse press on a part. scores: the open scores, which may be changed; selected: boxes that move along.

    trims: whether an edge changes the played part of a clip rather than its speed.
    """

    layout: Layout
    hit: Hit
    scores: Scores
    selected: frozenset[BoxId]
    meter: Meter
    trims: bool = False

    @property
    def box(self) -> int:
        """The pressed box."""
        assert self.hit.box is not None
        return self.hit.box

    @property
    def right_of_edge(self) -> float:
        """Ticks from the box's end to the press."""
        return self.hit.tick - float(self.layout.boxes.end[self.box])


class Gesture(NamedTuple):
    """A gesture on one part of the editor.

    find: returns the part at a point, or None. cursor: Blender's name of the mouse cursor there.
    press: what a press starts there: the operator takt.score_…; "": none, or one that does its own test.
    modifiers: keys that may be held with the press; the operator gives them their meaning.
    pull: starts the drag, if press is "drag".
    says: a hint, or a function that returns it from layout, hit, reason of a transition's length, and refusal.
    """

    part: Part
    find: Callable[[Point], Hit | None]
    cursor: str = "DEFAULT"
    press: Press = ""
    modifiers: tuple[Modifier, ...] = ()
    pull: Callable[[Pressed], Drag | None] | None = None
    says: Callable[[Layout, Hit, Why | None, str], str] | str = ""


def _pull_seam(at: Pressed) -> Drag | None:
    return None if at.hit.seam is None else PullTransition.of(at.layout, at.hit.seam, at.hit.tick, at.scores, at.meter)


def _pull_weight(at: Pressed) -> Drag | None:
    return None if at.hit.voice is None else PullWeight.of(at.layout, at.hit, at.scores, at.meter)


def _pull_music(at: Pressed) -> Drag | None:
    return NudgeBeat.of(at.layout, at.hit.tick, at.scores, at.meter)


def _pull_edge(at: Pressed) -> Drag | None:
    of = TrimEdge.of if at.trims else PullEdge.of
    return of(at.layout, at.box, at.right_of_edge, at.scores, at.meter)


def _pull_repeats(at: Pressed) -> Drag | None:
    document = at.layout.documents[int(at.layout.boxes.document[at.box])]
    return PullRepeats(at.layout, at.box, at.right_of_edge, locked(document, at.scores))


def _carry(at: Pressed) -> Drag | None:
    own = at.layout.id_of(at.box)
    return Carry.of(at.layout, at.box, at.selected if own in at.selected else frozenset((own,)), at.scores)


def _says_contact(layout: Layout, hit: Hit, _why: Why | None, _refusal: str) -> str:
    return "" if hit.contact is None or layout.contacts is None else said_of_contact(layout.contacts, hit.contact)


def _says_tweak(layout: Layout, hit: Hit, _why: Why | None, refusal: str) -> str:
    count = 0 if layout.chosen is None else int(layout.chosen.sum())
    if layout.chosen is not None and hit.tweak is not None and count > 1 and layout.chosen[hit.tweak]:
        return hints.sentence(refusal) or (
            f"Pull the keys of {count} selected moments; Shift: copy them, Ctrl: snap to frames, X: delete them")
    return hints.sentence(refusal) or (
        "Pull these keys to another moment; Shift: copy them or select more, Ctrl: snap to frames, X: delete "
        "them")


def _says_seam(layout: Layout, hit: Hit, why: Why | None, refusal: str) -> str:
    return "" if hit.seam is None else hints.transition(layout, hit.seam, why, refusal)


def _says_weight(_layout: Layout, hit: Hit, _why: Why | None, refusal: str) -> str:
    turn = "goes out" if hit.is_right else "comes in"
    return hints.sentence(refusal) or (
        f"Pull to the side: over how long it {turn}; up and down: how much it counts")


def _says_box(layout: Layout, hit: Hit, _why: Why | None, refusal: str) -> str:
    if refusal or hit.box is None:
        return hints.sentence(refusal)
    return ". ".join(filter(None, (hints.name(layout, hit.box), hints.speed(layout, hit.box))))


_BOTH: Final = ("ctrl", "shift")
GESTURES: Final = (
    Gesture(Part.RULER, parts.on_ruler, "SCROLL_X", "scrub"),
    Gesture(Part.LABEL, parts.on_label, press="box_select", modifiers=("shift",)),
    Gesture(Part.MUSIC, parts.on_music, "MOVE_X", "drag", ("ctrl",), _pull_music,
            "Pull this beat of the music to a line; with Ctrl all beats move"),
    Gesture(Part.TWEAK, parts.on_tweak, "MOVE_X", "tweak", _BOTH, says=_says_tweak),
    Gesture(Part.EMPTY, parts.beside_lanes, press="box_select", modifiers=("shift",)),
    Gesture(Part.CONTACT, parts.on_contact, "HAND", "contact", says=_says_contact),
    Gesture(Part.SEAM, parts.on_seam, "MOVE_X", "drag", _BOTH, _pull_seam, _says_seam),
    Gesture(Part.WEIGHT, parts.on_weight, "SCROLL_XY", "drag", ("ctrl",), _pull_weight, _says_weight),
    Gesture(Part.UNTAKEN, parts.on_untaken),
    Gesture(Part.RIGHT_EDGE, parts.on_edge, "MOVE_X", "drag", _BOTH, _pull_edge, _says_box),
    Gesture(Part.REPEAT, parts.on_repeat, "MOVE_X", "drag", _BOTH, _pull_repeats, "Pull to the right to repeat it"),
    Gesture(Part.BODY, parts.on_box, "DEFAULT", "drag", _BOTH, _carry, _says_box),
    Gesture(Part.LANE, parts.on_lane, press="box_select", modifiers=("shift",)),
)
"""In the order in which they are tested: the first one is on top."""
_OF_PART: Final = {gesture.part: gesture for gesture in GESTURES}


def presses() -> dict[Press, tuple[Modifier, ...]]:
    """Return all kinds of presses, each once, with the modifiers that may be held."""
    found: dict[Press, dict[Modifier, None]] = {}
    for gesture in GESTURES:
        if gesture.press:
            found.setdefault(gesture.press, {}).update(dict.fromkeys(gesture.modifiers))
    return {press: tuple(modifiers) for press, modifiers in found.items()}


def hit(layout: Layout, view: View, x: float, y: float) -> Hit:
    """Return the part at a pixel of a view.

    Of nested boxes, the innermost one; boxes that are too narrow to be drawn count as the one around them.
    """
    at = Point(layout, view, x, y)
    return next(found for gesture in GESTURES if (found := gesture.find(at)) is not None)


def press_of(hit: Hit) -> Press:
    """Return what a mouse press on a part starts."""
    return _OF_PART[hit.part].press


def cursor_of(hit: Hit) -> str:
    """Return Blender's name of the mouse cursor for a part."""
    return _OF_PART[hit.part].cursor


def begin(layout: Layout, hit: Hit, scores: Scores, *, selected: frozenset[BoxId] = frozenset(),
          meter: Meter | None = None, trims: bool = False) -> Drag | None:
    """Return the drag that begins with a press on a part, or None if nothing can be dragged there.

    scores: the open scores, which may be changed. selected: boxes that move along with one of them. trims: see Pressed.
    """
    pull = _OF_PART[hit.part].pull
    return None if pull is None else pull(Pressed(layout, hit, scores, selected, meter or Meter(), trims))


def why_not(layout: Layout, hit: Hit, scores: Scores) -> str:
    """Return why the part under the mouse cannot be dragged; "" if it can, or if it does not look draggable."""
    gesture = None if hit.part is Part.BODY else begin(layout, hit, scores)
    return "" if gesture is None else gesture.refusal


def of_handle(layout: Layout, hit: Hit, why: Why | None = None, refusal: str = "") -> str:
    """Return the hint for a part: what can be done, why not, or a full name; "" if its look says it all.

    why: the reason of a transition's length, if known; without it, that is found from the layout. refusal: why nothing
    can be dragged.
    """
    says = _OF_PART[hit.part].says
    return (hints.sentence(refusal) or says) if isinstance(says, str) else says(layout, hit, why, refusal)
