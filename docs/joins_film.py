"""Film ten clips joined by Blender's NLA and by Takt, side by side: `python3 docs/joins_film.py [FOLDER]`.

Needs Blender's Python module (bpy) and graphics. Leaves joins.mp4 and joins.png, a moment of it. Both dancers stand on
the same path: only how one clip becomes the next differs. The camera goes along, near enough to see the feet.
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout

import takt
from takt.benchmarks import nla
from takt.bridge import axes
from takt.bridge.actions import action
from takt.bridge.actions.channels import sample_channels
from takt.bridge.files.film import encode_film
from takt.bridge.rigs import armature
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, perform
from takt.core.playing.stage import FIRST_ROUND, Over
from takt.core.skeletons.skeleton import Pose
from takt.samples import dancer, film
from takt.samples.clip_files import LIBRARY

IMAGES = checkout.ROOT / "docs" / "images"
CLIPS = ("feet.Steps.left_step", "dance.Moves.sway", "feet.Steps.quarter_left", "gestures.Greetings.bow",
         "feet.Steps.side_step_right", "dance.Moves.kick_left", "dance.Moves.disco", "dance.Moves.squat",
         "gestures.Greetings.wave", "feet.Steps.left_step")
CLIP_S = 1.4
FRAMES_PER_SECOND = 12
SIZE = 480, 270
APART_M = 0.46
"""From the middle to each of the two."""
CAMERA_M, LENS_MM, TILT_RAD = np.array((0.0, -3.4, 0.55)), 64.0, np.radians(84.0)
CALM_S = 0.5
"""Over so long the camera's way is averaged."""
TILES, TILE_M = 24, 0.25
MOMENT_S = 1.42
STONE, CLAY = ("Stone", 0.45, 0.55, 0.70), ("Clay", 0.80, 0.52, 0.30)
SKY = 0.80, 0.84, 0.90
_context: Any = bpy.context
_ops: Any = bpy.ops


@dataclass(frozen=True, eq=False)
class Nla(Over):
    """The poses that Blender's NLA makes of the same clips at the same times."""

    row: nla.NlaRow

    @property
    def moved(self) -> Any:
        """Joints that anything moves, (J,)."""
        return self.below.moved

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses at times (F,)."""
        return self.row.sample(times_s)


def motions(rig: Any) -> tuple[Motion, Motion]:
    """Return what Blender's NLA makes of the ten clips, and what Takt does."""
    loads = "".join(f'<load src="{src}"/>' for src in dict.fromkeys(name.rpartition(".")[0] for name in CLIPS))
    calls = "".join(f'<call name="{name}" duration="{CLIP_S}"/>' for name in CLIPS)
    text = f'<pha tickLength="1">{loads}<procedure name="main">{calls}</procedure></pha>'
    skeleton, turn = armature.read_skeleton(rig), axes.armature_from_hanim(rig)
    up = rot.rotate(turn, np.array((0.0, 1.0, 0.0)))

    def performed(**settings: Any) -> Motion:
        return perform(text, None, Library([LIBRARY]), Performer(skeleton, up, turn), Settings(**settings))

    own, cut = performed(), performed(transitions=False, lock_feet=False)
    return replace(cut, end=Nla(cut.end, nla.NlaRow(cut, own.transitions_s, "blend-in"))), own


def tiles(colours: tuple[Any, Any]) -> None:
    """Lay tiles of two colours, so that one sees where feet are."""
    corners = np.arange(-TILES // 2, TILES // 2 + 1) * TILE_M
    points = [(x, y, 0.0) for y in corners for x in corners]
    row = len(corners)
    faces = [(j * row + i, j * row + i + 1, (j + 1) * row + i + 1, (j + 1) * row + i)
             for j in range(TILES) for i in range(TILES)]
    mesh = bpy.data.meshes.new("Tiles")
    mesh.from_pydata(points, [], faces)
    for colour in colours:
        mesh.materials.append(colour)
    mesh.polygons.foreach_set("material_index", np.array([(n // TILES + n % TILES) % 2 for n in range(len(faces))],
                                                         dtype=np.int32))
    _context.collection.objects.link(bpy.data.objects.new("Tiles", mesh))


def colour(name: str, *rgb: float) -> Any:
    """Make a material that Workbench draws in one colour."""
    made: Any = bpy.data.materials.new(name)
    made.diffuse_color = (*rgb, 1.0)
    return made


def label(text: str, x: float, camera: Any) -> None:
    """Write a name below one of the dancers, where the camera always sees it."""
    data: Any = bpy.data.curves.new(text, "FONT")
    data.body, data.size, data.align_x = text, 0.008, "CENTER"
    data.materials.append(colour("Ink", 0.02, 0.02, 0.02))
    made = bpy.data.objects.new(text, data)
    made.parent, made.location = camera, (x, -0.041, -0.3)
    _context.collection.objects.link(made)


def stage() -> tuple[Any, FloatArray]:
    """Put both dancers on the stage; return the camera and where it stands in each frame, (F, 3)."""
    scene = _context.scene
    rigs = []
    for side in (-1.0, 1.0):
        rig, mesh = dancer.bound_dancer()
        mesh.data.materials.clear()
        mesh.data.materials.append(colour(*(CLAY if side > 0.0 else STONE)))
        rigs.append(rig)
        rig.location.x = side * APART_M
    played = motions(rigs[0])
    for rig, motion in zip(rigs, played, strict=True):
        action.write_action(rig, "Joined", sample_channels(motion, FRAMES_PER_SECOND, 1))
    frames = int(played[1].duration_s * FRAMES_PER_SECOND)
    scene.frame_start, scene.frame_end = 1, frames
    times = np.arange(frames) / FRAMES_PER_SECOND
    root = armature.read_skeleton(rigs[1])
    where = played[1].sample(times).translations[:, 0] @ rot.to_matrix(root.rest_world_rotations[0]).T * (1.0, 1.0, 0.0)
    width = round(CALM_S * FRAMES_PER_SECOND)
    padded = np.pad(where, ((width, width), (0, 0)), mode="edge")
    calm = np.stack([np.convolve(axis, np.ones(2 * width + 1) / (2 * width + 1), "valid") for axis in padded.T], axis=1)
    data = bpy.data.cameras.new("Camera")
    data.lens = LENS_MM
    camera = bpy.data.objects.new("Camera", data)
    camera.rotation_euler = TILT_RAD, 0.0, 0.0
    _context.collection.objects.link(camera)
    scene.camera = camera
    label("Blender's NLA", -0.041, camera)
    label("Takt", 0.041, camera)
    tiles((colour("Light", 0.72, 0.74, 0.78), colour("Dark", 0.60, 0.63, 0.68)))
    return camera, calm + CAMERA_M


def pictures(folder: Path) -> Iterator[Path]:
    """Draw frame by frame."""
    camera, stands = stage()
    scene = _context.scene
    render = scene.render
    render.engine, render.image_settings.file_format = "BLENDER_WORKBENCH", "PNG"
    render.resolution_x, render.resolution_y, render.resolution_percentage = *SIZE, 100
    scene.world = bpy.data.worlds.new("Day")
    scene.world.color, scene.view_settings.view_transform = SKY, "Standard"
    scene.display.shading.color_type, scene.display.shading.show_shadows = "MATERIAL", False
    scene.display.render_aa = "FXAA"
    for frame, at in enumerate(stands.tolist(), 1):
        scene.frame_set(frame)
        camera.location = at
        render.filepath = str(folder / f"{frame:06}.png")
        _ops.render.render(write_still=True)
        yield Path(render.filepath)


def main(folder: Path) -> None:
    """Draw the film, and the picture of a moment."""
    _ops.wm.read_factory_settings(use_empty=True)
    _context.scene.render.fps = FRAMES_PER_SECOND
    takt.register()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, film.quiet():
        files = list(pictures(Path(made)))
        (folder / "joins.png").write_bytes(files[round(MOMENT_S * FRAMES_PER_SECOND)].read_bytes())
        encode_film(files, folder / "joins.mp4", FRAMES_PER_SECOND, 1.0, SIZE)


if __name__ == "__main__":
    checkout.run(lambda: main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES))
