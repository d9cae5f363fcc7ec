"""A body on the ground, with the heights and contact weights of the clip (docs/contacts.md).

`all_steps.py` runs all steps in their order. `contact_detection.py` finds the contacts of the clip's body once, and all
other steps read them. `body_skin.py` models the body above the ground. It says which skin may bear the body
(`bearing_skin.py`), what belongs to buttocks and back (`bearing_trunk.py`), and how high each part is
(`lowest_skin.py`). `balance.py` tells whether the body would fall. `grounding.py` lifts the body and its feet. Feet get
the clip's height first from joints (`by_joints.py`), then from skin if there is one (`by_skin.py`). While a part of the
clip's body touches the ground (`touching.py`), its skin is on the ground (`lift_of_touching.py`). `off_ground.py` lets
feet leave the ground and come back as in the clip, and `toes.py` bends toes. `soft_ground.py` lifts the body along
smooth curves (`fitted_curves.py`), as far as its legs allow that. The height of a body that sits, lies or rolls comes
from the parts that bear it (`contact_heights.py`). Such a body is turned onto buttocks and back (`tipped.py`). Its legs
turn beside them (`seated_legs.py`), and its head rests (`resting_head.py`). Arms that do not bear the body are lifted
out of the ground (`arms_off_ground.py`), and elbows swing aside (`raised_elbows.py`). For clips that go down,
`lower_ground.py` lowers the ground. `ground_without_legs.py` is for bodies without legs.
"""
