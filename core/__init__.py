"""Takt's core: numpy only, no Blender.

Conventions that hold everywhere in here: quaternions are wxyz; vectors are columns and matrices are
called ``target_from_source``; arrays are batch first (F frames, J joints, V vertices, K influences);
lengths are in the skeleton's own unit, times in seconds, angles in radians; float64.
"""
