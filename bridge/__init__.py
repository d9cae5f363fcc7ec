"""The only door between Blender's data and core's arrays. Axes, units and Blender's versions stop here."""
