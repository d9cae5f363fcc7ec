"""Materials as values for a shader (`material.py`), and view transforms from light to screen colours (`tone.py`)."""
