"""The folders in which scores and clips are found. Only this package of core opens files."""
