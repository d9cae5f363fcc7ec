"""Files: clips and characters that are read and written."""
