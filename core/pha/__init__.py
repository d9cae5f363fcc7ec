"""Procedural humanoid animation (PHA): from the text of a score to a flat sequence of segments."""
