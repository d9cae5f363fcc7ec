"""Scores: Texts, the motion that they mean now, and the blocks of the score editor."""
