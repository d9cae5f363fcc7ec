"""Where over the ground clips play that follow one another.

A `placement.py` is a heading and a position; `root_motion.py` reads it from a clip and moves what travels, `freed.py`
of what carries it. Clips that go round are known by `rounds.py`; `carried.py` takes a character to where another is.
"""
