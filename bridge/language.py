"""The language of Takt: Blender's, if `languages/` has it, else English.

Labels are in a context of their own, in which Blender has no translations. Otherwise Blender would translate those
words that it has itself, with its own meaning (*Fit*, *Search*, *Keys*), and leave the others. A language's labels and
tooltips are given to Blender, which shows them by itself. All other texts, drawn or reported, go through `say`: core
writes plain English, and `say` finds the template of a message and fills its values into the translated one. Results of
`say`, and the users' own names, are drawn with `translate=False`.

Only the current language is read. Blender sends a notification when another one is chosen in the preferences; other
changes of the preferences are noticed at the next `say`.
"""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import bpy

from . import guard
from .wording import Wording

CONTEXT: Final = "Takt"
FOLDER: Final = Path(__file__).resolve().parents[1] / "languages"
_PACKAGE = __package__.rpartition(".")[0]
_LABELLED = (bpy.types.Operator, bpy.types.Panel, bpy.types.Menu)
_log = logging.getLogger(__name__)
_owner = object()
"""The owner of the subscription to changes of the language."""
_spoken: dict[str, Wording | None] = {}
"""The language that was read last, by its locale; None: English."""
_given: dict[str, bool] = {}
"""The last locale of Blender, and whether Takt has texts in it."""


def say(message: str) -> str:
    """Return an English text in the language of Blender's interface."""
    words = _wording()
    return message if words is None else words.of(message)


def say_drawn(words: str) -> str:
    """Return a text of the score editor's picture, translated if it is one of Takt's; names stay unchanged."""
    spoken = _wording() if " " in words else None
    return words if spoken is None else spoken.words.get(words) or words


def report_words(message: str) -> str:
    """Return an English report in the language of Blender's reports."""
    preferences = bpy.context.preferences
    return say(message) if preferences is not None and preferences.view.use_translate_reports else message


def locale() -> str:
    """Return the locale of Blender's interface, as de_DE; "" if it is not translated."""
    preferences = bpy.context.preferences
    if preferences is None or not preferences.view.use_translate_interface:
        return ""
    return bpy.app.translations.locale


def file_of(name: str) -> Path | None:
    """Return the file of a locale: that of its full name, or of its language alone, or None if there is none."""
    for each in dict.fromkeys((name, name.partition("@")[0], name.partition("_")[0])):
        path = FOLDER / f"{each}.json"
        if each and path.is_file():
            return path
    return None


def register() -> None:
    """Give Blender the texts of its language, and follow changes of the language."""
    _follow()
    _give()


def unregister() -> None:
    """Remove all texts."""
    bpy.msgbus.clear_by_owner(_owner)
    if bpy.app.timers.is_registered(_give):
        bpy.app.timers.unregister(_give)
    _take_back()
    _spoken.clear()


def register_class(cls: Any) -> None:
    """Register a class, with its label and those of its properties in Takt's context; see also guard_class."""
    if issubclass(cls, _LABELLED):
        cls.bl_translation_context = CONTEXT
    for base in cls.__mro__:
        if base.__module__.startswith(_PACKAGE):
            for made in getattr(base, "__annotations__", {}).values():
                if hasattr(made, "keywords"):  # a deferred property of bpy.props
                    made.keywords.setdefault("translation_context", CONTEXT)
    guard.guard_class(cls, _PACKAGE)
    bpy.utils.register_class(cls)


def dictionary(texts: Mapping[str, Mapping[str, str]]) -> dict[tuple[str, str], str]:
    """Return the texts that Blender translates by itself: labels in Takt's context, tooltips in its own.

    Items of dynamic menus are not known in advance, so whole sentences are included as well.
    """
    tooltips = bpy.app.translations.contexts.default  # type: ignore[attr-defined]  # the stubs lack it
    sentences = {text: words for text, words in texts["messages"].items() if "{" not in text}
    return {(context, text): words
            for context, known in ((CONTEXT, sentences), (tooltips, sentences), (CONTEXT, texts["labels"]),
                                   (tooltips, texts["tooltips"]))
            for text, words in known.items() if words}


def _wording() -> Wording | None:
    name = locale()
    if name not in _spoken:
        texts = _texts(name)
        _spoken.clear()
        _spoken[name] = Wording({**texts["tooltips"], **texts["messages"], **texts["labels"]}) if texts else None
        if not bpy.app.timers.is_registered(_give):
            # Not during a drawing, which may use the texts that would be removed.
            bpy.app.timers.register(_give, first_interval=0.0)
    return _spoken[name]


def _texts(name: str) -> dict[str, dict[str, str]]:
    path = file_of(name)
    if path is None:
        return {}
    try:
        read: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        _log.exception("%s cannot be read, so Takt speaks English", path)
        return {}
    return {"labels": {}, "tooltips": {}, "messages": {}, **read}


@guard.guarded(None)
def _give() -> None:
    """Register the labels and tooltips of Blender's current language, and unregister all others."""
    name = bpy.app.translations.locale
    if name in _given:
        return
    _take_back()
    texts = _texts(name)
    if texts:
        bpy.app.translations.register(CONTEXT, {name: dictionary(texts)})
    _given[name] = bool(texts)


def _take_back() -> None:
    if any(_given.values()):
        bpy.app.translations.unregister(CONTEXT)
    _given.clear()


def _follow() -> None:
    view: Any = bpy.types.PreferencesView
    bpy.msgbus.subscribe_rna(key=(view, "language"), owner=_owner, args=(), notify=_give, options={"PERSISTENT"})
