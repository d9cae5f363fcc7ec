"""The shelf: folders of clips, their contents and their order."""
