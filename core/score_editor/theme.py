"""Colours of the editor, readable in light and in dark themes, and the user's font and language."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .picture import Colour, Measure, Say, about_as_wide, as_written

_HUES = np.array(((0.33, 0.40, 0.47), (0.33, 0.51, 0.70), (0.27, 0.55, 0.48), (0.66, 0.33, 0.47), (0.46, 0.34, 0.68),
                  (0.60, 0.47, 0.23), (0.20, 0.51, 0.59), (0.70, 0.38, 0.30), (0.45, 0.56, 0.27)))
"""Hues of boxes; the first is for clips outside of procedures."""


@dataclass(frozen=True)
class Theme:
    """The look of the editor for a user: the first three colours, from the user's own theme, determine the others.

    ground: background; text; accent: playhead and pressed parts; selected: edges of selected boxes;
    error, warning: edges of boxes with problems. size_px: of text, at an interface scale of 1; measure: returns the
    width of a text in the user's font; say: translates into the user's language.
    """

    ground: Colour = (0.11, 0.11, 0.11, 1.0)
    text: Colour = (0.90, 0.90, 0.90, 1.0)
    accent: Colour = (0.28, 0.45, 0.70, 1.0)
    selected: Colour = (1.0, 0.60, 0.16, 1.0)
    error: Colour = (0.90, 0.20, 0.18, 1.0)
    warning: Colour = (0.86, 0.66, 0.18, 1.0)
    transition: Colour = (0.94, 0.62, 0.13, 1.0)
    size_px: float = 11.0
    measure: Measure = about_as_wide
    say: Say = as_written

    @property
    def is_dark(self) -> bool:
        """Whether the text is brighter than the background."""
        return sum(self.text[:3]) > sum(self.ground[:3])

    def mixed(self, share: float, alpha: float = 1.0) -> Colour:
        """Return a colour between the ground (0) and the text (1)."""
        red, green, blue = (a + (b - a) * share for a, b in zip(self.ground[:3], self.text[:3], strict=True))
        return red, green, blue, alpha

    @property
    def faint(self) -> Colour:
        """The colour of secondary words; on a light background hardly fainter than the text."""
        return self.mixed(0.65 if self.is_dark else 0.85)

    def fills(self, colour: IntArray, depth: IntArray, is_leaf: BoolArray) -> FloatArray:
        """Return the colours (N, 4) of boxes.

        colour: (N,) colour numbers; depth: (N,); is_leaf: (N,) whether no box is within.
        Outer boxes are closer to the background's colour, inner ones stand out.
        """
        hue = self._hues[np.where(colour > 0, 1 + (colour - 1) % (len(_HUES) - 1), 0)]
        share = np.minimum(0.62 + 0.11 * depth + 0.22 * is_leaf, 0.95)[:, None]
        rgb = np.array(self.ground[:3]) * (1.0 - share) + hue * share
        return np.concatenate((rgb, np.ones((len(rgb), 1))), axis=1)

    @cached_property
    def _hues(self) -> FloatArray:
        return _HUES if self.is_dark else np.asarray(1.0 - (1.0 - _HUES) * 0.62)
