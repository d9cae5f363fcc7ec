"""What a step of a drag costs in the score editor, part by part, without a screen.

dev.py bench score_drag lays out scores of 300 and of 2,000 blocks, of version 1 and of version 2, and prints
milliseconds of the processor, the median and the worst of many runs: of one step of a drag (from the mouse to edits,
the candidate's text read, resolved, expanded, laid out), of its parts, and of a picture of all of it and of a part. At
most 5 ms a step are wanted at 300 blocks, 30 ms at 2,000, and 3 ms a picture. Beside them a peer: the same text read
and written again by the standard library's ElementTree, which keeps neither comments nor white space in tags and knows
nothing of scores.
"""

import statistics
import sys
from collections.abc import Callable
from xml.etree import ElementTree

from takt.core.pha.document import read
from takt.core.pha.expansion import expand
from takt.core.pha.open_scores import Scores
from takt.core.pha.programme import resolve
from takt.core.pha.text import Text
from takt.core.score_editor.change import attempt
from takt.core.score_editor.drag import Drag
from takt.core.score_editor.drawing import picture
from takt.core.score_editor.gestures import begin, hit
from takt.core.score_editor.hit import Hit, Part
from takt.core.score_editor.layout import Layout, lay_out
from takt.core.score_editor.view import View
from takt.tests.core.scores import STEPS

from .timing import say, seconds

RUNS, INSIDE = 40, 20
_CLIPS = ("left", "right", "nod")


def main() -> int:
    """Measure one size after the other."""
    for blocks in (300, 2000):
        for version in (1, 2):
            _measure(blocks, version)
    return 0


def source(blocks: int, version: int) -> str:
    """Write a score of so many blocks, INSIDE of them in each of its procedures."""
    numbers = range(blocks // (INSIDE + 1))
    lines = [f'<pha tickLength="0.5" version="{version}">', '  <load src="feet.Steps"/>']
    for number in numbers:
        calls = [f'    <call name="{_CLIPS[at % 3]}" duration="{1 + at % 4}"/>' for at in range(INSIDE)]
        lines += [f'  <procedure name="part_{number}">', "    <!-- a few steps -->", *calls, "  </procedure>"]
    lines += ['  <procedure name="main">', *(f'    <call name="part_{number}" duration="40"/>' for number in numbers)]
    return "\n".join([*lines, "  </procedure>", "</pha>", ""])


def _measure(blocks: int, version: int) -> None:
    text = Text.of(source(blocks, version))
    scores = Scores.of((text,), STEPS)
    document = read(text)
    programme = resolve(document, scores)
    sequence = expand(programme)
    layout = lay_out(sequence)
    view = View(1600.0, 500.0).framed(0.0, layout.ticks)
    near = view.zoomed(layout.ticks / 60.0, 800.0)
    box = next(i for i, title in enumerate(layout.boxes.titles) if title == "nod")
    drag = begin(layout, Hit(Part.RIGHT_EDGE, float(layout.boxes.end[box]), box), scores)
    assert drag is not None
    moved = drag.to(near, 900.0, 200.0)
    assert moved.change is not None
    change, data = moved.change, str(text)
    say(f"version {version}: {len(layout)} blocks, {len(text.data) / 1000:.0f} kB")
    rows: tuple[tuple[str, Callable[[], object]], ...] = (
        ("a step of a drag", lambda: _step(layout, drag, near, scores)), ("  edit", lambda: change.apply(scores)),
        ("  read", lambda: read(text)), ("  resolve", lambda: resolve(document, scores)),
        ("  expand", lambda: expand(programme)), ("  lay out", lambda: lay_out(sequence)),
        ("peer: ElementTree", lambda: ElementTree.tostring(ElementTree.fromstring(data))),
        ("picture of all", lambda: picture(layout, view, playhead=1.0)),
        ("picture of a part", lambda: picture(layout, near, playhead=1.0)),
        ("what the mouse is over", lambda: hit(layout, near, 700.0, 400.0)))
    for name, run in rows:
        times = [1e3 * seconds(run, 1) for _ in range(RUNS)]
        say(f"  {name:24}{statistics.median(times):8.2f} ms{max(times):10.2f} ms at worst")


def _step(layout: Layout, drag: Drag, view: View, scores: Scores) -> None:
    proposal = drag.to(view, 900.0, 200.0)
    assert proposal.change is not None
    lay_out(attempt(scores, None, proposal.change, before=layout.documents[0]).sequence)


if __name__ == "__main__":
    sys.exit(main())
