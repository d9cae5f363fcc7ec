"""The scene: what plays the roles of a score."""
