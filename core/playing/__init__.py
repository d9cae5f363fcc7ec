"""From a sequence of segments to poses at any instant.

`score.py` does all of it in one call, `alone.py` for a clip without a score; `stage.py` says what a stage is.
`sources.py` samples clips; `row.py` plays segments one after another: `transitions/`, on both `sides.py` of a seam,
left where `fit.py` says, joints that hold a pose (`held.py`), each clip's `placing/` over the ground. `mix.py` lays
lanes over each other; `arrangement.py`, `blocks.py` and `presence.py` make them of what a score says. `arms.py` go
round the trunk, and planted `feet/` stay. In a `scene/` the way is bent, and head and hands aim at something.
`meeting.py` lets hands of two characters meet. `clock.py` bends time. `motion.py` is the end, which `bake.py` and
`keying.py` read, and `ahead.py` for who watches; `why.py` tells of a transition. `tweaks.py` holds what an animator has
changed above all that, tied to `moments.py` of the music (`ties.py`); `tweaked.py` adds these `differences.py` to the
poses, `tweaked_bodies.py` to bodies that are posed already.
"""
