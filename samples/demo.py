"""From the zip to the film: install it, build the character, bind it, import the dance, draw it.

Started by `dev.py demo` as: demo.py ZIP OUT, inside Blender's own Python module and an empty user folder.
"""

import importlib
import os
import shutil
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout  # noqa: F401  # makes takt known

from takt.samples import dancer, film
from takt.windowless import missing_graphics

FULL_HD, SMALL = (1920, 1080), (960, 540)
SOFTWARE = ("llvmpipe", "softpipe", "swiftshader")
"""Drivers that let the processor draw, which takes a second for each picture of Full HD."""
ZONES_SIZE = 720, 960
STRIP_SIZE = 200, 400
STRIP_PICTURES = 9
REACH_M = 0.6
"""How far around its root a dancer may reach."""
HEADROOM = 1.2
"""How high raised hands may be, in heights of the body."""


def main(archive: Path, out: Path) -> None:
    """Make everything; print the paths and one line of figures."""
    began_s = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    say(f"install {archive.name}")
    bpy.ops.extensions.package_install_files(filepath=str(archive), repo="user_default", enable_on_install=True)
    star = prepared()
    say(f"import {dancer.DANCE.name}")
    dancer.play()
    made = [out / "dance.blend"]
    bpy.ops.wm.save_as_mainfile(filepath=str(made[0]), compress=True)
    if reason := missing_graphics() or installed("bridge.versions").start_gpu():
        say(f"no pictures: {reason}")
    else:
        made += star.draw(out)
    print(*made, sep="\n")
    print(f"{len(star.mesh.data.vertices):,} vertices, {len(star.armature.data.bones)} bones, "
          f"{star.duration_s:.1f} s of dance, made in {time.perf_counter() - began_s:.0f} s", flush=True)


def prepared() -> "Dancer":
    """Build the sample character and bind it as a user does: select, then click."""
    say("build the sample character and bind it")
    return Dancer(bpy.context.scene, *dancer.bound_dancer())


@dataclass(frozen=True)
class Dancer:
    """The bound character, and how it is drawn: by the preview of the installed extension."""

    scene: Any
    armature: Any
    mesh: Any

    @property
    def duration_s(self) -> float:
        """Length of the dance."""
        return float((self.scene.frame_end - self.scene.frame_start) / self.fps)

    @property
    def fps(self) -> float:
        """Frames per second."""
        return float(self.scene.render.fps / self.scene.render.fps_base)

    def draw(self, out: Path) -> list[Path]:
        """Write the pictures and the film; return their paths."""
        zones, transitions, dance = out / "zones.png", out / "transitions.png", out / "dance.mp4"
        say("draw the zones of influence and a transition")
        first = self.scene.frame_start
        files = installed("bridge.files.film")
        files.write_picture(next(self.pictures([first], [self.camera([first], ZONES_SIZE)], "ZONES")), zones)
        files.write_picture(self.transition_strip(), transitions)
        self.draw_film(dance)
        return [zones, transitions, dance]

    def draw_film(self, path: Path) -> None:
        """Draw every frame and encode them."""
        numbers = range(self.scene.frame_start, self.scene.frame_end + 1)
        folder = path.with_suffix(".frames")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        frames, files, size = [], installed("bridge.files.film"), film_size()
        with files.PictureFile(*size) as file:
            for number, picture in zip(numbers, self.film_pictures(numbers, size), strict=True):
                if (number - numbers[0]) % 480 == 0:
                    say(f"draw {path.name}: frame {number} of {numbers[-1]}")
                frames.append(folder / f"{number:06}.png")
                file.write(picture, frames[-1])
        say(f"encode {path.name}")
        render = self.scene.render
        with film.quiet():
            files.encode_film(frames, path, render.fps, render.fps_base, size)
        shutil.rmtree(folder)

    def transition_strip(self) -> film.Picture:
        """Draw pictures through the longest transition, from half its length before it to half after."""
        start_s, length_s = longest_transition(self.armature)
        times_s = np.linspace(start_s - length_s / 2.0, start_s + 1.5 * length_s, STRIP_PICTURES)
        numbers = (self.scene.frame_start + times_s * self.fps).tolist()
        inside = (times_s >= start_s) & (times_s <= start_s + length_s)
        return film.strip(list(self.pictures(numbers, repeat(self.camera(numbers, STRIP_SIZE)))), inside.tolist())

    def pictures(self, frames: Sequence[float], cameras: Iterable[film.Camera],
                 kind: str = "SHADED") -> Iterator[film.Picture]:
        """Draw frames with the extension's preview, each through its camera; all cameras have one size."""
        views = iter(cameras)
        first = next(views)
        renderer = installed("preview.offscreen").Renderer(self.scene, [self.mesh], first.width, first.height)
        with renderer:
            for frame, root, camera in zip(frames, self.roots(frames), chain([first], views), strict=False):
                self.go_to(frame)
                picture = renderer.draw(camera.view_from_world, camera.clip_from_view, kind)
                yield film.over(picture, camera.ground(root[:2]))

    def film_pictures(self, frames: Sequence[int], size: tuple[int, int]) -> Iterator[film.Picture]:
        """Draw frames as the extension's films show them."""
        plays = installed("bridge.scores.score").motion_of
        framed = installed("preview.framing").frame_characters(self.scene, [self.armature], plays, frames)
        with installed("preview.offscreen").Renderer(self.scene, [self.mesh], *size) as renderer:
            for number, frame in enumerate(frames):
                self.go_to(frame)
                yield renderer.draw(*framed.view(number, *size), floor=framed.floor(number))

    def camera(self, frames: Sequence[float], size: tuple[int, int]) -> film.Camera:
        """Return a camera that has the dancer in view in all those frames."""
        return self.framing(self.roots(frames), size)

    def framing(self, roots: film.Array, size: tuple[int, int]) -> film.Camera:
        """Return a camera that has in view what the dancer reaches from where the root is, (N, 3)."""
        low = np.append(roots[:, :2].min(axis=0) - REACH_M, 0.0)
        high = np.append(roots[:, :2].max(axis=0) + REACH_M, self.mesh.dimensions.z * HEADROOM)
        return film.Camera.framing(low, high, *size)

    def roots(self, frames: Sequence[float]) -> film.Array:
        """Return where the skeleton's root is at frames (F,), in world space, (F, 3)."""
        motion = installed("bridge.scores.score").motion_of(self.armature)
        times_s = (np.asarray(frames, dtype=np.float64) - self.scene.frame_start) / self.fps
        posed = installed("core.skeletons.skeleton").world_from_pose(motion.skeleton, motion.sample(times_s))
        world = np.array(self.armature.matrix_world)
        return np.asarray(posed[:, 0, :, 3] @ world[:3, :3].T + world[:3, 3])

    def go_to(self, frame: float) -> None:
        """Set the scene's frame, which may lie between two."""
        whole = int(np.floor(frame))
        self.scene.frame_set(whole, subframe=frame - whole)


def film_size() -> tuple[int, int]:
    """Return the film's width and height: Full HD where a graphics card draws it."""
    import gpu

    driver = gpu.platform.renderer_get().lower()
    return SMALL if any(name in driver for name in SOFTWARE) else FULL_HD


def longest_transition(armature: Any) -> tuple[float, float]:
    """Return start and length in seconds of the longest transition of the dance."""
    motion = installed("bridge.scores.score").motion_of(armature)
    longest = int(np.argmax(motion.transitions_s))
    return float(motion.layout.window_begin_s[longest]), float(motion.transitions_s[longest])


def installed(module: str) -> Any:
    """Return a module of the extension as it was installed from the zip, not of the checkout."""
    return importlib.import_module(f"bl_ext.user_default.takt.{module}")


def say(text: str) -> None:
    """Tell what happens next."""
    print(f"· {text}", flush=True)


if __name__ == "__main__":
    code = 0
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    os._exit(code)  # Blender 4.5 may crash while it winds down
