"""Meshes: their arrays, vertex groups and modifiers, and what binding reads and writes."""
