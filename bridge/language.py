"""In which language Takt speaks: in English throughout, also where Blender speaks another one.

Blender would translate those of our words that it has itself, in its own sense of them (*Fit*, *Search*, *Keys*), and
leave the others: a sidebar half of each reads worse than one in English. So our labels are in a context of their own,
in which Blender knows none; whoever translates Takt gives it all of them there (`bpy.app.translations.register`). What
is drawn as a text by itself, names of procedures and bones among them, is drawn with `translate=False`.
"""

from typing import Any

import bpy

from . import guard

CONTEXT = "Takt"
_PACKAGE = __package__.rpartition(".")[0]
_LABELLED = (bpy.types.Operator, bpy.types.Panel, bpy.types.Menu)


def register_class(cls: Any) -> None:
    """Make a class known to Blender, its label and those of its properties in our own context; see also guard_class."""
    if issubclass(cls, _LABELLED):
        cls.bl_translation_context = CONTEXT
    for base in cls.__mro__:
        if base.__module__.startswith(_PACKAGE):
            for made in getattr(base, "__annotations__", {}).values():
                if hasattr(made, "keywords"):  # what bpy.props leaves for the registration
                    made.keywords.setdefault("translation_context", CONTEXT)
    guard.guard_class(cls, _PACKAGE)
    bpy.utils.register_class(cls)
