"""Music of a score in Blender: chosen, its beats found, played along by the scene, drawn as a waveform."""

import time
import wave
from pathlib import Path
from typing import Any

import aud
import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scores import score_blocks, score_music, sound
from takt.core.errors import FileError
from takt.core.library.store import stamp
from takt.core.music.onsets import RATE_HZ
from takt.core.pha.document import parse
from takt.core.score_editor.sound import sound_layer
from takt.core.score_editor.stripes import Stripes
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View
from takt.tests.blender.dancing import play, text_of
from takt.tests.core.drum_loops import RATE, Loop, loop

_CLEAN = 102
"""The seed of a loop without noise at an even tempo."""


@pytest.fixture
def song(library: Path) -> tuple[Path, Loop]:
    played = loop(_CLEAN)
    path = library / "song.wav"
    write(path, played)
    return path, played


def write(path: Path, played: Loop) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((played.samples * 32000).astype("<i2").tobytes())


def choose(**options: Any) -> "set[str]":
    return bpy.ops.takt.choose_music(**options)  # type: ignore[attr-defined, no-any-return]


def strips() -> list[Any]:
    editor: Any = bpy.context.scene.sequence_editor
    return [] if editor is None else list(editor.strips)


def test_the_editor_shows_the_waveform(rig: bpy.types.Object, library: Path, song: tuple[Path, Loop]) -> None:
    play(library / "dance.pha")
    assert choose(filepath=str(song[0])) == {"FINISHED"}
    score_blocks.refresh(rig)
    blocks = score_blocks.shown(rig)
    assert blocks is not None and blocks.layout is not None
    assert blocks.music == song[0].resolve()
    assert sound.waveform(blocks.music, lambda: None) is None  # it is being decoded
    until = time.monotonic() + 30.0
    while sound.collect() is not None and time.monotonic() < until:
        time.sleep(0.01)
    shown = sound.waveform(blocks.music, lambda: None)
    assert shown is not None
    layer = sound_layer(shown, blocks.layout, View(900.0, 400.0).framed(0.0, blocks.layout.ticks), Theme())
    assert len(layer.rectangles) > 100
    song[0].unlink()
    assert sound.waveform(blocks.music, lambda: None) is None


def test_a_score_is_danced_to_music(rig: bpy.types.Object, library: Path, song: tuple[Path, Loop]) -> None:
    play(library / "dance.pha")
    assert choose(filepath=str(song[0])) == {"FINISHED"}
    document = parse(text_of(rig).as_string())
    assert document.music is not None and document.music.src == "song"
    beat_s = song[1].first_s
    ticks_a_beat = round(beat_s / document.tick_s)
    beats_s = document.music.offset_s + document.tick_s * ticks_a_beat * np.arange(len(song[1].beats_s) - 1)
    assert np.abs(beats_s[:, None] - song[1].beats_s).min(axis=1).max() < 0.03
    assert document.tick_s * ticks_a_beat == pytest.approx(beat_s, rel=0.002)


def test_the_scene_plays_it_from_where_tick_0_is(rig: bpy.types.Object, library: Path, song: tuple[Path, Loop]) -> None:
    play(library / "dance.pha")
    scene: Any = bpy.context.scene
    other = scene.sequence_editor_create().strips.new_effect(name="own", type="COLOR", channel=1, frame_start=1,
                                                             **_lasting(10))
    choose(filepath=str(song[0]))
    found = [strip for strip in strips() if strip.type == "SOUND"]
    assert len(found) == 1 and found[0].channel != other.channel
    music = score_music.music_of(rig)
    assert music is not None
    start = properties.character(rig).frame_start - music.offset_s * scene.render.fps
    assert found[0].frame_final_start == pytest.approx(start, abs=0.51)
    assert scene.sync_mode == "AUDIO_SYNC"
    choose(filepath=str(song[0]), finds_beats=False)
    assert len([strip for strip in strips() if strip.type == "SOUND"]) == 1
    assert bpy.ops.takt.remove_music() == {"FINISHED"}  # type: ignore[attr-defined]
    assert [strip.name for strip in strips()] == ["own"]
    assert parse(text_of(rig).as_string()).music is None


def _lasting(frames: int) -> dict[str, int]:
    return {"frame_end": frames} if bpy.app.version < (5, 0) else {"length": frames}


def test_beats_are_found_again(rig: bpy.types.Object, library: Path, song: tuple[Path, Loop]) -> None:
    play(library / "dance.pha")
    choose(filepath=str(song[0]), finds_beats=False)
    assert parse(text_of(rig).as_string()).tick_s == 1.0
    assert bpy.ops.takt.find_beats() == {"FINISHED"}  # type: ignore[attr-defined]
    assert parse(text_of(rig).as_string()).tick_s != 1.0


def test_music_that_cannot_be_leaves_all_as_it_was(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    before = text_of(rig).as_string()
    (library / "junk.wav").write_bytes(bytes(range(256)) * 20)
    for path, says in ((library / "junk.wav", "sound"), (library / "nix.wav", "sound"),
                       (library / "dance.pha", "endings|sound")):
        with pytest.raises(RuntimeError, match=says):
            choose(filepath=str(path))
    with pytest.raises(RuntimeError, match="no music"):
        bpy.ops.takt.remove_music()  # type: ignore[attr-defined]
    assert text_of(rig).as_string() == before and not strips()


def test_a_score_that_cannot_be_changed_keeps_its_music(rig: bpy.types.Object, library: Path,
                                                        song: tuple[Path, Loop],
                                                        tmp_path_factory: pytest.TempPathFactory) -> None:
    """Neither is another chosen, nor this one removed, by half: not in the character, and not in the scene."""
    play(library / "dance.pha")
    outside = tmp_path_factory.mktemp("outside")
    elsewhere = outside / "elsewhere.wav"
    elsewhere.write_bytes(song[0].read_bytes())
    choose(filepath=str(elsewhere))
    character = properties.character(rig)
    libraries: Any = bpy.data.libraries
    kept, name = character.sound, text_of(rig).name
    assert kept == str(elsewhere)
    libraries.write(str(outside / "texts.blend"), {text_of(rig)})
    with libraries.load(str(outside / "texts.blend"), link=True) as (_, wanted):
        wanted.texts = [name]
    character.text = wanted.texts[0]
    for attempt in (lambda: choose(filepath=str(song[0])), bpy.ops.takt.remove_music):  # type: ignore[attr-defined]
        with pytest.raises(RuntimeError, match="is linked from"):
            attempt()
    assert character.sound == kept
    assert [strip.type for strip in strips()] == ["SOUND"]


def test_music_may_lie_anywhere_and_it_is_said_where_it_was_when_it_is_gone(
        rig: bpy.types.Object, library: Path, song: tuple[Path, Loop],
        tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "music").mkdir()
    path = folder / "music" / "01. My Song.wav"
    write(path, song[1])
    play(library / "dance.pha")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "dance.blend"))
    assert choose(filepath=str(path)) == {"FINISHED"}
    assert '<music src="01_My_Song"' in text_of(rig).as_string() and len(strips()) == 1
    character = properties.character(rig)
    assert character.sound == "//music/01. My Song.wav" and not character.library
    assert score_music.music_of(rig) is not None and score_blocks.refresh(rig).music == path
    assert not score_music.is_gone(rig, "01_My_Song") and not score_music.is_gone(rig, "other")
    path.rename(path.with_name("away.wav"))
    assert score_music.is_gone(rig, "01_My_Song")
    with pytest.raises(FileError, match="'01_My_Song' is gone; bring this file back, or choose the music again"):
        score_music.music_of(rig)
    score_blocks.forget()
    assert score_blocks.refresh(rig).music is None
    assert choose(filepath=str(song[0])) == {"FINISHED"}
    assert character.sound == "" and '<music src="song"' in text_of(rig).as_string()


def test_a_new_score_keeps_its_library_whatever_its_music_is(rig: bpy.types.Object, song: tuple[Path, Loop]) -> None:
    bpy.ops.takt.new_score()  # type: ignore[attr-defined]
    before = properties.character(rig).library
    assert choose(filepath=str(song[0])) == {"FINISHED"}
    music = score_music.music_of(rig)
    assert music is not None and music.path == song[0] and properties.character(rig).library == before


def test_a_waveform_is_decoded_beside_blender(song: tuple[Path, Loop]) -> None:
    told: list[bool] = []
    assert sound.waveform(song[0], lambda: told.append(True)) is None
    until = time.monotonic() + 20.0
    while not told and time.monotonic() < until:
        time.sleep(0.05)
        sound.collect()
    drawn = sound.waveform(song[0], lambda: None)
    assert told and drawn is not None
    assert drawn.duration_s == pytest.approx(len(song[1].samples) / RATE, abs=0.01)
    assert drawn.rate_hz == RATE_HZ
    sound.unregister()


def test_what_is_no_sound_is_told(tmp_path: Path) -> None:
    path = tmp_path / "junk.mp3"
    path.write_bytes(b"no sound" * 100)
    with pytest.raises(FileError, match="cannot be read as sound"):
        sound.read_samples(path)


def write_silence(path: Path, duration_s: float) -> None:
    silence: Any = aud.Sound.silence(8000).limit(0.0, duration_s)
    silence.write(str(path), aud.RATE_8000, aud.CHANNELS_MONO, aud.FORMAT_S16, aud.CONTAINER_FLAC, aud.CODEC_FLAC)


def test_a_sound_without_end_is_refused_and_said(tmp_path: Path, rig: bpy.types.Object) -> None:
    """Little of FLAC holds hours of silence; its header may say so, or not."""
    path = tmp_path / "silence.flac"
    write_silence(path, 3700.0)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(FileError, match="lasts longer than 60 minutes; cut it"):
        sound.read_samples(path)
    assert sound.waveform(path, lambda: None) is None and sound.trouble_with(path) == ""
    assert sound._works[path, stamp(path)].work.has_ended(20.0)
    sound.collect()
    assert "longer than 60 minutes" in sound.trouble_with(path) and sound.waveform(path, lambda: None) is None
    sound.unregister()


@pytest.mark.parametrize("header_s", (1e9, None))
def test_what_a_header_says_of_the_length_is_not_trusted(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header_s: float | None) -> None:
    path = tmp_path / "silence.flac"
    write_silence(path, 90.0)
    if header_s is None:  # told as short, and as endless
        assert len(sound.read_samples(path)) == pytest.approx(90.0 * RATE_HZ, abs=100)
        monkeypatch.setattr(sound, "_MOST_S", 60.0)
    else:
        monkeypatch.setattr(sound, "_MOST_S", 89.0)
    with pytest.raises(FileError, match="lasts longer than"):
        sound.read_samples(path)


def test_a_sound_in_pieces_is_the_sound_as_a_whole(song: tuple[Path, Loop], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sound.read_samples(song[0])
    monkeypatch.setattr(sound, "_PIECE_S", 2.0)
    pieces = sound.read_samples(song[0])
    assert pieces.dtype == np.float32 and len(pieces) == pytest.approx(len(whole), abs=len(whole) / 2.0 / RATE_HZ + 1)
    size = min(len(whole), len(pieces))
    assert np.sqrt(np.mean((whole[:size] - pieces[:size]) ** 2)) < 0.1 * np.sqrt(np.mean(whole**2))


def test_another_score_does_not_keep_the_music(rig: bpy.types.Object, library: Path, song: tuple[Path, Loop]) -> None:
    play(library / "dance.pha")
    choose(filepath=str(song[0]))
    assert len(strips()) == 1
    play(library / "dance.pha")
    assert strips() or parse(text_of(rig).as_string()).music is None
    bpy.ops.takt.new_score()  # type: ignore[attr-defined]
    assert not strips()


def test_inherited_music_is_played_and_shown(rig: bpy.types.Object, library: Path, song: tuple[Path, Loop]) -> None:
    play(library / "dance.pha")
    (library / "base.pha").write_text('<pha version="2" tickLength="1"><music src="song" offset="0.5"/></pha>',
                                      encoding="utf-8")
    text = text_of(rig)
    text.from_string(text.as_string().replace('tickLength="1.0"', 'version="2" tickLength="1.0" extends="base"'))
    assert score_music.music_of(rig) == (song[0].resolve(), 0.5)
    score_blocks.find_windows(rig)
    blocks = score_blocks.refresh(rig)
    assert blocks.layout is not None and blocks.error is None
    assert blocks.music == song[0].resolve() and blocks.layout.music is not None
    assert (blocks.layout.music.src, blocks.layout.documents[0].music) == ("song", None)
    assert Stripes.of(blocks.layout, View(900.0, 400.0)).music is not None


def test_music_without_beats_is_chosen_all_the_same(
        tmp_path: Path, rig: bpy.types.Object, library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(library / "dance.pha")
    path = library / "silence.flac"
    write_silence(path, 3.0)
    assert choose(filepath=str(path)) == {"FINISHED"}
    assert '<music src="silence"' in text_of(rig).as_string()
    assert "no beats to go by" in capsys.readouterr().out
