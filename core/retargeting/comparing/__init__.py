"""The poses and axes in which two bodies are compared, and pairs of their joints.

A `reference.py` pose is found in the axes of the file (`file_axes.py`), without a `first_pose.py` that is not part of
the motion. If no frame shows a standing body, the pose is `straightened.py`; soles are made level by `level_soles.py`.
Clips are brought `upright.py`, those of BVH files into `bvh_space.py`. `whole_body.py` attaches separate limbs to their
body. Joints are paired by `matching.py`, and rest poses compared by `rest_pose.py` and `palms.py`.
"""
