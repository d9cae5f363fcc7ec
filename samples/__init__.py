"""Takt's own character, clips and scores, and the scripts that make them. Nothing here comes from elsewhere."""
