"""Classify clips by the motion of the body.

`measures.py` measures the body in its own lengths: its path, turns, feet, height and posture. `rules.py` turns these
numbers into words, by thresholds of anatomy, with names as hints. `matching.py` compares clips by poses and
velocities. `tags_file.py` keeps the user's own tags in a file beside the clips.
"""
