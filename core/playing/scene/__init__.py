"""Ways in the scene: to places, and along paths.

A score names roles; `cast.py` has what plays them, still or moving, in the model space of the character.
`ground_curve.py` is a curve over the ground. `warp.py` bends the way of a motion onto it, as a whole and smoothly;
`warping.py` finds that warp from what a score says, `fitting.py` how often a call is repeated for it, and `warped.py`
is the stage that plays it. `ways.py` says when ways begin and end, `seats.py` which calls sit, and on what, and
`sits.py` where hips come down there. `detour.py` leads around seats. `edges.py` finds edges of floors that are too high
for a step. `aim.py` has what a body aims at, `look.py` and `reach.py` do so, `looks_behind.py` leaves out what heads
do not turn to, and `pulls.py` finds where that brings hands that follow each other. `carried.py` has props in hands:
`taking.py` says when hands take them, `hold.py` what comes of it, with what `known_hands.py` found. `grip.py` closes
hands, `meet.py` says which hands meet others, `aimed.py` is the stage of all these.
"""
