"""How long an edit of a large score's text takes, beside the same edit by the standard library's XML trees.

dev.py bench edit_text prints, in processor time, for 1 MB of score (at most 50 ms an edit are wanted):
  read     the text as a tree with all its places, by Takt, and by xml.etree and xml.dom.minidom, which keep none;
  edit     each kind of edit in the middle of it, read again and compared with what is wanted included;
  undo     the same taken back;
  peer     one attribute set by xml.dom.minidom: read, set, written (it loses the layout of the attributes);
  drag     an edit and the document that follows from it, 300 and 2,000 calls (5 and 30 ms are wanted of a drag's step).
"""

import sys
from collections.abc import Callable
from xml.dom import minidom
from xml.etree import ElementTree

import checkout  # noqa: F401

from takt.core.pha.document import read
from takt.core.pha.edits import Edit, Insert, Move, Remove, RemoveAttribute, SetAttribute, Unwrap, Wrap, apply, element
from takt.core.pha.text import Text

from .timing import say, seconds

BYTES, CALLS_A_PROCEDURE, RUNS = 2**20, 40, 9


def main() -> int:
    """Measure everything, the best of a few runs."""
    data = _score(BYTES)
    text = Text.of(data)
    say("read", f"{len(data) / 2**20:.2f} MB, {len(text)} elements: {_ms(lambda: Text.of(data)):.1f} ms; etree "
                f"{_ms(lambda: ElementTree.fromstring(data)):.1f} ms; minidom "
                f"{_ms(lambda: minidom.parseString(data)):.0f} ms")
    worst = 0.0
    for edit in _edits(text):
        took = _ms(lambda edit=edit: apply(text, edit))  # type: ignore[misc]
        edited = apply(text, edit)
        back = _ms(lambda edited=edited: apply(edited.text, *edited.inverse))  # type: ignore[misc]
        worst = max(worst, took, back)
        say("edit", f"{took:5.1f} ms, undo {back:5.1f} ms   {edit}")
    say("worst", f"{worst:.1f} ms")
    say("peer", f"minidom: {_ms(lambda: _by_minidom(data)):.0f} ms")
    for calls in (300, 2000):
        small = Text.of(_score(calls * 52))
        middle = len(small) // 2
        drag = _ms(lambda small=small, middle=middle: read(apply(  # type: ignore[misc]
            small, SetAttribute(middle, "duration", "3.25")).text))
        say("drag", f"{len(small)} elements: {drag:.1f} ms")
    return 0


def _score(size: int) -> bytes:
    """Write procedures of calls, with comments, until they are as large."""
    rows = ['<?xml version="1.0" encoding="UTF-8"?>\n<pha tickLength="0.5">\n  <load src="feet.Steps"/>\n']
    so_far = number = 0
    while so_far < size:
        calls = "".join(f'    <call name="feet.Steps.step_{i % 7}" duration="{i % 4 + 1}"/>\n'
                        for i in range(CALLS_A_PROCEDURE))
        rows.append(f'\n  <!-- figure {number} -->\n  <procedure name="figure_{number}">\n{calls}  </procedure>\n')
        so_far, number = so_far + len(rows[-1]), number + 1
    return "".join((*rows, "</pha>\n")).encode()


def _edits(text: Text) -> list[Edit]:
    """Return one edit of each kind, in the middle of the text."""
    procedure = len(text) // 2
    while text.shape.tags[procedure] != "procedure":
        procedure += 1
    return [SetAttribute(procedure + 1, "duration", "7"), SetAttribute(procedure + 1, "transition", "1"),
            RemoveAttribute(procedure + 1, "duration"),
            Insert(procedure, 3, element("call", name="bow", duration="2")), Remove(procedure + 2),
            Move(procedure + 2, procedure, 9), Move(procedure, 0, 1), Wrap(procedure, 3, 9, "loop", (("times", "2"),)),
            Unwrap(procedure)]


def _by_minidom(data: bytes) -> bytes:
    document = minidom.parseString(data)
    calls = document.getElementsByTagName("call")
    calls[len(calls) // 2].setAttribute("duration", "7")
    return document.toxml("utf-8")


def _ms(work: Callable[[], object]) -> float:
    """Return the least processor time that a piece of work took."""
    return seconds(work, RUNS) * 1e3


if __name__ == "__main__":
    sys.exit(main())
