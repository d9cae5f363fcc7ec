"""How a surface looks, as values for a shader (`material.py`); how light becomes a screen's colours (`tone.py`)."""
