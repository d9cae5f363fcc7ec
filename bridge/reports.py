"""How operators tell that they cannot begin, and that they give up."""

from typing import Any

import bpy

_PROBLEMS_SHOWN = 5


class GreyWithReason:
    """An operator's base beside Blender's own: its buttons are grey where there is a problem, and tell it."""

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why the operator cannot run, or an empty text; cheap enough for every redraw."""
        raise NotImplementedError

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Tell whether there is no problem."""
        reason = cls.problem(context)
        if reason:
            cls.poll_message_set(reason)  # type: ignore[attr-defined]  # the operator's
        return not reason


def refuse(operator: bpy.types.Operator, error: str) -> "set[Any]":
    """Report an error and give up."""
    lines = error.splitlines()
    more = [f"and {len(lines) - _PROBLEMS_SHOWN} more"] if len(lines) > _PROBLEMS_SHOWN else []
    operator.report({"ERROR"}, "\n".join(lines[:_PROBLEMS_SHOWN] + more))
    return {"CANCELLED"}
