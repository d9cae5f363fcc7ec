"""The score editor, without a screen: what lies where, what is drawn, what the mouse points at and what it changes.

`layout.py` turns a sequence into boxes and seams in ticks: calls of one row with conditions and loops around them
(`boxes.py`), `lanes.py`, what did not play (`untaken.py`). A `view.py` says what a window shows, and inside of which
box (`opening.py`); `drawing.py` makes a `picture.py` of both, `strip.py` the small one over a motion's time,
`shelf.py` that of what can be put in, with `figures.py`; `gestures.py` lists what the mouse can do, where (`hit.py`)
and how (`drag.py`, `drop.py`, `nudge_beat.py`, `pull_weight.py`). Gestures and commands (`commands.py`, `arrange.py`)
lead to a proposal, which `change.py` tries on the open scores. `selection.py` finds blocks again in a text that was
typed meanwhile, by what they say. Nothing here writes.
"""
