"""Film how a character begins to dance in an empty file, by mouse alone: score_editor_film.mp4 and its first picture.

    blender --factory-startup -p 0 0 1400 900 --python docs/score_editor_film.py -- IMAGES_FOLDER

Needs a screen of 1400 × 900, ImageMagick and xdotool. Each picture is a fifth of a second of a person's time: the mouse
moves as fast as a hand does, and what Blender takes longer for here, because its graphics are drawn by the processor,
is left out.
"""

import logging
import shutil
import subprocess
import sys
import tempfile
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout  # noqa: F401  # makes takt known

from takt.bridge.files.film import encode_film
from takt.docs import window
from takt.docs.editor_window import chip, layout_of, on_screen, shown
from takt.docs.reel import FILM_SIZE, Reel, fill_screen
from takt.docs.window import context
from takt.preview import life
from takt.samples import dancer

FPS = 5
_SIDEBAR, _TAB = (1142, 134), (1134, 292)
_ADD_SAMPLE, _NEW_SCORE, _SCORE_EDITOR = (999, 406), (1057, 325), (999, 352)
_PREVIEW, _ZOOM = (928, 482), (834, 216)
_ADD, _MUSIC_ENTRY = (161, 482), (196, 607)
_DRUMS, _ACCEPT = (306, 238), (1326, 853)
_PLAY = (540, 827)
"""Where buttons are on the screen, in a window of that size."""
_CLIPS = ("sway", "arms_up", "disco", "jump")
_MUSIC = "drums.wav"


reel = Reel(Path(tempfile.mkdtemp()), px_a_picture=220.0, mouse=(700.0, 300.0))
"""So far a hand goes in a fifth of a second."""


def steps() -> Iterator[None]:
    """Do what a person does; Blender draws at each `yield`."""
    fill_screen()
    window.PAUSE_S = 0.4
    context.preferences.view.filebrowser_display_type = "SCREEN"
    dancer.LIBRARY, dancer.DANCE = with_drums(Path(tempfile.mkdtemp()))
    for _ in range(4):
        yield
    yield from begin()
    yield from clips()
    yield from music()
    if layout_of().documents[0].music is None or not life.is_running():
        raise RuntimeError("There is no music, or no preview: the buttons are no longer where they were on the screen")
    yield from play()
    subprocess.run(["magick", str(reel.pictures[-15]), "-colors", "200", f"png8:{window.IMAGES}/score_editor_film.png"],
                   check=True)
    encode_film(reel.pictures, window.IMAGES / "score_editor_film.mp4", FPS, 1.0, FILM_SIZE, quality="MEDIUM")
    logging.getLogger(__name__).warning("%d s", len(reel.pictures) / FPS)


def begin() -> Iterator[None]:
    """A character, an empty score, the editor below, the preview, and a nearer look."""
    yield from reel.waits(5)
    yield from reel.click(_SIDEBAR)
    yield from reel.click(_TAB)
    yield from reel.waits(3)
    yield from reel.click(_ADD_SAMPLE, patience=10)
    yield from reel.click(_NEW_SCORE, patience=2)
    yield from reel.click(_SCORE_EDITOR, patience=8)
    yield from reel.click(_PREVIEW, patience=6)
    yield from reel.go(*_ZOOM)
    yield from reel.press()
    yield from reel.go(_ZOOM[0], _ZOOM[1] - 42.0)
    yield from reel.release()
    yield from reel.waits(2)


def clips() -> Iterator[None]:
    """Drag four clips from the shelf to the end of the score."""
    end = 100.0
    for name in _CLIPS:
        yield from reel.go(*on_shelf(name))
        yield from reel.waits(8)  # it is watched
        yield from reel.press()
        yield from reel.go(*on_screen(end + 30.0, shown().view.height - 80.0))
        yield from reel.release()
        yield from reel.waits(2)
        end = last_end()


def music() -> Iterator[None]:
    """Choose the drums in the file browser."""
    yield from reel.click(_ADD)
    yield from reel.click(_MUSIC_ENTRY, patience=4)
    yield from reel.waits(2)
    yield from reel.click(_DRUMS)
    yield from reel.click(_ACCEPT, patience=8)
    yield from reel.waits(4)


def play() -> Iterator[None]:
    """Play; then go through the dance picture by picture, since here nothing is drawn as fast as it plays."""
    yield from reel.click(_PLAY)
    window.tell("key", "Escape")
    yield
    scene = context.scene
    seconds = last_s() + 1.0
    for when_s in np.arange(0.0, seconds, 1.0 / FPS).tolist():
        scene.frame_set(1 + round(when_s * scene.render.fps))
        yield from reel.waits(1)


def with_drums(folder: Path) -> tuple[Path, Path]:
    """Return a copy of the samples with a drum loop in it, and the dance in there."""
    library = Path(shutil.copytree(dancer.LIBRARY, folder / "library"))
    rate, beat_s, beats = 22050, 0.5, 48
    now_s = np.arange(int(beats * beat_s * rate)) / rate
    since_s = now_s % beat_s
    kick = np.sin(2.0 * np.pi * 55.0 * since_s) * np.exp(-since_s * 18.0)
    hat = np.random.default_rng(7).normal(size=len(now_s)) * np.exp(-((now_s + beat_s / 2.0) % beat_s) * 70.0)
    samples = kick + 0.25 * hat
    with wave.open(str(library / _MUSIC), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((samples / np.abs(samples).max() * 30000.0).astype("<i2").tobytes())
    return library, library / dancer.DANCE.name


def on_shelf(name: str) -> tuple[float, float]:
    """Return where a chip is on the screen."""
    return on_screen(*chip(name))


def last_end() -> float:
    """Return where the score ends in the editor."""
    return float(shown().view.x(np.array((layout_of().ticks,)))[0])


def last_s() -> float:
    """Return when it ends."""
    layout = layout_of()
    return float(layout.seconds(np.array((layout.ticks,)))[0])


window.run(steps())
