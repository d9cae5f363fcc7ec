"""How operators tell that they give up."""

from typing import Any

import bpy

_PROBLEMS_SHOWN = 5


def refuse(operator: bpy.types.Operator, error: str) -> "set[Any]":
    """Report an error and give up."""
    lines = error.splitlines()
    more = [f"and {len(lines) - _PROBLEMS_SHOWN} more"] if len(lines) > _PROBLEMS_SHOWN else []
    operator.report({"ERROR"}, "\n".join(lines[:_PROBLEMS_SHOWN] + more))
    return {"CANCELLED"}
