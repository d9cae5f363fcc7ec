"""Meshes: their arrays, vertex groups and modifiers, and reading and writing for binding."""
