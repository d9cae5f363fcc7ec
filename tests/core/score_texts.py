"""Scores as people and programs write them: every spelling, layout and encoding that is read, by a seed."""

import codecs
import random

ENCODINGS = {  # by name: the codec, what stands first, whether the file has to say it
    "utf-8": ("utf-8", b"", False),
    "utf-8 with a mark": ("utf-8", codecs.BOM_UTF8, False),
    "utf-16 little": ("utf-16-le", codecs.BOM_UTF16_LE, False),
    "utf-16 big": ("utf-16-be", codecs.BOM_UTF16_BE, False),
    "utf-16 little without a mark": ("utf-16-le", b"", False),
    "utf-16 big without a mark": ("utf-16-be", b"", False),
    "iso-8859-1": ("iso-8859-1", b"", True),
    "us-ascii": ("us-ascii", b"", True),
    "latin-1": ("latin-1", b"", True),
    "windows-1252": ("windows-1252", b"", True),
    "koi8-r": ("koi8-r", b"", True),
    "iso-8859-15": ("iso-8859-15", b"", True),
    "mac-roman": ("mac-roman", b"", True),
}
LETTERS = "äöüßéñÅøŽ€жщλ歩く😀"
TAGS = ("load", "include", "procedure", "call", "call", "call", "loop", "together", "lane", "wait", "Schritt")
NAMES = ("name", "src", "duration", "transition", "repeat", "body", "x-own", "ns:a")
VALUES = ("1", "2.50", "+3.", " 4 ", "1e-3", "walk", "feet.Steps.left step", "", "bars * 2", "a&amp;b", "&lt;x&gt;",
          "&#65;", "&#x42;", "it's", 'so "called"', "a > b", "-->", "/>", "]]>", "tab\there", "line\nbreak")


class Writer:
    """Writes one file; everything about it is drawn from the seed."""

    def __init__(self, seed: int) -> None:
        self._rng = rng = random.Random(seed)
        self.encoding = rng.choice(list(ENCODINGS))
        self._codec, self._mark, self._says = ENCODINGS[self.encoding]
        self._letters = [c for c in LETTERS if self._has(c)] or ["a"]
        self._breaks = rng.choice((("\n",), ("\r\n",), ("\r",), ("\n", "\r\n", "\r")))
        self._step = rng.choice(("  ", "    ", "\t", " ", "\t ", ""))
        self._tidy = rng.random() < 0.6
        self._words = rng.random() < 0.1

    def file(self) -> bytes:
        """Return its bytes."""
        rng = self._rng
        head = ""
        if self._says or rng.random() < 0.5:
            name = self._codec if self._says else "utf-16" if self._codec.startswith("utf-16") else "utf-8"
            head = f'<?xml version="1.0"{rng.choice((" ", "  "))}encoding="{name}"?>{self._gap(0)}'
        text = head + self._misc(0) + self._element("pha", 0) + self._misc(0)
        return self._mark + text.encode(self._codec)

    def _has(self, character: str) -> bool:
        try:
            character.encode(self._codec)
        except UnicodeEncodeError:
            return False
        return True

    def _element(self, tag: str, depth: int) -> str:
        rng = self._rng
        name = tag if tag != "Schritt" or not self._has("é") else "schrittée"
        start = f"<{name}{self._attributes(depth)}{rng.choice(('', '', ' ', self._break()))}"
        number = rng.choice((0, 1, 2, 3, 5)) if depth < 4 and tag not in ("load", "include") else 0
        if depth == 0:
            number += 2
        if not number and rng.random() < 0.8:
            return start + "/>"
        inside = "".join(self._between(depth + 1) + self._element(rng.choice(TAGS), depth + 1) for _ in range(number))
        return f"{start}>{inside}{self._between(depth + 1, last=True)}</{name}{rng.choice(('', '', ' '))}>"

    def _attributes(self, depth: int) -> str:
        rng = self._rng
        names = rng.sample(NAMES, rng.randrange(4)) + ([self._letters[0]] if self._letters[0].isalpha()
                                                       and self._letters[0] < "\u3000" and rng.random() < 0.1 else [])
        return "".join(self._space(depth) + name + rng.choice(("=", "=", " = ", "= ")) + self._value()
                       for name in names)

    def _value(self) -> str:
        rng = self._rng
        value = rng.choice(VALUES) + (rng.choice(self._letters) if rng.random() < 0.3 else "")
        quote = "'" if '"' in value else '"' if "'" in value else rng.choice("\"'")
        return quote + value + quote

    def _space(self, depth: int) -> str:
        return self._rng.choice((" ", " ", " ", "  ", "\t", self._break() + self._step * (depth + 2)))

    def _between(self, depth: int, last: bool = False) -> str:
        """Return what stands before a child, or before the end tag."""
        return self._misc(depth) + self._gap(depth - last)

    def _misc(self, depth: int) -> str:
        rng = self._rng
        parts = []
        while rng.random() < 0.3:
            inside = depth > 0
            kind = rng.random()
            if kind < 0.8:
                parts.append(self._gap(depth) + self._comment())
            elif kind < 0.9:
                parts.append(f"{self._gap(depth)}<?note {rng.choice(self._letters)} ?>")
            elif inside and self._words:
                words = f"{self._gap(depth)}words {rng.choice(self._letters)}"
                parts.append(rng.choice((words, "<![CDATA[<a/> & b]]>")))
            elif inside:
                parts.append("<![CDATA[ ]]>")
        return "".join(parts)

    def _comment(self) -> str:
        inside = self._rng.choice((" a ", " <call/> ", "x > y ", f" one{self._break()}   two ",
                                   f" {self._rng.choice(self._letters)} "))
        return f"<!--{inside}-->"

    def _gap(self, depth: int) -> str:
        rng, chance = self._rng, self._rng.random()
        if chance < (0.1 if self._tidy else 0.4):
            return rng.choice(("", " ", "  ", "\t"))
        lines = rng.choice((1, 1, 1, 1, 2, 3))
        indent = self._step * depth if self._tidy else rng.choice(("", " ", "\t", self._step * depth))
        return "".join(self._break() for _ in range(lines)) + indent

    def _break(self) -> str:
        return self._rng.choice(self._breaks)
