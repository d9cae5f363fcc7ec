"""Read children of OGRE's XML elements, and their attributes as text and numbers; wrong values are errors."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from ..errors import FileError, quoted
from .xml import Element

MAX_NUMBER: Final = float(np.finfo(np.float32).max)
"""OGRE reads numbers as float32."""
Vector = tuple[float, float, float]


def child(element: Element, tag: str) -> Element | None:
    """Return the first child element with that name, or None if there is none."""
    return next((found for found in element.children if found.tag == tag), None)


def grandchildren(element: Element, group: str, tag: str) -> tuple[Element, ...]:
    """Return the elements of that name in the first group, as OGRE reads them."""
    found = child(element, group)
    return () if found is None else tuple(each for each in found.children if each.tag == tag)


def text(element: Element, attribute: str, path: Path | None) -> str:
    """Return an attribute that must be there."""
    if attribute not in element.attributes:
        raise error(element, f"<{element.tag}> has no {attribute}", path)
    return element.attributes[attribute]


def number(element: Element, attribute: str, path: Path | None, default: float | None = None) -> float:
    """Return a number; default: its value if the attribute is missing, which is an error without a default."""
    said = element.attributes.get(attribute)
    if said is None and default is not None:
        return default
    try:
        value = float(text(element, attribute, path) if said is None else said)
    except ValueError:
        value = float("nan")
    if not abs(value) <= MAX_NUMBER:
        raise error(element, f"{attribute} of <{element.tag}> is {quoted(said or '')}; a number between "
                             f"{-MAX_NUMBER:g} and {MAX_NUMBER:g} is wanted", path)
    return value


def vector(element: Element, path: Path | None, default: float | None = None) -> Vector:
    """Return the attributes x, y, z."""
    return (number(element, "x", path, default), number(element, "y", path, default),
            number(element, "z", path, default))


def scale(element: Element, path: Path | None) -> Vector:
    """Return the scale of a <scale> element: one factor, or one for each axis."""
    if "factor" in element.attributes:
        factor = number(element, "factor", path)
        return factor, factor, factor
    return vector(element, path, 1.0)


def error(element: Element, message: str, path: Path | None) -> FileError:
    """Return the error for a fault in an element."""
    return FileError.at(message, path, element.line, element.column)
