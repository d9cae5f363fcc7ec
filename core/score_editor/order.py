"""Several elements moved one after the other, with the number that each has by then."""

from __future__ import annotations

from collections.abc import Sequence

from ..pha.edits import Move
from ..pha.text import Text


class Order:
    """The elements of a text while some are moved; each is named by its first number."""

    def __init__(self, text: Text) -> None:
        """Start with the elements of a text in their order."""
        self._names = list(range(len(text)))
        self._depths = list(text.shape.depths)

    def number(self, name: int) -> int:
        """Return the current number of an element."""
        return self._names.index(name)

    def move(self, name: int, parent: int, before: int | None) -> Move:
        """Move an element before a child of a parent, or to its end if None; return the edit."""
        at, inside = self.number(name), self.number(parent)
        children = self._children(inside)
        index = len(children) if before is None else children.index(self.number(before))
        target = self._after(inside) if before is None else children[index]
        end = self._after(at)
        if not at <= target <= end:
            deeper = self._depths[inside] + 1 - self._depths[at]
            names, depths = self._names[at:end], [depth + deeper for depth in self._depths[at:end]]
            del self._names[at:end], self._depths[at:end]
            target -= end - at if target > at else 0
            self._names[target:target], self._depths[target:target] = names, depths
        return Move(at, inside, index)

    def _after(self, number: int) -> int:
        depth = self._depths[number]
        return next((i for i in range(number + 1, len(self._depths)) if self._depths[i] <= depth), len(self._depths))

    def _children(self, number: int) -> list[int]:
        inside = self._depths[number] + 1
        return [i for i in range(number + 1, self._after(number)) if self._depths[i] == inside]


def moves(text: Text, elements: Sequence[int], parent: int, index: int) -> tuple[tuple[Move, ...], tuple[int, ...]]:
    """Return the edits that move elements, in the order of the text, before the child with that index.

    Also returns their numbers afterwards. All given numbers are those of the text.

    >>> text = Text.of('<pha><procedure><call/><call/><call/></procedure></pha>')
    >>> moves(text, (2, 3), 1, 3)
    ((Move(element=2, parent=1, index=3), Move(element=2, parent=1, index=3)), (3, 4))
    """
    order, chosen = Order(text), sorted(elements)
    behind = [child for child in list(text.children(parent))[index:] if child not in chosen]
    edits = tuple(order.move(name, parent, behind[0] if behind else None) for name in chosen)
    return edits, tuple(order.number(name) for name in chosen)
