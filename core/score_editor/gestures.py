"""What the mouse can do in the score editor: one list, in the order in which parts of the editor are asked for.

A new gesture is one entry here, with its functions: what finds its part at a point (`hit.py`), what pulling there does
(`drag.py`), and what is said of it. The mouse's look, its shortcut and the operator that takes the press follow.
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
    """Where the mouse was pressed, on what. scores: what is open and may be changed; selected: moves along.

    trims: whether an edge is to change what of a clip plays, rather than how fast.
    """

    layout: Layout
    hit: Hit
    scores: Scores
    selected: frozenset[BoxId]
    meter: Meter
    trims: bool = False

    @property
    def box(self) -> int:
        """The box that was hit."""
        assert self.hit.box is not None
        return self.hit.box

    @property
    def right_of_edge(self) -> float:
        """How many ticks right of the box's end it was pressed."""
        return self.hit.tick - float(self.layout.boxes.end[self.box])


class Gesture(NamedTuple):
    """What can be done at a part of the editor.

    find: what of it is at a point, None: nothing. cursor: how the mouse looks there, as Blender names it.
    press: what a press begins there: the operator takt.score_…; "": none, or one that asks by itself.
    modifiers: keys that may be held down with the press; the operator gives them their meaning.
    pull: what dragging does, where press is "drag".
    says: from layout, hit, why a transition is as it is, and why nothing can be pulled, to what is said at the mouse.
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
    Gesture(Part.TWEAK, parts.on_tweak, "MOVE_X", "tweak", _BOTH, says=(
        "Pull these keys to another moment; Shift: copy them, Ctrl: do not snap to beats, X: delete them")),
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
"""In the order in which they are asked: what stands first is on top."""
_OF_PART: Final = {gesture.part: gesture for gesture in GESTURES}


def presses() -> dict[Press, tuple[Modifier, ...]]:
    """Return what presses begin, each once, with the modifiers that may be held down."""
    found: dict[Press, dict[Modifier, None]] = {}
    for gesture in GESTURES:
        if gesture.press:
            found.setdefault(gesture.press, {}).update(dict.fromkeys(gesture.modifiers))
    return {press: tuple(modifiers) for press, modifiers in found.items()}


def hit(layout: Layout, view: View, x: float, y: float) -> Hit:
    """Return what lies at a pixel of a view.

    Of boxes within each other the innermost that is there; what is too narrow to be drawn counts as the one around it.
    """
    at = Point(layout, view, x, y)
    return next(found for gesture in GESTURES if (found := gesture.find(at)) is not None)


def press_of(hit: Hit) -> Press:
    """Return what a mouse press on a hit part begins."""
    return _OF_PART[hit.part].press


def cursor_of(hit: Hit) -> str:
    """Return Blender's name of the mouse cursor to show there."""
    return _OF_PART[hit.part].cursor


def begin(layout: Layout, hit: Hit, scores: Scores, *, selected: frozenset[BoxId] = frozenset(),
          meter: Meter | None = None, trims: bool = False) -> Drag | None:
    """Return the gesture that begins where the mouse was pressed, None if nothing can be pulled there.

    scores: what is open and may be changed. selected: what moves along when one of it is moved. trims: see Pressed.
    """
    pull = _OF_PART[hit.part].pull
    return None if pull is None else pull(Pressed(layout, hit, scores, selected, meter or Meter(), trims))


def why_not(layout: Layout, hit: Hit, scores: Scores) -> str:
    """Return why what the mouse is on cannot be pulled, "" if it can or where nothing looks as if it could."""
    gesture = None if hit.part is Part.BODY else begin(layout, hit, scores)
    return "" if gesture is None else gesture.refusal


def of_handle(layout: Layout, hit: Hit, why: Why | None = None, refusal: str = "") -> str:
    """Say what can be done with what is hit, or why not, or its whole name; "" if its look tells all.

    why: what is known about a transition's length; otherwise it is told by itself. refusal: why nothing can be pulled.
    """
    says = _OF_PART[hit.part].says
    return (hints.sentence(refusal) or says) if isinstance(says, str) else says(layout, hit, why, refusal)
