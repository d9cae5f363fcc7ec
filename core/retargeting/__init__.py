"""Retargeting: clips of one skeleton made to play on another.

`retarget.py` calls the steps in order. Limbs outside the body's hierarchy are attached to it, and two bodies are
compared (`comparing/`). `plan.py` holds what is the same for all keys: pairs of joints and the turns between them, and
joints without counterpart (`doubles.py`, `loose.py`, `roots.py`). `target_tracks.py` makes the tracks from it. The hips
follow their path (`hips.py`), from where the clip begins (`beginning.py`). Then the body is placed on the ground
(`ground/`), and arms and hands keep their contacts (`contacts/`). Both move limbs (`limbs.py`), and use samples of the
skin (`skin_points.py`). `outcome.py` reports the results.
"""
