"""Music named in a score by edits, and ticks laid on its beats."""

from pathlib import Path

import numpy as np
import pytest

from takt.core.errors import EditError, FileError
from takt.core.library.library import Library
from takt.core.music.grid import Grid, TempoChange
from takt.core.pha.document import read
from takt.core.pha.edits import apply
from takt.core.pha.text import Text
from takt.core.playing.clock import Clock
from takt.core.score_editor.music import lay_ticks, remove_music, set_music

PLAIN = """<?xml version="1.0"?>
<!-- A greeting. -->
<pha tickLength="0.5">
  <load src="greta"/>

  <!-- What is danced. -->
  <procedure name="main">
    <call name="greta.Hello" duration="2"/>
  </procedure>
</pha>
"""
GRID = Grid(0.25, 1.5, (TempoChange(8.0, 0.2, 4.0), TempoChange(40.0, 0.3, 0.0)))


def test_music_is_named_behind_what_is_loaded() -> None:
    edited = set_music(Text.of(PLAIN), "songs.waltz")
    assert str(edited.text) == PLAIN.replace('tickLength="0.5"', 'tickLength="0.5" version="2"').replace(
        '  <load src="greta"/>\n', '  <load src="greta"/>\n  <music src="songs.waltz"/>\n')
    assert str(apply(edited.text, *edited.inverse).text) == PLAIN


def test_other_music_takes_its_place() -> None:
    first = set_music(Text.of(PLAIN), "one").text
    assert str(set_music(first, "two").text) == str(first).replace('"one"', '"two"')


def test_ticks_are_laid_as_the_grid_says() -> None:
    edited = lay_ticks(set_music(Text.of(PLAIN), "song").text, GRID)
    document = read(edited.text)
    assert not document.problems
    assert document.music is not None
    assert (document.tick_s, document.music.offset_s) == (0.25, 1.5)
    assert [tuple(tempo)[:3] for tempo in document.tempo] == [(8.0, 0.2, 4.0), (40.0, 0.3, 0.0)]


def test_the_clock_of_the_score_is_the_grid() -> None:
    document = read(lay_ticks(set_music(Text.of(PLAIN), "song").text, GRID).text)
    ticks = np.linspace(0.0, 60.0, 121)
    clock = Clock.of(document.tempo, document.tick_s)
    assert clock.shown(ticks * document.tick_s) + 1.5 == pytest.approx(GRID.seconds(ticks))


def test_laid_again_old_changes_of_tempo_are_gone() -> None:
    once = lay_ticks(set_music(Text.of(PLAIN), "song").text, GRID).text
    again = lay_ticks(once, Grid(0.5, 0.0))
    assert not read(again.text).tempo
    assert str(apply(again.text, *again.inverse).text) == str(once)


def test_without_music_there_is_nothing_to_lay_ticks_on_or_to_remove() -> None:
    with pytest.raises(EditError, match="choose a sound file"):
        lay_ticks(Text.of(PLAIN), GRID)
    with pytest.raises(EditError, match="no music"):
        remove_music(Text.of(PLAIN))


def test_music_is_removed() -> None:
    named = set_music(Text.of(PLAIN), "song").text
    assert read(remove_music(named).text).music is None


def test_sounds_are_found_in_the_library(tmp_path: Path) -> None:
    (tmp_path / "songs").mkdir()
    song = tmp_path / "songs" / "waltz.ogg"
    song.touch()
    library = Library([tmp_path])
    assert library.src_of_sound(song) == "songs.waltz"
    assert library.sound_path("songs.waltz") == song.resolve()
    dotted = tmp_path / "songs" / "no.1.ogg"
    dotted.touch()
    assert library.sound_path(library.src_of_sound(dotted)) == dotted.resolve()


@pytest.mark.parametrize(("name", "says"), [
    ("a..b.wav", "single dots"), ("a.txt", "endings"), ("../out.wav", "outside")])
def test_sounds_that_a_score_cannot_name(tmp_path: Path, name: str, says: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    path = root / name
    path.touch()
    with pytest.raises(FileError, match=says):
        Library([root]).src_of_sound(path)


def test_the_library_beside_a_score_is_where_its_music_is(tmp_path: Path) -> None:
    (tmp_path / "songs").mkdir()
    (tmp_path / "songs" / "waltz.wav").touch()
    (tmp_path / "scores").mkdir()
    document = read(Text.of(str(set_music(Text.of(PLAIN), "songs.waltz").text), tmp_path / "scores" / "a.pha"))
    assert Library().beside(document).sound_path("songs.waltz").name == "waltz.wav"
