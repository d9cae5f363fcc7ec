"""Skeletons and their poses, the hierarchy of joints, and what the joints of a body are."""
