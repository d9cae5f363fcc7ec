"""Keep Contacts: hands touch what they touch in the clip, and arms stay outside the trunk.

`kept_contacts.py` does both in one go: `arms.py` by the shape of a `trunk.py`, `hands.py` by the parts of the body that
they touch (`hands_and_body.py`), a convex `hull.py` each.
"""
