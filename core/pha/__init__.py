"""Procedural humanoid animation (PHA): from the text of a score to a flat sequence of segments.

Read: `text.py` (a lossless tree with byte spans) → `document.py`, `nodes.py` by `grammar.py` → names in every view
(`scopes.py`), calls resolved (`programme.py`, `definitions.py`), innermost first (`call_order.py`) → values
(`expressions.py`), blocks unfolded (`evaluation.py`, `expansion.py`) → `sequence.py`, with the chain of calls behind
each segment (`origins.py`). `version_1.py` writes version 2 as PHA 1 where there is such a score. `garbage.py` lets
Python's search for cycles wait meanwhile.

Edited: `edits.py` sets, inserts, removes, moves, wraps elements, with the white space that they own (`layout.py`),
new ones laid out as their neighbours (`insertion.py`). Above these, edits of meaning over all `open_scores.py`: a
procedure is renamed (`refactoring.py`), calls become a procedure (`extraction.py`), a procedure calls again
(`inlining.py`), a place gets a copy of its own (`make_single.py`), calls are split or play at once
(`rearranging.py`). `lineage.py` tells which element became which.
"""
