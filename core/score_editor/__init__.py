"""The score editor without a screen: layout, drawing, hit tests and edits.

`layout.py` turns a sequence into boxes and seams in ticks: calls of one row with conditions and loops around them
(`boxes.py`), `lanes.py`, elements that did not play (`untaken.py`). `view.py` holds the part that a window shows, and
`opening.py` the box that is open. `drawing.py` draws both as a `picture.py`; `strip.py` draws the small version over a
motion's time, `shelf.py` the clips and procedures to insert, with `figures.py`. `gestures.py` lists what the mouse can
do, where (`hit.py`) and how (`drag.py`, `drop.py`, `nudge_beat.py`, `pull_weight.py`). Gestures and commands
(`commands.py`, `arrange.py`) return a proposal, which `change.py` tries on the open scores. `selection.py` finds the
selected blocks again after the text was edited by hand. Nothing here writes.
"""
