"""The pose and the axes in which two bodies are compared, and which joint of one goes with which of the other.

A `reference.py` pose is found in the axes of the file (`file_axes.py`), without a `first_pose.py` that is no part of
the motion, or `straightened.py` where no frame stands, on `level_soles.py`. Clips are brought `upright.py`, those of
BVH files into `bvh_space.py`. `whole_body.py` hangs limbs on the body that they belong to; joints are paired by
`matching.py`, and rest poses compared by `rest_pose.py` and `palms.py`.
"""
