"""What one does in the score editor, one file for each verb."""

from .drag import TAKT_OT_score_drag
from .frame import TAKT_OT_score_frame
from .navigate import TAKT_OT_score_pan, TAKT_OT_score_zoom
from .scrub import TAKT_OT_score_scrub
from .select import TAKT_OT_score_box_select, TAKT_OT_score_select

CLASSES = (TAKT_OT_score_zoom, TAKT_OT_score_pan, TAKT_OT_score_frame, TAKT_OT_score_scrub, TAKT_OT_score_drag,
           TAKT_OT_score_select, TAKT_OT_score_box_select)
