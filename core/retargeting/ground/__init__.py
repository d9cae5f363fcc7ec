"""A body on the ground, with the heights and contact weights of the clip (docs/contacts.md).

`all_steps.py` is their order. `contact_detection.py` finds the contacts of the clip's body once; all others read them.
`body_skin.py` is the one model of a body over the ground: which skin may bear it (`bearing_skin.py`), what is of seat
and back (`bearing_trunk.py`), and how high each part is (`lowest_skin.py`); `balance.py` tells whether it would fall.
`grounding.py` lifts a body and draws its feet up. Feet are as high as the clip's first `by_joints.py`, then, where it
is known, `by_skin.py`: while a part of the clip's body is `touching.py` the ground, its skin is on it, by the
`lift_of_touching.py` parts; `off_ground.py` has feet leave it and come to it as in the clip, and `toes.py` bend.
Whatever is wanted frame by frame, the body is lifted as softly as its legs let it by `soft_ground.py`, along
`fitted_curves.py`. Who sits, lies or rolls is as high as what bears him (`contact_heights.py`): he is `tipped.py` onto
seat and back, his legs are turned beside them (`seated_legs.py`), and his head lies (`resting_head.py`). Arms that do
not bear a body are drawn out of the ground (`arms_off_ground.py`), elbows aside (`raised_elbows.py`). A clip that goes
down has a `lower_ground.py`; a body may have none (`ground_without_legs.py`).
"""
