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
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout  # noqa: F401  # makes takt known

from takt.bridge.files.film import encode_film
from takt.bridge.scores import score_blocks, score_tree
from takt.core.score_editor.layout import Layout
from takt.docs import window
from takt.docs.window import context
from takt.preview.score_editor import windows
from takt.samples import dancer

FPS = 5
SIZE = 1398, 876
FILM_SIZE = 1048, 656
_SIDEBAR, _TAB = (1142, 134), (1134, 292)
_ADD_SAMPLE, _NEW_SCORE, _SCORE_EDITOR = (999, 380), (1057, 299), (999, 326)
_PREVIEW, _ZOOM = (977, 482), (834, 216)
_ADD, _MUSIC_ENTRY = (161, 482), (196, 527)
_DRUMS, _ACCEPT = (306, 238), (1326, 853)
_PLAY = (540, 827)
"""Where buttons are on the screen, in a window of that size."""
_PX_A_PICTURE = 220.0
"""So far a hand goes in a fifth of a second."""
_CLIPS = ("sway", "arms_up", "disco", "jump")
_MUSIC = "drums.wav"
_POINTER = "0,0 0,17 4,13.5 7,20 9.5,19 6.5,12.5 12,12"


class Reel:
    """Pictures of the screen with the mouse, which the screen itself does not show in them."""

    def __init__(self, folder: Path) -> None:
        """Begin with the mouse in the middle."""
        self.pictures: list[Path] = []
        self.mouse = (700.0, 300.0)
        self.is_pressed = False
        self._folder = folder

    def shoot(self) -> None:
        """Take a picture."""
        path = self._folder / f"{len(self.pictures):05}.png"
        x, y = (round(each - edge) for each, edge in zip(self.mouse, (window.LEFT, window.TOP), strict=True))
        ring = ["-fill", "none", "-stroke", "#ff9a2a", "-strokewidth", "3", "-draw",
                f"circle {x},{y} {x + 14},{y}"] if self.is_pressed else []
        part = f"{SIZE[0]}x{SIZE[1]}+{window.LEFT}+{window.TOP}"
        subprocess.run(["magick", "x:root", "-crop", part, "+repage", *ring, "-fill", "white", "-stroke", "black",
                        "-strokewidth", "1", "-draw", f"translate {x},{y} polygon {_POINTER}", "-resize",
                        f"{FILM_SIZE[0]}x{FILM_SIZE[1]}!", "-define", "png:compression-level=1", str(path)], check=True)
        self.pictures.append(path)


reel = Reel(Path(tempfile.mkdtemp()))


def steps() -> Iterator[None]:
    """Do what a person does; Blender draws at each `yield`."""
    window.tell("search", "--name", "Blender", "windowsize", *map(str, SIZE))
    window.PAUSE_S = 0.4
    context.preferences.view.filebrowser_display_type = "SCREEN"
    dancer.LIBRARY, dancer.DANCE = with_drums(Path(tempfile.mkdtemp()))
    for _ in range(4):
        yield
    yield from begin()
    yield from clips()
    yield from music()
    yield from play()
    subprocess.run(["magick", str(reel.pictures[-15]), "-colors", "200", f"png8:{window.IMAGES}/score_editor_film.png"],
                   check=True)
    encode_film(reel.pictures, window.IMAGES / "score_editor_film.mp4", FPS, 1.0, FILM_SIZE, quality="MEDIUM")
    logging.getLogger(__name__).warning("%d s", len(reel.pictures) / FPS)


def begin() -> Iterator[None]:
    """A character, an empty score, the editor below, the preview, and a nearer look."""
    yield from waits(5)
    yield from click(_SIDEBAR)
    yield from click(_TAB)
    yield from waits(3)
    yield from click(_ADD_SAMPLE, patience=10)
    yield from click(_NEW_SCORE, patience=2)
    yield from click(_SCORE_EDITOR, patience=8)
    yield from click(_PREVIEW, patience=6)
    yield from go(*_ZOOM)
    yield from press()
    yield from go(_ZOOM[0], _ZOOM[1] - 42.0)
    yield from release()
    yield from waits(2)


def clips() -> Iterator[None]:
    """Drag four clips from the shelf to the end of the score."""
    end = 100.0
    for name in _CLIPS:
        yield from go(*on_shelf(name))
        yield from waits(8)  # it is watched
        yield from press()
        yield from go(*in_editor(end + 30.0, height() - 80.0))
        yield from release()
        yield from waits(2)
        end = last_end()


def music() -> Iterator[None]:
    """Choose the drums in the file browser."""
    yield from click(_ADD)
    yield from click(_MUSIC_ENTRY, patience=4)
    yield from waits(2)
    yield from click(_DRUMS)
    yield from click(_ACCEPT, patience=8)
    yield from waits(4)


def play() -> Iterator[None]:
    """Play; then go through the dance picture by picture, since here nothing is drawn as fast as it plays."""
    yield from click(_PLAY)
    window.tell("key", "Escape")
    yield
    scene = context.scene
    seconds = last_s() + 1.0
    for when_s in np.arange(0.0, seconds, 1.0 / FPS).tolist():
        scene.frame_set(1 + round(when_s * scene.render.fps))
        yield from waits(1)


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


def waits(pictures: int) -> Iterator[None]:
    """Let so many fifths of a second pass."""
    for _ in range(pictures):
        yield
        reel.shoot()


def go(x: float, y: float) -> Iterator[None]:
    """Move the mouse as a hand does, slower near its ends."""
    start, end = np.array(reel.mouse), np.array((x, y))
    number = max(int(np.ceil(np.linalg.norm(end - start) / _PX_A_PICTURE)), 2)
    for share in (0.5 - 0.5 * np.cos(np.pi * np.arange(1, number + 1) / number)).tolist():
        at = start + (end - start) * share
        reel.mouse = float(at[0]), float(at[1])
        window.mouse(round(at[0]), round(at[1]))
        yield from waits(1)


def press() -> Iterator[None]:
    """Press the left button."""
    reel.is_pressed = True
    window.tell("mousedown", "1")
    yield from waits(1)


def release() -> Iterator[None]:
    """Let it go."""
    yield from waits(1)
    reel.is_pressed = False
    window.tell("mouseup", "1")
    yield from waits(1)


def click(place: tuple[float, float], patience: int = 1) -> Iterator[None]:
    """Go somewhere and click; patience: how often Blender may draw before the film goes on."""
    yield from go(*place)
    yield from waits(1)
    yield from press()
    reel.is_pressed = False
    window.tell("mouseup", "1")
    for _ in range(patience):
        yield
    yield from waits(2)


def editor() -> Any:
    """Return the area of the score editor."""
    return next(area for _, area in score_tree.areas())


def in_editor(x: float, y: float) -> tuple[float, float]:
    """Return where on the screen a pixel of the editor is."""
    region = next(region for region in editor().regions if region.type == "WINDOW")
    return region.x + x + window.LEFT, window.TOP + context.window_manager.windows[0].height - region.y - y


def on_shelf(name: str) -> tuple[float, float]:
    """Return where a chip is on the screen."""
    shelf = windows.window_of(editor().spaces.active).shelf  # type: ignore[union-attr]  # it has been drawn
    assert shelf is not None
    box = shelf.boxes[[each.name for each in shelf.playables].index(name)]
    return in_editor(float(box[::2].mean()), float(box[1::2].mean()))


def height() -> float:
    """Return how high the editor is."""
    shown = windows.window_of(editor().spaces.active)
    assert shown is not None
    return shown.view.height


def layout() -> Layout:
    """Return the score as it is laid out."""
    blocks = score_blocks.shown(context.object)
    assert blocks is not None and blocks.layout is not None
    return blocks.layout


def last_end() -> float:
    """Return where the score ends in the editor."""
    shown = windows.window_of(editor().spaces.active)
    assert shown is not None
    return float(shown.view.x(np.array((layout().ticks,)))[0])


def last_s() -> float:
    """Return when it ends."""
    return float(layout().seconds(np.array((layout().ticks,)))[0])


window.run(steps())
