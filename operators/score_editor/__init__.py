"""Operators of the score editor, one file for each verb."""

from .add_asset import TAKT_OT_score_add_asset
from .arrange import (
    TAKT_OT_score_beside,
    TAKT_OT_score_mirror,
    TAKT_OT_score_reverse,
    TAKT_OT_score_single,
    TAKT_OT_score_split,
)
from .calls import (
    TAKT_OT_score_copy,
    TAKT_OT_score_delete,
    TAKT_OT_score_dissolve,
    TAKT_OT_score_duplicate,
    TAKT_OT_score_group,
    TAKT_OT_score_paste,
)
from .contact import TAKT_OT_score_contact, TAKT_OT_score_contacts_on
from .drag import TAKT_OT_score_drag
from .drop_file import TAKT_FH_score, TAKT_OT_score_drop_file
from .frame import TAKT_OT_score_frame
from .hover import TAKT_GGT_score_hover, TAKT_GT_score_hover
from .insert import TAKT_OT_score_add, TAKT_OT_score_shelf
from .loop import TAKT_OT_score_loop
from .navigate import TAKT_OT_score_pan, TAKT_OT_score_zoom
from .no_nodes import TAKT_OT_score_no_nodes
from .open import TAKT_OT_score_automatic, TAKT_OT_score_editor, TAKT_OT_score_open, TAKT_OT_score_open_file
from .scrub import TAKT_OT_score_scrub
from .select import TAKT_OT_score_box_select, TAKT_OT_score_select
from .tweak import TAKT_OT_score_delete_tweak, TAKT_OT_score_tweak

CLASSES = (
    TAKT_OT_score_editor,
    TAKT_OT_score_zoom,
    TAKT_OT_score_pan,
    TAKT_OT_score_frame,
    TAKT_OT_score_scrub,
    TAKT_OT_score_contact,
    TAKT_OT_score_contacts_on,
    TAKT_OT_score_drag,
    TAKT_OT_score_tweak,
    TAKT_OT_score_delete_tweak,
    TAKT_OT_score_select,
    TAKT_OT_score_box_select,
    TAKT_OT_score_delete,
    TAKT_OT_score_duplicate,
    TAKT_OT_score_group,
    TAKT_OT_score_dissolve,
    TAKT_OT_score_copy,
    TAKT_OT_score_paste,
    TAKT_OT_score_split,
    TAKT_OT_score_beside,
    TAKT_OT_score_single,
    TAKT_OT_score_mirror,
    TAKT_OT_score_reverse,
    TAKT_OT_score_loop,
    TAKT_OT_score_open,
    TAKT_OT_score_open_file,
    TAKT_OT_score_automatic,
    TAKT_OT_score_no_nodes,
    TAKT_OT_score_shelf,
    TAKT_OT_score_add,
    TAKT_OT_score_add_asset,
    TAKT_OT_score_drop_file,
    TAKT_FH_score,
    TAKT_GT_score_hover,
    TAKT_GGT_score_hover,
)
