"""The folders that scores and clips are looked up in. Nothing else in core opens a file."""
