"""Procedural humanoid animation (PHA): from the text of a score to a flat sequence of segments.

Reading: `text.py` (a lossless tree with byte spans) → `document.py`, `nodes.py` by `grammar.py` → names in each view
(`scopes.py`), calls resolved (`programme.py`, `definitions.py`), innermost first (`call_order.py`) → values
(`expressions.py`), blocks expanded (`evaluation.py`, `expansion.py`) → `sequence.py`, with the chain of calls behind
each segment (`origins.py`). `version_1.py` writes a score of version 2 as PHA 1, if that can express it. `garbage.py`
switches Python's search for cycles off meanwhile.

Editing: `edits.py` sets, inserts, removes, moves and wraps elements, with the white space that they own
(`layout.py`); new ones are laid out as their neighbours (`insertion.py`). Above these are edits that keep the meaning
of all `open_scores.py`: a procedure is renamed (`refactoring.py`), calls become a procedure (`extraction.py`), a call
is replaced by its procedure (`inlining.py`), a call gets a copy of its own (`make_single.py`), calls are split or play
at once (`rearranging.py`). `lineage.py` finds the new number of each element.
"""
