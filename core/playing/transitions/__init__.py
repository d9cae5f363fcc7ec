"""Transitions between segments: weight curves, automatic lengths, and methods."""
