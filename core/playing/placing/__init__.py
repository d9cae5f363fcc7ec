"""Root motion: where over the ground the clips of a row play.

`placement.py` is a heading and a position. `root_motion.py` reads it from clips and moves the joints that travel.
`root_split.py` separates hips from the joints that carry them. `rounds.py` recognises clips that loop.
`root_alignment.py` moves a character to the position of another pose.
"""
