"""Clips: keys of joints over time."""
