"""Reports of operators: why they cannot start, their results, and errors."""

import errno
from collections.abc import Iterable
from typing import Any, Literal

import bpy

from ..core.errors import FileError, TaktError
from .language import report_words, say

Severity = Literal["INFO", "WARNING"]
Told = tuple[Severity, str]
HELD_BY_DRIVERS = "Bones with drivers do not follow; to let them, mute these in the Drivers Editor"
OTHER_RATES = "Scenes with other frame rates play this Action faster or slower"
_PROBLEMS_SHOWN = 5
_LONGEST_PATH = 120


class GreyWithReason:
    """Mixin for operators: their buttons are grey while there is a problem, and the tooltip shows it.

    Operators with undo are also grey while something is in Edit Mode.
    """

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why the operator cannot run, or an empty text; cheap enough for every redraw."""
        raise NotImplementedError

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Return whether there is no problem."""
        reason = cls.problem(context)
        if not reason and "UNDO" in getattr(cls, "bl_options", ()):
            reason = edit_mode_problem(context)
        if reason:
            cls.poll_message_set(say(reason))  # type: ignore[attr-defined]  # the operator's
        return not reason


def edit_mode_problem(context: bpy.types.Context) -> str:
    """Return why nothing outside of Edit Mode can be changed while something is edited, else "".

    Edit Mode has an undo of its own, which restores neither Texts nor Actions nor settings.
    """
    if not context.mode.startswith(("EDIT_", "PARTICLE")):
        return ""
    edited = context.active_object
    name = "Something" if edited is None else f"'{edited.name}'"
    return f"{name} is in Edit Mode, which could not undo this: leave it first (Tab)"


def report(operator: bpy.types.Operator, kinds: "set[Any]", message: str) -> None:
    """Report an English message in Blender's language."""
    operator.report(kinds, report_words(message))


def tell(operator: bpy.types.Operator, told: Iterable[Told]) -> None:
    """Report an operator's messages, the most important warning last.

    Blender's status bar shows only the last report.
    """
    findings = list(told)
    warnings = [each for each in findings if each[0] == "WARNING"]
    for severity, text in [*(each for each in findings if each[0] == "INFO"), *reversed(warnings)]:
        report(operator, {severity}, text)


def words_of(error: Exception) -> str:
    """Return an error in words: a system error without its number, with advice if a name is too long."""
    if not isinstance(error, OSError):
        return str(error)
    name = str(error.filename or "")
    shown = f"'{name if len(name) <= _LONGEST_PATH else name[:_LONGEST_PATH] + '…'}': " if name else ""
    more = "; choose a shorter name" if error.errno == errno.ENAMETOOLONG else ""
    return f"{shown}{error.strerror or error}{more}"


def refuse(operator: bpy.types.Operator, error: str) -> "set[Any]":
    """Report an error and cancel."""
    lines = error.splitlines()
    more = [f"and {len(lines) - _PROBLEMS_SHOWN} more"] if len(lines) > _PROBLEMS_SHOWN else []
    report(operator, {"ERROR"}, "\n".join(lines[:_PROBLEMS_SHOWN] + more))
    return {"CANCELLED"}


def refuse_score(operator: bpy.types.Operator, error: TaktError) -> "set[Any]":
    """Report that a score cannot be played: briefly, with all mistakes in the Info editor."""
    report(operator, {"INFO"}, str(error))
    return refuse(operator, in_brief(error))


def in_brief(error: TaktError) -> str:
    """Return the first mistake of a file, its place, and the number of mistakes."""
    mistakes = [each for each in error.problems if not each.is_warning] if isinstance(error, FileError) else []
    if not mistakes:
        return str(error)
    first = mistakes[0]
    name = "The score" if first.place.path is None else first.place.path.name
    line = "" if first.place.line is None else f", line {first.place.line}"
    more = f" (and {len(mistakes) - 1} more: see Takt's tab, Score)" if len(mistakes) > 1 else ""
    return f"{name}{line}: {first.message}{more}"
