"""The poses and axes in which two bodies are compared, and pairs of their joints.

`reference.py` finds the reference pose, in the axes of the file (`file_axes.py`). `first_pose.py` leaves out a first
pose that is not part of the motion. If no frame shows a standing body, `straightened.py` makes a pose; `level_soles.py`
makes soles level. `upright.py` converts clips to other axes, `bvh_space.py` those of BVH files. `whole_body.py`
attaches separate limbs to their body. `matching.py` pairs joints. `rest_pose.py` and `palms.py` compare rest poses.
"""
