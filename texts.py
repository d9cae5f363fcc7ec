"""What Takt says to its users: gathered from its source and from Blender, and compared with each language.

`dev.py texts` writes `languages/texts.json` anew; `dev.py texts de` says what is wrong with `languages/de.json`.
Both files have three parts: labels; tooltips; and messages, whose values stand in them as {names} in braces.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, Final

Texts = dict[str, dict[str, str]]
"""For each part: English texts, and their origins or their translations."""
PARTS: Final = ("labels", "tooltips", "messages")
FOLDER: Final = "languages"
TEMPLATE: Final = "texts.json"
LANGUAGES: Final = ("cs", "de", "es", "fr", "ja", "lt", "sk", "sv", "zh_HANS")
"""As Blender calls them; what it adds after the language, as in de_DE, is left out where it has one kind alone."""
COMPLETE: Final[tuple[str, ...]] = LANGUAGES
"""Languages in which nothing may be missing; a test holds it."""
ROOMS: Final = ("panels", "operators", "bridge", "preview", "core")
SHORT_LABEL, LONGEST_LABEL, LABEL_GROWTH = 20, 60, 2.2
SMALL_WORDS: Final = frozenset((
    "a", "an", "the", "and", "or", "but", "for", "to", "from", "of", "in", "on", "at", "by", "with", "as", "without",
    "per", "via", "if", "than", "up", "beside", "into", "over"))
"""What Blender's title case writes small within a label."""
PHRASES: Final = ("left", "right", "comes in", "goes out", "eases in", "eases out", "automatic", "as ease", "as weight",
                  "that of the longest lane")
"""Words that are filled into messages and empty fields, and are too short to be taken for such."""
_MOST_VARIANTS: Final = 8
_NOT_SHOWN: Final = re.compile(
    r"(core/formats/(\w+_write|format)|core/skeletons/(maps/(names|foreign)|hanim)|core/shading/\w+|core/maths/\w+"
    r"|core/classes/tags_file|core/skeletons/maps/map_file|preview/shader"
    r"|bridge/(files/second_blender|materials/material_(nodes|shaders)|files/written_character|language|wording|graphics)"
    r"|operators/(command|play_command|film_command))\.py")
"""Files whose texts are other programmes', other files', or of the code alone."""
_LOGS: Final = re.compile(
    r"_log\.\w+|logging\.\w+|re\.compile|warnings\.warn|bpy\.data\.\w+\.new|cast|TypeVar|Rule|Attribute|assert_never"
    r"|bpy\.ops\..*|getattr|setattr|\w*\.get|\w*\.foreach_get|isinstance")
"""Calls whose texts no user reads."""
_OUR_FAULT: Final = re.compile(
    "ValueError|TypeError|IndexError|KeyError|AssertionError|RuntimeError|NotImplementedError")
"""Errors that are none of the user's; what may reach one, in formats and operators, counts nevertheless."""
_SAYING: Final = re.compile(r"(self\.)?(report|refuse|_say|tell|say|draw_words)")
"""Calls that show a text as it is, be it a single word."""
_OF_DATA: Final = re.compile(r"Takt (Music|baking|export|shape|tweaks|picture|reading)|Without counterpart"
                              r"|\{\w+\} (baked|tweaks)|copy of \{\w+\}|from takt.*|\w+(\.\w+)+\[.*")
"""Names of what Takt makes in a .blend, and code."""
_WRITTEN: Final = ast.Constant, ast.JoinedStr, ast.BinOp, ast.IfExp
"""What texts are made of."""
_LISTED: Final = re.compile(r"panels/.*|bridge/scores/score_layout\.py")
"""Files whose tables hold words that are drawn, be they single ones."""
_FILE_TEXT: Final = re.compile(r"""^\s*</?[?!A-Za-z{][^<>]*[=>/]["'{]|=["']?\{|\t|^\s*#|==|</\w+>\s*$|^import |%s|%r""")
_WORD: Final = re.compile(r"(?<![\w{])[A-Za-z][a-z'’]{2,}(?![\w}=(])")
PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


def gathered(root: Path, shown: Iterable[tuple[str, str, str]] = ()) -> Texts:
    """Gather all texts: those of the source, and of the interface as Blender shows it (part, text, where)."""
    texts: Texts = {part: {} for part in PARTS}
    for part, text, where in shown:
        if re.search(r"(?<![.\w])[A-Za-z]{2,}", text):  # no endings of files, no axes
            texts[part].setdefault(text, where)
    texts["messages"].update(dict.fromkeys(PHRASES, "texts.py"))
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            where = path.relative_to(root).as_posix()
            for part, text in texts_of(path.read_text(encoding="utf-8"), where):
                if not any(text in texts[each] for each in PARTS):
                    texts[part][text] = where
    return texts


def texts_of(source: str, where: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of a file that users may read, with their part: labels, or messages."""
    if _NOT_SHOWN.fullmatch(where):
        return
    tree = ast.parse(source)
    above, nodes, written = dict[ast.AST, ast.AST](), list[ast.AST]((tree,)), list[ast.AST]()
    for node in nodes:  # which grows meanwhile; ast.walk takes twice as long
        if isinstance(node, _WRITTEN):
            written.append(node)
        for value in vars(node).values():
            for child in value if type(value) is list else (value,):
                if isinstance(child, ast.AST):
                    above[child] = node
                    nodes.append(child)
    done: set[ast.AST] = set()
    for node in written:
        if node in done or not _is_text(node) or not _is_shown(node, above, where):
            continue
        found, used = _variants(node)
        done |= used
        is_said = _is_said(node, above)
        for text in found:
            if _is_words(text, is_said, node):
                yield "labels" if _is_label(node, above, text) else "messages", text
            elif _LISTED.fullmatch(where) and isinstance(above[node], ast.Tuple) and re.fullmatch("[A-Z][a-z]+", text):
                yield "labels", text


def _is_text(node: ast.AST) -> bool:
    """Tell whether an expression is a text that is at least partly written here."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and any(letter.isalpha() for letter in node.value)
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_text(node.left) or _is_text(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
    if isinstance(node, ast.IfExp):
        return _is_text(node.body) or _is_text(node.orelse)
    return False


def _is_shown(node: ast.AST, above: Mapping[ast.AST, ast.AST], where: str) -> bool:
    """Tell whether a text may reach a user: no docstring, no key of a dict, nothing for the log."""
    first = above[node]
    if isinstance(first, ast.Expr | ast.Compare | ast.arg):
        return False
    below, each = node, first
    while not isinstance(each, ast.stmt):
        if isinstance(each, ast.Call) and below is not each.func:
            name = ast.unparse(each.func)
            if _LOGS.fullmatch(name):
                return False
            if _OUR_FAULT.fullmatch(name):
                return where.startswith(("operators/", "bridge/", "core/formats/", "core/pha/"))
        if isinstance(each, ast.Subscript) and each.slice is below:
            return False
        if isinstance(each, ast.Dict) and below in each.keys:
            return False
        below, each = each, above[each]
    return not (isinstance(each, ast.AnnAssign) and each.annotation is below) and not isinstance(each, ast.FunctionDef)


def _is_said(node: ast.AST, above: Mapping[ast.AST, ast.AST]) -> bool:
    first = above[node]
    return isinstance(first, ast.Call) and bool(_SAYING.fullmatch(ast.unparse(first.func)))


def _is_label(node: ast.AST, above: Mapping[ast.AST, ast.AST], text: str) -> bool:
    """Tell whether a text stands on a button or in a heading: text=say("Open Score…"); sentences are messages."""
    said = above[node]
    return (isinstance(said, ast.Call) and ast.unparse(said.func) == "say" and isinstance(above[said], ast.keyword)
            and is_title(text))


def is_title(label: str) -> bool:
    """Tell whether a label is in Blender's title case: prepositions, articles and conjunctions small, all else not.

    >>> is_title("Save as Clip…"), is_title("Save Clip (.bvh)"), is_title("Save clip"), is_title("Save As Clip")
    (True, True, False, False)
    """
    words = re.findall(r"(?<![.\w(])[A-Za-z][\w'’-]*", re.sub(r"\{\w+\}|\([^)]*\)", "0", label))
    small = [word for word in words[1:] if word[0].islower()]
    always_small = ("a", "an", "the", "and", "or", "of", "to", "as", "in")
    return (bool(words) and words[0][0].isupper() and all(word in SMALL_WORDS for word in small)
            and not any(word.lower() in always_small and word[0].isupper() for word in words[1:-1]))


def _is_words(text: str, is_said: bool, node: ast.AST) -> bool:
    bare = PLACEHOLDER.sub("0", text)
    words = _WORD.findall(bare)
    if _FILE_TEXT.search(text) or _OF_DATA.fullmatch(text) or not words:
        return False
    return is_said or (" " in bare.strip() and (len(words) > 1 or isinstance(node, ast.JoinedStr | ast.BinOp)))


def _variants(node: ast.AST) -> tuple[list[str], set[ast.AST]]:
    """Return all texts that an expression may be, with {names} for what is not written in it, and the nodes used."""
    used: set[ast.AST] = set()
    names: dict[str, str] = {}
    found = list(dict.fromkeys(_ways(node, used, names)))
    if len(found) <= _MOST_VARIANTS:
        return found, used
    used, names = set(), {}
    return list(_ways(node, used, names, is_plain=True)), used


def _ways(node: ast.AST, used: set[ast.AST], names: dict[str, str], *, is_plain: bool = False) -> list[str]:
    def again(each: ast.AST) -> list[str]:
        return _ways(each, used, names, is_plain=is_plain)

    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        used.add(node)
        # What str.format fills in later.
        return [re.sub(r"\{(\w*)(:[^{}]*)?\}", lambda found: f"{{{found[1] or 'value'}}}", node.value)]
    if isinstance(node, ast.JoinedStr):
        used.add(node)
        return ["".join(parts) for parts in product(*map(again, node.values))]
    if isinstance(node, ast.FormattedValue):
        return again(node.value)
    if isinstance(node, ast.BinOp) and _is_text(node):
        used.add(node)
        if isinstance(node.op, ast.Mult):
            return ["", *again(node.left)]
        return ["".join(parts) for parts in product(again(node.left), again(node.right))]
    if isinstance(node, ast.IfExp) and _is_text(node) and not is_plain:
        used.add(node)
        return [*again(node.body), *again(node.orelse)]
    return [f"{{{_name(node, names)}}}"]


def _name(node: ast.AST, names: dict[str, str]) -> str:
    """Name a value after what it is made of; two values of one text have two names."""
    code, plain = ast.unparse(node), _plain_name(node).lower()
    if code not in names.values():
        number = sum(re.fullmatch(rf"{plain}(_\d+)?", each) is not None for each in names) + 1
        names[plain if number == 1 else f"{plain}_{number}"] = code
    return next(name for name, each in names.items() if each == code)


def _plain_name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id.strip("_")
    if isinstance(node, ast.Attribute):
        inner = _plain_name(node.value)
        return inner if node.attr in ("name", "value", "stem") and inner != "self" else node.attr.strip("_")
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "len":
            return "count"
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("join", "lower", "strip", "rstrip", "replace"):
            return _plain_name(node.args[0]) if node.func.attr == "join" else _plain_name(node.func.value)
        return _plain_name(node.args[0]) if node.args else _plain_name(node.func)
    if isinstance(node, ast.Subscript | ast.Starred):
        return _plain_name(node.value)
    if isinstance(node, ast.BinOp):
        return _plain_name(node.left)
    if isinstance(node, ast.BoolOp):
        return _plain_name(node.values[0])
    if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        return _plain_name(node.generators[0].iter)
    return "value"


def written(texts: Mapping[str, Mapping[str, str]]) -> str:
    """Return the file of texts: sorted, one text on a line."""
    def line(text: str, words: str) -> str:
        return f"  {json.dumps(text, ensure_ascii=False)}: {json.dumps(words, ensure_ascii=False)}"

    parts = (f" {json.dumps(part)}: {{\n" + ",\n".join(line(text, texts[part][text]) for text in sorted(texts[part]))
             + "\n }" for part in PARTS)
    return "{\n" + ",\n".join(parts) + "\n}\n"


def read(path: Path) -> Texts:
    """Read a file of texts."""
    texts: Texts = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_once)
    return texts


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if twice := sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []:
        raise ValueError(f"stands twice: {twice}")
    return dict(pairs)


def problems(texts: Texts, translated: Texts) -> Iterator[str]:
    """Yield what is wrong with a language: what is missing, too much, or broken."""
    for part in PARTS:
        own = translated.get(part, {})
        yield from (f"{part}: missing: {text!r}" for text in texts[part] if not own.get(text))
        yield from (f"{part}: Takt does not say this (any more): {text!r}" for text in own if text not in texts[part])
        for text, words in own.items():
            yield from (f"{part}: {problem}: {text!r} → {words!r}" for problem in faults(part, text, words) if words)
    yield from (f"{part}: there is no such part" for part in translated if part not in PARTS)


def faults(part: str, text: str, words: str) -> Iterator[str]:
    """Yield what is wrong with one text in another language."""
    if set(PLACEHOLDER.findall(text)) != set(PLACEHOLDER.findall(words)):
        yield f"the values differ: {PLACEHOLDER.findall(text)} and {PLACEHOLDER.findall(words)}"
    if (text[:1].isspace(), text[-1:].isspace()) != (words[:1].isspace(), words[-1:].isspace()):
        yield "blanks at its beginning or end differ"
    if text.count("\n") != words.count("\n"):
        yield "the numbers of lines differ"
    if part == "tooltips" and words.endswith((".", "。")):
        yield "a full stop at the end, which Blender sets itself"
    if part == "labels" and len(words) > longest_label(text):
        yield f"longer than {longest_label(text)} characters"


def longest_label(text: str) -> int:
    """Return how many characters an English label may have in another language: room on a button is what it is."""
    return min(max(int(LABEL_GROWTH * len(text)), SHORT_LABEL), max(LONGEST_LABEL, len(text)))
