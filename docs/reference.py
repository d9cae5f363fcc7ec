"""The tables of the score language's reference, made from the grammar: `python3 -m docs.reference` writes the page."""

from collections.abc import Iterator
from pathlib import Path

import checkout  # noqa: F401

from takt.core.pha.definitions import MAX_NAMES
from takt.core.pha.evaluation import MAX_EVALUATIONS, MAX_OPERATIONS, MOST_EACH
from takt.core.pha.expansion import MAX_LANES
from takt.core.pha.expressions import MAX_CHARACTERS, MAX_LEVELS
from takt.core.pha.grammar import GRAMMAR, MOST, Rule
from takt.core.pha.programme import MAX_ELEMENTS as ALL_ELEMENTS
from takt.core.pha.text import MAX_ELEMENTS
from takt.core.skeletons.body_parts import MAX_CHARACTERS as MASK_CHARACTERS
from takt.core.skeletons.body_parts import PARTS

PAGE = Path(__file__).with_name("pha-reference.md")
_HEAD = """# The score language, version 2: reference
Made from the grammar by `python3 -m docs.reference`; [pha.md](pha.md) tells what it is for. Version 1 has `pha`,
`load`, `include`, `procedure` and `call` with `name`, `duration`, `transition` and `repeat`, all numbers plain.

## Elements
"""
_TAIL = """## Expressions
Where the tables say *expression*, an attribute may hold numbers, `yes`, `no`, names that have a value there,
`+ - * / // %`, a minus in front, parentheses, `== != < <= > >=`, `and`, `or`, `not`, and
`min max round floor ceil abs` with what they take in parentheses. At most {characters} characters and {levels} levels.
A name may not hide another that has a value there.
Parameters, `let`s, roles and the indices of loops are the only names; but for roles, nothing is known across files.

## Parts of the body
{parts}; any joint of H-Anim with all below it; `bone:NAME`, a bone of the character with all below it; names that
`mask` gives. Joined by `+` and `-`, from left to right; write blanks around the signs where a bone's name has such.

## What is decided
- **Length 0.** A call with `duration="0"` plays nothing, and nothing in it is evaluated.
- **Lengths.** A procedure's own length is the sum of what is played this time; its caller scales that to `duration`.
- **Transitions.** `transition` on a loop, pick or block goes to the last that it plays, replacing what that said.
- **Backwards.** Choices are made in the order of the text, then the order is reversed; each transition stays
  between the same two. A reversed block has its weights and eases exchanged. A wait holds the pose before it as played.
- **Chance.** A pick is decided by the first 8 bytes of BLAKE2b (8 bytes long) of `seed|module|number|count`: the
  module's dotted path, empty for the file that is played; which pick of that file it is, from 0; how often it came.
- **Tempo.** A file's own `tempo` elements replace all inherited ones. Ticks count from the start of what is played.
- **Lanes.** Eases and weights count in the ticks around the block. A lane that plays nothing this time is silent.
- **Views.** An inherited procedure sees the names of the file that inherits it, also if called in full.
- **Limits.** A million segments over all lanes, 1,000 procedures within procedures, {lanes} lanes at once,
  {evaluations} elements evaluated, or {each} for each call with values in the text, if that is more, and {operations}
  operations of expressions. In a file {elements} elements, of these
  {most};
  {names} names with a value at one place; {body} characters in a `body`. In all files of a score {all_elements}
  elements (reading them takes about a second), and as many again that files inherit from each other.
"""


def page() -> str:
    """Return the whole page."""
    tables = "\n".join(line for tag, rule in GRAMMAR.items() for line in _element(tag, rule))
    parts = ", ".join(f"`{part}`" for part in PARTS)
    most = ", ".join(f"{count:,} `{tag}`" for tag, (count, _) in MOST.items())
    tail = _TAIL.format(lanes=MAX_LANES, operations=f"{MAX_OPERATIONS:,}", elements=f"{MAX_ELEMENTS:,}", most=most,
                        names=f"{MAX_NAMES:,}", body=f"{MASK_CHARACTERS:,}", all_elements=f"{ALL_ELEMENTS:,}",
                        characters=f"{MAX_CHARACTERS:,}", levels=MAX_LEVELS, parts=parts,
                        evaluations=f"{MAX_EVALUATIONS:,}", each=MOST_EACH)
    return f"{_HEAD}{tables}\n{tail}"


def _element(tag: str, rule: Rule) -> Iterator[str]:
    yield f"### `{tag}`"
    inside = f" Holds {', '.join(f'`{child}`' for child in rule.children)}." if rule.children else ""
    yield f"{rule.says}{inside}\n"
    if not rule.attributes:
        return
    yield "| attribute | holds | left out | |"
    yield "|---|---|---|---|"
    for name, attribute in rule.attributes.items():
        default = "must be given" if attribute.default is None else attribute.default or "none"
        holds = attribute.kind.value + (" (expression)" if attribute.kind.is_expression else "")
        yield f"| `{name}` | {holds} | {default} | {attribute.says} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
