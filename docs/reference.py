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
This page is made from the grammar by `python3 -m docs.reference`. [The score language](pha.md) explains the language.
Version 1 has only `pha`, `load`, `include`, `procedure`, and `call` with `name`, `duration`, `transition` and `repeat`.
Its numbers are plain, without expressions.

## Elements
"""
_TAIL = """## Expressions
Where the tables say *expression*, an attribute may hold numbers, `yes`, `no`, names that have a value there,
`+ - * / // %`, a minus in front, parentheses, `== != < <= > >=`, `and`, `or`, `not`, and the functions
`min max round floor ceil abs` with their arguments in parentheses. An expression has at most {characters} characters
and {levels} levels. A name must not hide another name that has a value there. Only parameters, `let`s, roles and the
indices of loops are names. Except for roles, names are not known in other files.

## Parts of the body
{parts}; any joint of H-Anim with its descendants; `bone:NAME`, a bone of the character with its descendants; and names
that `mask` defines. Add and subtract parts by `+` and `-`, from left to right. If the name of a bone has such a sign,
write spaces around `+` and `-`.

## Rules in detail
- **Length 0.** A call with `duration="0"` plays nothing, and nothing in it is evaluated.
- **Lengths.** A procedure's own length is the sum of the lengths of what it plays this time. A call scales that to its
  `duration`.
- **Transitions.** The `transition` of a loop, pick or block replaces that of the last element that it plays.
- **Backwards.** Picks are decided in the order of the text, then the order is reversed. Each transition stays between
  the same two elements. A reversed block exchanges the weights and eases of its beginning and its end. A wait holds the
  pose that plays before it.
- **Chance.** A pick is decided by a hash: BLAKE2b, 8 bytes long, of `seed|module|number|count`. *Module* is the dotted
  path of the file, empty for the file that is played. *Number* is that of the pick in its file, from 0. *Count* says
  how often the pick was evaluated before.
- **Tempo.** A file's own `tempo` elements replace all inherited ones. Ticks count from the start of the performance.
- **Lanes.** The eases of a lane are in the same ticks as the `duration` of its block. A lane that plays nothing this
  time has no effect, whatever its weight is.
- **Inheritance.** An inherited procedure uses the names of the file that inherits it, even if it is called by its full
  name.
- **Limits.** A score has at most a million segments over all lanes, 1,000 levels of procedures, {lanes} lanes
  at once, and {operations} operations of expressions. At most {evaluations} elements are evaluated, or {each} for each
  call with values in the text, if that is more. A file has at most {elements} elements, of these {most}; {names} names
  with a value at one place; and {body} characters in a `body`. After {all_elements} elements in all (about a second),
  Takt reads no further files of a score. In addition, files may inherit as many elements from each other.
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
    yield "| attribute | holds | default | |"
    yield "|---|---|---|---|"
    for name, attribute in rule.attributes.items():
        default = "required" if attribute.default is None else attribute.default or "none"
        holds = attribute.kind.value + (" (expression)" if attribute.kind.is_expression else "")
        yield f"| `{name}` | {holds} | {default} | {attribute.says} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
