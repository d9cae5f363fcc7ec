"""Materials, as what the preview's shaders draw."""
