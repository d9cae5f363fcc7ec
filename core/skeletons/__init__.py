"""Skeletons and their poses, the hierarchy of joints, and the anatomical meaning of joints."""
