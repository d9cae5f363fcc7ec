"""Translation of messages: each is found by the template from which its English text was made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_BETWEEN: Final = ("\n", ". ", "; ", ": ", ", ")
"""Separators of joined messages; a message without a template is translated part by part."""
_LISTING: Final = (": ", ", ")
"""Separators that join names too: single words between them are not translated, since a bone may be called Head."""
_PLACE: Final = re.compile(r"([^\n]*?\.\w+(?::\d+(?::\d+)?| \(byte \d+\)|, line \d+)): ")
"""The place of a mistake in a file, which precedes a message of its own; that may have colons too."""
_OF_NAMES: Final = re.compile(
    r"(\w+_)?(names?|bones?|missing|joints?|layer|armature_object|mesh|action|holder|own)(_\d+)?")
"""Values that are the user's names."""
_LONGEST: Final = 2000
"""Longest message, or line of it, in characters; longer ones stay English, since no template is as long."""
_MOST_KEPT: Final = 4096
_DEEPEST: Final = 4
"""Greatest depth of messages within messages, such as an error in a report."""


@dataclass(frozen=True)
class _Template:
    longest: str
    pattern: str
    pieces: tuple[str, ...]
    """The translation in turns: text, the number of a value, text, …"""
    is_name: tuple[bool, ...]
    """Which values are names, which are not translated."""


@dataclass(frozen=True)
class Wording:
    """The texts of one language. words: the translation of each English text, which may hold {values} in braces.

    >>> german = Wording({"{count} bones are idle": "{count} Knochen bewegen nichts", "Copied": "Kopiert"})
    >>> german.of("3 bones are idle"), german.of("Copied"), german.of("unknown")
    ('3 Knochen bewegen nichts', 'Kopiert', 'unknown')
    """

    words: Mapping[str, str]
    _kept: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _templates: list[_Template] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        made = (text for text in self.words if self.words[text] and _PLACEHOLDER.search(text))
        self._templates.extend(_template(text, self.words[text])
                               for text in sorted(made, key=_weight, reverse=True))

    def of(self, message: str) -> str:
        """Return a message in this language; unknown parts, such as names and paths, stay."""
        found = self._kept.get(message)
        if found is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            found = self._kept[message] = self._found(message, 0)
        return found

    def _found(self, message: str, depth: int) -> str:
        if len(message) <= _LONGEST and (place := _PLACE.match(message)):
            return f"{self._found(place[1], depth)}: {self._found(message[place.end():], depth)}"
        whole = self.words.get(message) or self._filled(message, depth)
        if whole:
            return whole
        if message[:1].isupper():  # a hint becomes a sentence by a capital letter
            small = message[:1].lower() + message[1:]
            whole = self.words.get(small) or self._filled(small, depth)
            if whole:
                return whole[:1].upper() + whole[1:]
        for between in _BETWEEN:
            if between in message:
                return between.join(part if between in _LISTING and " " not in part else self._found(part, depth)
                                    for part in message.split(between))
        return message

    def _filled(self, message: str, depth: int) -> str:
        if depth > _DEEPEST or len(message) > _LONGEST or " " not in message:
            return ""
        for template in self._templates:
            if template.longest in message and (match := _compiled(template.pattern).fullmatch(message)):
                values = [value if is_name else self._found(value, depth + 1) if value else ""
                          for value, is_name in zip(match.groups(), template.is_name, strict=True)]
                return "".join(values[int(piece)] if number % 2 else piece
                               for number, piece in enumerate(template.pieces))
        return ""


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern on first use: compiling all of them would take a third of a second."""
    return re.compile(pattern, re.DOTALL)


def _weight(text: str) -> int:
    """Return the amount of text in a template; the longest is tried first."""
    return len(_PLACEHOLDER.sub("", text))


def _template(text: str, translated: str) -> _Template:
    parts = _PLACEHOLDER.split(text)
    names = list(dict.fromkeys(parts[1::2]))
    pattern, seen, is_plain = re.escape(parts[0]), set[str](), len(names) == len(parts[1::2])
    for number, (part, after) in enumerate(zip(parts[1::2], parts[2::2], strict=True), start=1):
        if part in seen:
            value = f"(?P={part})" if not part[0].isdigit() else ".*?"
        else:
            seen.add(part)
            value = f"(?P<{part}>.*?)" if not part[0].isdigit() else "(.*?)"
        # the first place of each text is the best one; trying others would take minutes for long messages
        is_last = number == len(parts) // 2
        pattern += f"(?>{value}{re.escape(after)})" if is_plain and not is_last else value + re.escape(after)
    pieces = _PLACEHOLDER.split(translated)
    pieces[1::2] = [str(names.index(name)) for name in pieces[1::2]]
    return _Template(max(parts[::2], key=len), pattern, tuple(pieces),
                     tuple(_is_name(parts, name) for name in names))


def _is_name(parts: list[str], name: str) -> bool:
    """Return whether a value is a name: by the placeholder's name, or since it is in quotes."""
    at = 2 * parts[1::2].index(name) + 1
    return bool(_OF_NAMES.fullmatch(name)) or (parts[at - 1].endswith("'") and parts[at + 1].startswith("'"))
