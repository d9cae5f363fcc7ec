"""Play a clip alone, without a score, with foot lock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ..clips.clip import Clip
from ..library.library import Library
from ..maths.arrays import FloatArray
from ..pha.document import parse
from ..pha.expansion import expand
from ..pha.programme import resolve
from ..retargeting.skin_points import SkinPoints
from ..skeletons.maps import SkeletonMap
from .feet.legs import legs_of
from .motion import compose
from .playing import Playing
from .stage import Playable
from .transitions.blending import Style

_SCORE: Final = ('<pha tickLength="{}"><load src="clip"/><procedure name="main"><call name="clip" duration="1"/>'
                 '</procedure></pha>')
_STYLE: Final = Style("LEAD", "LINEAR", "LERP")


def standing(clip: Clip, body: SkeletonMap, up: FloatArray, points: SkinPoints | None = None,
             doubles: Mapping[int, int] | None = None) -> Playable:
    """Return the motion of a score that plays only this clip, with feet locked during its contacts.

    body: the map of the clip's skeleton. up: (3,) in the skeleton's model space. points: samples of the skin, if known.
    doubles: joints that copy the motion of others, and the joints they copy. Feet keep the clip's height, since
    retargeting has put them on the ground. A clip that moves no legs, or has no duration, is returned unchanged.
    """
    if clip.duration_s <= 0.0 or not any(clip.moved[leg.hip] for leg in legs_of(body)):
        return clip
    library = Library(other_clips=lambda _: (clip,))
    sequence = expand(resolve(parse(_SCORE.format(repr(float(clip.duration_s))), None), library))
    playing = Playing(_STYLE, "AS_AUTHORED", up, doubles=doubles or {}, body=body)
    feet = compose(sequence, (clip,), playing, feet=body, points=points).feet
    return clip if feet is None else replace(feet, lifts_sunk=False)
