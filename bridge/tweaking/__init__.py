"""Tweaks: an animator's keys above the score."""
