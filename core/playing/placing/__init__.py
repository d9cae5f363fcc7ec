"""Root motion: where over the ground the clips of a row play.

`placement.py` is a heading and a position. `root_motion.py` reads it from clips and moves the joints that travel.
`freed.py` separates hips from the joints that carry them. `rounds.py` recognises clips that loop. `carried.py` moves a
character to the position of another pose.
"""
