"""What one does in the score editor, one file for each verb."""

from .frame import TAKT_OT_score_frame
from .navigate import TAKT_OT_score_pan, TAKT_OT_score_zoom
from .scrub import TAKT_OT_score_scrub

CLASSES = (TAKT_OT_score_zoom, TAKT_OT_score_pan, TAKT_OT_score_frame, TAKT_OT_score_scrub)
