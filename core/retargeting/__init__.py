"""Clips of one skeleton made to play on another.

`retarget.py` is the order of steps. Limbs that hang on something else are hung on the body, and two bodies are
compared (`comparing/`). What is the same for all keys is a `plan.py`: joints in pairs and the turns between them, with
what has no counterpart (`doubles.py`, `loose.py`, `roots.py`); it makes `target_tracks.py`. The hips go on their path
(`hips.py`), from where the clip begins (`beginning.py`). Then the body is brought to the `ground/`, and arms and hands
keep their `contacts/`, with `limbs.py` that reach elsewhere and some `skin_points.py` that stand for all the skin.
`outcome.py` tells what came of it.
"""
