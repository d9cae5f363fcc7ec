"""Arrays, rotations and the reduction of keys: mathematics that knows nothing of characters."""
