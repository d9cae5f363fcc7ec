"""Paths in the scene: to places, and along curves; props, floors and meetings.

A score names roles. `cast.py` has the objects that play them, still or moving, in the character's model space.
`ground_curve.py` is a curve over the ground. `warp.py` bends the path of a motion onto it, as a whole and smoothly.
`warping.py` finds that warp from the score, `fitting.py` the number of repetitions, and `warped.py` is the stage.
`seats.py` finds the calls that sit, and their seats. `aim.py` lists what a body aims at; `look.py` and `reach.py` do
so, and `pulls.py` solves hands that follow each other. `carried.py` has props in hands: `taking.py` says when hands
take them, `hold.py` computes the result, with positions from `known_hands.py`. `grip.py` closes hands, `meet.py` says
which hands meet others, `aimed.py` is the stage of all these.
"""
