"""Takt speaks the language of Blender's interface, and English where it has none."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import bpy
import pytest

from takt.bridge import language
from takt.bridge.reports import report
from takt.docs import shown_texts

ROOT = Path(language.__file__).parents[1]
TEMPLATE = json.loads((ROOT / "languages" / "texts.json").read_text(encoding="utf-8"))
GERMAN = {"labels": {"Play Clip": "Clip abspielen"}, "tooltips": {"Overwrite a file of that name": "Datei ersetzen"},
          "messages": {"'{picked}' plays '{value}'": "'{picked}' tanzt '{value}'", "Copied": "Kopiert",
                       "Nothing to Play": "Nichts da"}}
Speak = Callable[[str], None]


@pytest.fixture
def speak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Speak]:
    """Let Blender have a language; there is one file, in German."""
    (tmp_path / "de.json").write_text(json.dumps(GERMAN), encoding="utf-8")
    monkeypatch.setattr(language, "FOLDER", tmp_path)
    language.unregister()

    def choose(name: str) -> None:
        monkeypatch.setattr(language, "locale", lambda: name)

    yield choose
    language.unregister()


def test_messages_are_said_in_the_language(speak: Speak) -> None:
    speak("de_DE")
    assert language.say("'Amy' plays 'waltz.pha'") == "'Amy' tanzt 'waltz.pha'"
    assert language.say("Play Clip") == "Clip abspielen"
    assert language.say("unknown to all") == "unknown to all"


@pytest.mark.parametrize("name", ["", "en_US", "lt", "DEFAULT", "../de"])
def test_a_language_without_a_file_is_english(speak: Speak, name: str) -> None:
    speak(name)
    assert language.say("Copied") == "Copied"


def test_another_language_counts_at_once(speak: Speak) -> None:
    speak("de_DE")
    assert language.say("Copied") == "Kopiert"
    speak("en_US")
    assert language.say("Copied") == "Copied"
    speak("de_AT")
    assert language.say("Copied") == "Kopiert"


def test_a_damaged_file_is_english(speak: Speak, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "de.json").write_text('{"labels": ', encoding="utf-8")
    speak("de_DE")
    assert language.say("Copied") == "Copied"
    assert "cannot be read" in caplog.text


def test_reports_are_in_the_language(speak: Speak) -> None:
    said: list[tuple[set[str], str]] = []

    class Operator:
        def report(self, kinds: set[str], words: str) -> None:
            said.append((kinds, words))

    speak("de_DE")
    is_on = bpy.context.preferences.view.use_translate_reports
    try:
        for choice in (True, False):
            bpy.context.preferences.view.use_translate_reports = choice
            report(Operator(), {"INFO"}, "Copied")  # type: ignore[arg-type]  # all that is asked of it
    finally:
        bpy.context.preferences.view.use_translate_reports = is_on
    assert said == [({"INFO"}, "Kopiert"), ({"INFO"}, "Copied")]


def test_blender_gets_labels_and_tooltips(speak: Speak) -> None:
    given = language.dictionary(GERMAN)
    assert given["Takt", "Play Clip"] == "Clip abspielen"
    assert given["*", "Overwrite a file of that name"] == "Datei ersetzen"
    assert given["Takt", "Nothing to Play"] == "Nichts da"  # a choice that is made when its menu opens
    assert not any("{" in text for _, text in given)


def test_switching_on_and_off_again_leaves_nothing(speak: Speak) -> None:
    for _ in range(2):
        language.register()
        language.unregister()
    assert not bpy.app.timers.is_registered(language._give)


IS_INTERNATIONAL = bpy.app.build_options.international  # type: ignore[attr-defined]  # the stubs lack it


@pytest.mark.skipif(not IS_INTERNATIONAL, reason="this Blender is built without languages")
def test_blender_shows_labels_and_tooltips_in_the_language(speak: Speak) -> None:
    view = bpy.context.preferences.view
    before = view.language
    try:
        view.language = "de_DE"
        view.use_translate_interface = view.use_translate_tooltips = True
        language._give()
        assert bpy.app.translations.pgettext_iface("Play Clip", "Takt") == "Clip abspielen"
        assert bpy.app.translations.pgettext_tip("Overwrite a file of that name") == "Datei ersetzen"
        language.unregister()
        assert bpy.app.translations.pgettext_iface("Play Clip", "Takt") == "Play Clip"
    finally:
        view.language = before


def test_the_list_of_texts_has_all_that_blender_shows() -> None:
    known = {text for part in TEMPLATE.values() for text in part}
    words = [(part, text, where) for part, text, where in shown_texts.shown() if text and text[0].isalpha()]
    assert len(words) > 600
    assert [each for each in words if each[1] not in known] == [], "run: python3 dev.py texts"
