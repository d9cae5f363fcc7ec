"""Transitions between segments: weight curves, automatic durations and methods."""
