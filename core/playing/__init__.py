"""From a sequence of segments to poses at any instant.

`score.py` does all of it in one call, `alone.py` for a clip without a score; `stage.py` says what a stage is.
`sources.py` samples clips; `row.py` plays segments one after another: `transitions/`, on both `sides.py` of a seam,
left where `fit.py` says, joints that hold a pose (`held.py`), `root_motion.py` and `placement.py`, hips `freed.py` of
what carries them. `mix.py` lays lanes over each other; `arrangement.py`, `blocks.py` and `presence.py` make them of
what a score says. `feet.py` keeps planted feet: contacts on this body (`clip_feet.py`), put together over seams
(`steps.py`, `due_steps.py`, `shorter_steps.py`) into `footholds.py`, held by `feet_lock.py` and `legs.py`, with
`soles.py` above the ground, to which they rise (`rises.py`) where a clip has them below it. `clock.py` bends time.
`motion.py` is the end, which `bake.py` and `keying.py` read, and `ahead.py` for who watches; `why.py` tells of a
transition.
"""
