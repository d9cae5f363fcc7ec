"""Armatures: their bones, joints, limits and constraints, and where bones and objects are over time."""
