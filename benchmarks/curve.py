"""Draw how the time of binding grows, as an SVG."""

import math
from collections.abc import Sequence
from pathlib import Path

_WIDTH, _HEIGHT, _MARGIN = 560, 340, 60
_TAKT, _HEAT = "#e2711d", "#6b7a8f"


def write_curve(path: Path, rows: Sequence[tuple[int, float, float]]) -> None:
    """Draw rows of vertices, seconds of Takt and seconds of bone heat, both axes logarithmic."""
    vertices = [row[0] for row in rows]
    seconds = [s for row in rows for s in row[1:]]
    across = _Axis.around(vertices, _MARGIN, _WIDTH - _MARGIN)
    up = _Axis.around(seconds, _HEIGHT - _MARGIN, _MARGIN / 2)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
             f'font-size="12"><rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>']
    for tick in up.ticks():
        parts.append(f'<path d="M{_MARGIN} {up.at(tick):.1f}H{_WIDTH - _MARGIN}" stroke="#dddddd"/>'
                     f'<text x="{_MARGIN - 8}" y="{up.at(tick) + 4:.1f}" text-anchor="end" '
                     f'fill="#333333">{tick:g} s</text>')
    for count in vertices:
        parts.append(f'<text x="{across.at(count):.1f}" y="{_HEIGHT - _MARGIN + 20}" text-anchor="middle" '
                     f'fill="#333333">{count:,}</text>')
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 18}" text-anchor="middle" fill="#333333">vertices</text>')
    for column, colour, name in ((1, _TAKT, "Takt"), (2, _HEAT, "bone heat")):
        points = [(across.at(row[0]), up.at(row[column])) for row in rows]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in points]
        x, y = points[-1]
        parts.append(f'<text x="{x:.1f}" y="{y - 10:.1f}" text-anchor="end" fill="{colour}" '
                     f'font-weight="bold">{name}, {rows[-1][column]:.1f} s</text>')
    path.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


class _Axis:
    """A logarithmic axis from one coordinate of the picture to another."""

    def __init__(self, least: float, most: float, start: float, end: float) -> None:
        self._least, self._most, self._start, self._end = least, most, start, end

    @classmethod
    def around(cls, values: Sequence[float], start: float, end: float) -> "_Axis":
        return cls(min(values) / 1.3, max(values) * 1.6, start, end)

    def at(self, value: float) -> float:
        share = math.log(value / self._least) / math.log(self._most / self._least)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> list[float]:
        powers = range(math.floor(math.log10(self._least)), math.ceil(math.log10(self._most)) + 1)
        return [m * 10.0**p for p in powers for m in (1, 3) if self._least <= m * 10.0**p <= self._most]
