"""Actions in Blender's Asset Browser: made of clips, and brought into scores."""
