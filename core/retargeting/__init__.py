"""Clips of one skeleton made to play on another.

`retarget.py` is the order of steps: limbs that hang on something else hung on the body (`whole_body.py`), the pose in
which bodies are compared (`reference.py`, in the axes of the file, `file_axes.py`; where no frame stands,
`straightened.py`; on level soles by `level_soles.py`), joints paired (`matching.py`), turns from one body's axes to the
other's (`plan.py`, `target_tracks.py`; between rest poses by `rest_pose.py` and `palms.py`), where it begins
(`beginning.py`), the hips' path (`hips.py`), the height of the feet (`ground_by_joints.py`), of what else bears a body
(`bearing_others.py`) and of the skin (`ground.py`, while the clip's body is `touching.py` the ground, of the
`lowest_skin.py` among some `skin_points.py` as far as it is `bearing_skin.py`, as high as the `lift_of_touching.py`
parts has it, with toes bent by `toes.py`; `off_ground.py` has feet leave and come as in the clip; on a
`lower_ground.py` where a clip goes down; of a body that has none, `ground_without_legs.py`), to which a body is brought
by `grounding.py`, as softly as its legs let it by `soft_ground.py`, along a `smooth_lift.py`, which lies on seat or
back (`bearing_trunk.py`) where the clip's does (`tipped.py`), legs beside it turned to the ground with it
(`seated_legs.py`), its head resting on the ground (`resting_head.py`), hands that do not bear it (`bearing_hands.py`)
out of the ground by their own arms (`arms_off_ground.py`), arms outside the trunk (`arms.py`, by the shape of a
`trunk.py`) and hands that touch each other or the body (`hands.py`, by `hands_and_body.py`, whose parts are a `hull.py`
each), both without a jerk (`eased.py`) and in one go (`kept_contacts.py`). Limbs reach elsewhere by `limbs.py`.
`outcome.py` tells what came of it.
"""
