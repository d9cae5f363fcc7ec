"""The lines of foot contacts below the blocks: the left foot's above the right one's."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from .contacts import Contacts
from .picture import Pen
from .stripes import CONTACT_PX, Stripes
from .theme import Theme
from .view import View
from .weights import stroke

_LINE_PX, _OFF_PX, _NEAR_PX, _LEAST_PX = 4.0, 1.5, 3.0, 0.7
"""Pixels at an interface scale of 1: thickness of a line, and of one that is switched off; distance from its ends at
which it can be grabbed; least width of a drawn contact."""
_ARC = np.linspace(0.0, np.pi, 9)
_MOST_STEPS = 200


def draw_contacts(pen: Pen, contacts: Contacts, view: View, theme: Theme, stripes: Stripes,
                  only: int | None = None) -> None:
    """Draw contacts, those that are switched off thinner, and arcs for the steps between them.

    only: the contact under the mouse, which is highlighted.
    """
    begin, end = view.x(contacts.begin), view.x(contacts.end)
    seen = np.flatnonzero((end >= view.left) & (begin <= view.width) & (end - begin >= _LEAST_PX * view.scale))
    seen = seen if only is None else seen[seen == only]
    on = contacts.is_on[seen]
    half = np.where(on, _LINE_PX, _OFF_PX) * view.scale / 2.0
    middle = _heights(stripes, view, contacts.foot[seen])
    left, right = np.maximum(begin[seen], view.left), np.minimum(end[seen], view.width)
    right = np.maximum(right - view.scale, left + view.scale)  # keep a gap between consecutive contacts
    fill = np.where(on[:, None], theme.mixed(0.72), theme.mixed(0.38))
    if only is not None:
        half, fill = half + view.scale / 2.0, np.tile(theme.selected, (len(seen), 1))
    pen.rectangles(np.stack((left, np.round(middle - half), right, np.round(middle + half)), axis=-1), fill)
    if only is None:
        _draw_steps(pen, contacts, view, theme, stripes)


def contact_at(contacts: Contacts, view: View, stripes: Stripes, x: float, y: float) -> int | None:
    """Return the contact nearest to a pixel, or None if none is near."""
    near = _NEAR_PX * view.scale
    if stripes.contacts is None or not stripes.contacts[0] - near <= y <= stripes.contacts[1] + near:
        return None
    foot = int(y < sum(stripes.contacts) / 2.0)
    begin, end = view.x(contacts.begin), view.x(contacts.end)
    away = np.maximum(np.maximum(begin - x, x - end), 0.0) + 1e9 * (contacts.foot != foot)
    nearest = int(np.argmin(away)) if len(away) else -1
    return nearest if nearest >= 0 and away[nearest] <= near else None


def said_of_contact(contacts: Contacts, contact: int) -> str:
    """Return the words to show for a contact under the mouse."""
    foot = ("left", "right")[int(contacts.foot[contact])]
    return (f"The {foot} foot stands; click to let it move as in the clip" if contacts.is_on[contact] else
            f"The {foot} foot moves as in the clip; click to let it stand")


def _draw_steps(pen: Pen, contacts: Contacts, view: View, theme: Theme, stripes: Stripes) -> None:
    begin, end = view.x(contacts.step_begin), view.x(contacts.step_end)
    seen = np.flatnonzero((end >= view.left) & (begin <= view.width) & (end - begin >= 3.0 * view.scale))
    for step in seen[::len(seen) // _MOST_STEPS + 1].tolist():
        low = float(_heights(stripes, view, contacts.step_foot[step:step + 1])[0]) - _LINE_PX / 2.0 * view.scale
        middle, half = (begin[step] + end[step]) / 2.0, (end[step] - begin[step]) / 2.0
        points = np.stack((middle - half * np.cos(_ARC), low + np.sin(_ARC) * (CONTACT_PX - 1.0) * view.scale), axis=-1)
        corners = stroke(points, 1.5 * view.scale)
        pen.triangles(corners, np.tile(theme.transition, (len(corners), 1)))


def _heights(stripes: Stripes, view: View, foot: IntArray) -> FloatArray:
    """Return the centre heights of the lines of feet (N,), in pixels from the window's lower edge."""
    assert stripes.contacts is not None
    return np.asarray(stripes.contacts[1] - (foot + 0.5) * CONTACT_PX * view.scale)
