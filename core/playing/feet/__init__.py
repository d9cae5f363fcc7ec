"""Foot lock: feet in contact stay in place, over seams too.

`standing.py` is the stage. `footwork.py` holds what is known about feet before any pose is computed. Contacts on this
body (`clip_feet.py`) are joined over seams (`planted.py`, `steps.py`, `due_steps.py`, `shorter_steps.py`) into
`footholds.py`. Feet are led from one foothold to the next (`leading.py`), and held by `lock.py` and `legs.py`.
`soles.py` are kept above the ground, to which feet rise (`rises.py`) if a clip has them below it. The body is lowered
if legs do not reach (`lowering.py`).

With tweaks, `tweaked_feet.py` replaces the stage. It removes their effect on height and rotation of feet in contact
(`kept.py`); where no tweak acts, nothing changes. `floored.py` is the stage above, for the floors of a scene
(`prints.py`) and its seats (`seats.py`).
"""
