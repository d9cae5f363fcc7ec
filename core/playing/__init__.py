"""From a sequence of segments to poses at any instant.

`score.py` does all of it in one call, for a `performer.py`; `alone.py` plays a clip without a score. `stage.py` defines
a stage. `sources.py` samples clips; `row.py` plays segments one after another: `transitions/`, with both `sides.py` of
a seam at the instants that `fit.py` finds, joints that hold a pose (`held.py`), and each clip's `placing/` over the
ground. `mix.py` mixes lanes; `arrangement.py`, `blocks.py` and `presence.py` make them from a score. `arms.py` keeps
arms out of the trunk, `feet/` keeps feet in contact in place. In a `scene/` the path is bent, and head and hands have
targets. `meeting.py` makes hands of two characters meet. `clock.py` applies the tempo. `motion.py` is the result, which
`bake.py` and `keying.py` read, and `ahead.py` for the preview; `why.py` explains transitions. `tweaks.py` holds an
animator's changes, tied to `moments.py` of the music (`ties.py`): blocks with `block_names.py`, found by
`block_search.py`. `tweaked.py` adds these `differences.py` to the poses, `tweaked_bodies.py` to bodies that are posed
already.
"""
