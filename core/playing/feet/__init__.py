"""Planted feet that stay where they are, over seams too.

`standing.py` is the stage; `footwork.py` is what clips tell of it before any pose is asked for. Contacts on this body
(`clip_feet.py`) are put together over seams (`planted.py`, `steps.py`, `due_steps.py`, `shorter_steps.py`) into
`footholds.py`. Feet are led from one to the next (`leading.py`), held by `lock.py` and `legs.py`, with `soles.py` above
the ground, to which they rise (`rises.py`) where a clip has them below it. The body is lowered where legs do not reach
(`lowering.py`).

Above tweaks, `tweaked_feet.py` takes the stage's place: what they do to the height and turn of feet that stand is taken
back (`kept.py`), and where they do not act all is as without them. `floored.py` is the stage above, over the floors of
a scene (`prints.py`) and on its seats (`seats.py`).
"""
