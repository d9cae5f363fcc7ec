"""Armatures: their bones, joints, limits and constraints, and the motion of bones and objects."""
