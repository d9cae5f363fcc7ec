"""Blender's materials converted to those of the preview's shaders."""
