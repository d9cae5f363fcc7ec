"""Clips of one skeleton made to play on another."""
