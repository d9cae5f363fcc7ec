"""The scene: objects that play the roles of a score."""
