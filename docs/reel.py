"""What the scripts share that film a desktop Blender: pictures of its window, and a mouse that moves as a hand does."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from takt.docs import window
from takt.samples import film

SIZE, FILM_SIZE = (1398, 876), (1048, 656)
"""Of Blender's window on the screen, and of the pictures of it."""
_POINTER = "0,0 0,17 4,13.5 7,20 9.5,19 6.5,12.5 12,12"
_WORDS_PX, _WORDS_AT_PX = 26, (80, 140)
_RING_PX = 14


class Reel:
    """Pictures of the screen with the mouse, which the screen itself does not show in them, and with words."""

    def __init__(self, folder: Path, *, name: str = "", px_a_picture: float, mouse: tuple[float, float]) -> None:
        """Keep pictures in a folder, as NAME00000.png on.

        px_a_picture: how far a hand goes from one picture to the next; mouse: where it is at first.
        """
        self.pictures: list[Path] = []
        self.mouse, self.is_pressed, self.words = mouse, False, ""
        self._folder, self._name, self._px_a_picture = folder, name, px_a_picture

    def shoot(self) -> None:
        """Take a picture."""
        x, y = (round(each - edge) for each, edge in zip(self.mouse, (window.LEFT, window.TOP), strict=True))
        ring = ["-fill", "none", "-stroke", "#ff9a2a", "-strokewidth", "3", "-draw",
                f"circle {x},{y} {x + _RING_PX},{y}"] if self.is_pressed else []
        words = ["-stroke", "none", *labelled(self.words, _WORDS_PX, "NorthWest", *_WORDS_AT_PX)] if self.words else []
        part = f"{SIZE[0]}x{SIZE[1]}+{window.LEFT}+{window.TOP}"
        path = self._next()
        subprocess.run(["magick", "x:root", "-crop", part, "+repage", *ring, "-fill", "white", "-stroke", "black",
                        "-strokewidth", "1", "-draw", f"translate {x},{y} polygon {_POINTER}", *words, "-resize",
                        f"{FILM_SIZE[0]}x{FILM_SIZE[1]}!", "-define", "png:compression-level=1", str(path)], check=True)

    def hold(self) -> None:
        """Show the last picture once more."""
        last = self.pictures[-1].read_bytes()
        self._next().write_bytes(last)

    def waits(self, pictures: int) -> Iterator[None]:
        """Let time pass for so many pictures."""
        for _ in range(pictures):
            yield
            self.shoot()

    def rests(self, pictures: int) -> Iterator[None]:
        """Let time pass for so many pictures, in which nothing moves."""
        yield from self.waits(1)
        for _ in range(pictures - 1):
            self.hold()

    def go(self, x: float, y: float) -> Iterator[None]:
        """Move the mouse as a hand does, slower near its ends."""
        start, end = np.array(self.mouse), np.array((x, y))
        number = max(int(np.ceil(np.linalg.norm(end - start) / self._px_a_picture)), 2)
        for share in (0.5 - 0.5 * np.cos(np.pi * np.arange(1, number + 1) / number)).tolist():
            at = start + (end - start) * share
            self.mouse = float(at[0]), float(at[1])
            window.mouse(round(at[0]), round(at[1]))
            yield from self.waits(1)

    def press(self) -> Iterator[None]:
        """Press the left button."""
        self.is_pressed = True
        window.tell("mousedown", "1")
        yield from self.waits(1)

    def release(self) -> Iterator[None]:
        """Let it go."""
        yield from self.waits(1)
        self._let_go()
        yield from self.waits(1)

    def click(self, place: tuple[float, float], patience: int = 1) -> Iterator[None]:
        """Go somewhere and click; patience: how often Blender may draw before the film goes on."""
        yield from self.go(*place)
        yield from self.waits(1)
        yield from self.press()
        self._let_go()
        for _ in range(patience):
            yield
        yield from self.waits(2)

    def _let_go(self) -> None:
        self.is_pressed = False
        window.tell("mouseup", "1")

    def _next(self) -> Path:
        self.pictures.append(self._folder / f"{self._name}{len(self.pictures):05}.png")
        return self.pictures[-1]


def fill_screen() -> None:
    """Give the window the size of the films."""
    window.tell("search", "--name", "Blender", "windowsize", *map(str, SIZE))


def labelled(words: str, size: int, edge: str, across: int, down: int) -> list[str]:
    """Return what lets ImageMagick write words so many pixels from the edges of a picture."""
    return ["-gravity", edge, "-pointsize", str(size), "-undercolor", "#000000b0", "-fill", "white", "-annotate",
            f"+{across}+{down}", f" {words} "]


def pixels_of(path: Path) -> film.Picture:
    """Return a picture, (H, W, 4), from above."""
    image: Any = bpy.data.images.load(str(path))
    width, height = image.size
    pixels = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return np.rint(255.0 * pixels.reshape(height, width, 4)[::-1]).astype(np.uint8)
