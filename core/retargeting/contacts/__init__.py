"""Keep Contacts: hands touch what they touch in the clip, and arms stay outside the trunk.

`kept_contacts.py` does both in one pass. `arms.py` uses the shape of the trunk (`trunk.py`). `hands.py` uses the parts
of the body that hands touch (`hands_and_body.py`), each a convex hull (`hull.py`). `eased.py` smooths the corrections.
"""
