"""Ways of a score: which of them count, and when they begin and end."""

from __future__ import annotations

from collections.abc import Sequence

from ...pha.ways import Way
from ..row import Row


def innermost(ways: Sequence[Way]) -> list[Way]:
    """Return the ways within which there are no others, in order."""
    spans = [_span(way) for way in ways]
    return [way for way, own in zip(ways, spans, strict=True) if not any(
        other != own and own[0] <= other[0] and other[1] <= own[1] for other in spans)]


def edges_s(way: Way, row: Row) -> tuple[float, float]:
    """Return when a way begins and ends."""
    begin_s, end_s = float(row.layout.begin_s[way.first]), float(row.layout.end_s[way.after - 1])
    begin, end = (0.0, 1.0) if way.inside is None else way.inside
    return begin_s + begin * (end_s - begin_s), begin_s + end * (end_s - begin_s)


def _span(way: Way) -> tuple[float, float]:
    """Return where a way begins and ends, counted in segments."""
    return (float(way.first), float(way.after)) if way.inside is None else (
        way.first + way.inside[0], way.first + way.inside[1])
