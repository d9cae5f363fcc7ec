"""The shelf: folders of clips, what lies there, and in which order."""
