"""Classes of clips, found from what bodies do in them.

`measures.py` follows a body in its own lengths: its path, its turns, its feet, how high it is and how it is held.
`rules.py` makes words of these numbers, by thresholds of anatomy, with names as hints. `matching.py` compares clips by
poses and velocities. `tags_file.py` keeps words of one's own in a file beside the clips.
"""
