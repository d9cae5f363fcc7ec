"""Texts that are read token by token, such as those of USD and VRML."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar, NoReturn

from ..errors import FileError, quoted


class TokenText:
    """A text with a current position, for parsers of formats that define their own tokens."""

    GAP: ClassVar[re.Pattern[str]]
    """The pattern of white space and comments between tokens, which may be empty."""
    TOKEN: ClassVar[re.Pattern[str]]

    def __init__(self, text: str, error: Callable[[str, int], FileError], at: int = 0) -> None:
        """error: makes the error for a fault on a line. at: the offset in the text at which to begin."""
        self._text, self._error, self._at = text, error, at
        self._line_of, self._line = 0, 1

    def _next(self) -> str:
        """Return the next token, "" at the end."""
        self._skip_gap()
        found = self.TOKEN.match(self._text, self._at)
        if found is None:
            if self._at < len(self._text):
                self._no_token()
            return ""
        self._at = found.end()
        return found[0]

    def _no_token(self) -> NoReturn:
        self._fail("a text begins here that has no end")

    def _skip_gap(self) -> None:
        found = self.GAP.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _peek(self) -> str:
        """Return the first character of the next token, "" at the end."""
        self._skip_gap()
        return self._text[self._at:self._at + 1]

    def _here(self) -> int:
        """Return the line, counted from 1."""
        self._line += self._text.count("\n", self._line_of, self._at)
        self._line_of = self._at
        return self._line

    def _fail(self, message: str) -> NoReturn:
        raise self._error(message, self._here())

    def _wanted(self, token: str, wanted: str) -> NoReturn:
        """Raise the error for a token, "" for the end, where something else is wanted."""
        self._fail(f"found {quoted(token)} where {wanted} is wanted" if token else
                   f"the file ends where {wanted} is wanted: it is cut off")
