"""Tweaks: an animator's keys on top of the score."""
