"""What one drawn picture costs the processor, against Blender's own playback of the same scene.

python3 dev.py bench preview draws characters of 67 bones offscreen and prints, in milliseconds for each picture: for
crowds of 1, 10 and 50, what Takt's draw handler needs (looking who is to be seen, sampling the score, palettes,
upload, drawing calls, but not the GPU's own work), while it is played and where nothing of the frame was sampled
before, as after a jump; and what Blender needs to go to the next frame with the same dance as Actions; then Fecko's
table (2010): one character with 547 to 70,410 vertices, by the processor alone and until the picture is there, on the
renderer that is named. All are medians; each picture comes after Blender's own evaluation of the next frame, which
leaves nothing of ours in the processor's caches. Last, memory: how much the images take on the GPU that the materials
of 1 and 10 characters read, and how much more the process holds once they have been drawn. With --tweaks, only crowds:
without tweaks, with 100 keys each that leave the feet alone, and with 100 keys each, half of them of hips and legs.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import checkout
import gpu
import numpy as np

import takt
from takt.benchmarks import tweaks as tweaks_bench
from takt.bridge import changes
from takt.bridge.meshes.groups import write_influences
from takt.bridge.scores.score import shown
from takt.bridge.tweaking import tweaked_motion, tweaks
from takt.bridge.versions import start_gpu
from takt.core.playing.ahead import Ahead
from takt.core.skinning.influences import Influences
from takt.preview import draw as draw_module
from takt.preview import life
from takt.preview.instances import sampled_rows, tweaked_rows
from takt.preview.materials import NO_IMAGE
from takt.samples.character import build_character
from takt.windowless import missing_graphics

VERTICES = 7_000
CROWDS = (1, 10, 50)
FECKO_VERTICES = (547, 2_501, 11_735, 23_470, 46_940, 70_410)
TEXTURED = (1, 10)
IMAGE_SIZE = 1024
PICTURES, WARM_UP = 40, 5
TWEAK_KEYS, TWEAKED_PICTURES = 100, 128
ABOVE_HIPS = 10
"""So many bones of the character come before those of its trunk: its root, its hips and its legs."""
SIZE = 512
_PIXEL_BYTES = {"R8": 1, "RG8": 2, "RGBA8": 4, "SRGB8_A8": 4, "R16F": 2, "RGBA16F": 8, "R32F": 4, "RGBA32F": 16}
_MIPMAPS = 4.0 / 3.0
"""How much a texture takes with its smaller copies."""
_SCORE = Path(__file__).resolve().parents[1] / "samples" / "library" / "dance.pha"
_context: Any = bpy.context
_ops: Any = bpy.ops


def main() -> int:
    """Measure and print both tables."""
    if reason := missing_graphics() or start_gpu():
        print(f"no pictures: {reason}")
        return 1
    takt.register()
    print(f"Blender {bpy.app.version_string}, {gpu.platform.renderer_get()}")
    print(f"\n{'characters':>12} {'Takt ms':>9} {'anew ms':>9} {'Blender ms':>11}   "
          f"(67 bones, {VERTICES:,} vertices each)")
    if "--tweaks" in sys.argv:
        print_tweaked()
        return 0
    for count in CROWDS:
        takt_ms, _ = measured(count, VERTICES)
        anew_ms, _ = measured(count, VERTICES, anew=True)
        print(f"{count:12,} {takt_ms:9.2f} {anew_ms:9.2f} {blenders_own_ms():11.2f}")
    print(f"\n{'vertices':>12} {'Takt ms':>9} {'picture ms':>11}   (one character; Fecko 2010)")
    for vertices in FECKO_VERTICES:
        takt_ms, picture_ms = measured(1, vertices)
        print(f"{vertices:12,} {takt_ms:9.2f} {picture_ms:11.2f}")
    print(f"\n{'characters':>12} {'images':>7} {'on GPU MB':>10} {'process MB':>11}   "
          f"(an image of {IMAGE_SIZE} x {IMAGE_SIZE} each)")
    for count in TEXTURED:
        images, on_gpu_mb, process_mb = textured(count)
        print(f"{count:12,} {images:7,} {on_gpu_mb:10.1f} {process_mb:11.1f}")
    return 0


def print_tweaked() -> None:
    """Print what a crowd costs without tweaks, with such as leave the feet alone, and with such as carry them.

    First pictures as they come after switching on; start: what that takes, and the first few pictures. Then the same
    where Blender was idle before, for as long as it takes to sample the whole scene, which is told too.
    """
    life._SAMPLING_S = np.inf  # the first picture waits for everybody
    print(f"{'':12} {'mean ms':>9} {'median':>9} {'worst':>9} {'start ms':>9}   after idling: "
          f"{'mean ms':>9} {'median':>9} {'worst':>9} {'idle ms':>9}")
    for count in CROWDS:
        for name, keys, first in (("no tweaks", 0, 0), ("keys above the hips", TWEAK_KEYS, ABOVE_HIPS),
                                  ("keys of hips and legs too", TWEAK_KEYS, 0)):
            dancers(count, VERTICES, keys, first)
            motion = shown(_context.scene.objects["Dancer"])
            assert motion is not None
            untweaked = motion.untweaked
            assert keys == 0 if untweaked is None else (untweaked.feet is None) == (first > 0)
            began = time.thread_time()
            life.get_ready(_context.scene, _context.view_layer)
            start_ms = (time.thread_time() - began) * 1e3
            start, at_once = np.split(np.array(each_ms(TWEAKED_PICTURES)), [WARM_UP])
            start_ms += start.sum()
            idle_ms = idle()
            _, prepared = np.split(np.array(each_ms(TWEAKED_PICTURES)), [WARM_UP])
            told = (f"{spent.mean():9.2f} {np.median(spent):9.2f} {spent.max():9.2f}" for spent in (at_once, prepared))
            print(f"{count:12,} {next(told)} {start_ms:9.0f}   {'':14}{next(told)} {idle_ms:9.0f}   {name}")
            life.stop()


def idle() -> float:
    """Let motions be drawn anew, of which nothing is known, then be sampled as while Blender is idle; return its ms."""
    running = life._running
    assert running is not None
    running.cast.ahead = Ahead(sampled_rows, tweaked_rows)
    tweaked_motion._shown.clear()
    changes.score()
    each_ms(0)
    running.preparing.drawn_s = -np.inf
    began = time.thread_time()
    while life._prepare() is not None:
        pass
    return (time.thread_time() - began) * 1e3


def each_ms(pictures: int) -> list[float]:
    """Return milliseconds of the processor for each of so many pictures, and before them of some that begin."""
    scene, window = _context.scene, _context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    target: Any = gpu.types.GPUOffScreen(SIZE, SIZE)
    found = []
    with _context.temp_override(window=window, area=area, region=region), target.bind(), gpu_left_out():
        for number in range(pictures + WARM_UP):
            scene.frame_set(scene.frame_start + number)
            began = time.thread_time()
            life.draw_viewport(_context)
            found.append((time.thread_time() - began) * 1e3)
    target.free()
    return found


def measured(count: int, vertices: int, *, anew: bool = False) -> tuple[float, float]:
    """Return milliseconds of the processor for each picture, and until the picture is there, of a crowd.

    anew: as if nothing had been sampled before.
    """
    dancers(count, vertices)
    try:
        return drawing_ms(PICTURES, anew=anew)
    finally:
        life.stop()


def drawing_ms(pictures: int, *, anew: bool = False) -> tuple[float, float]:
    """Return milliseconds of the processor for each picture, and until the picture is there."""
    scene, window = _context.scene, _context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    target: Any = gpu.types.GPUOffScreen(SIZE, SIZE)
    with _context.temp_override(window=window, area=area, region=region), target.bind():
        framebuffer = gpu.state.active_framebuffer_get()

        def wait() -> None:
            framebuffer.read_color(0, 0, 1, 1, 4, 0, "UBYTE")

        def go_on(number: int) -> None:
            wait()
            scene.frame_set(scene.frame_start + number)
            if anew and life._running is not None:
                life._running.cast.ahead = Ahead(sampled_rows, tweaked_rows)
            framebuffer.clear(color=(0.0, 0.0, 0.0, 0.0), depth=1.0)

        def draw(_: int) -> None:
            life.draw_viewport(_context)

        with gpu_left_out():
            alone = median_ms(draw, pictures, go_on, time.thread_time)  # the processor's own, whoever else is at it

        def draw_and_wait(number: int) -> None:
            draw(number)
            wait()

        whole = median_ms(draw_and_wait, pictures, go_on)
    target.free()
    return alone, whole


def textured(count: int) -> tuple[int, float, float]:
    """Return how many images a crowd's materials read, the MB they take on the GPU, and by which the process grows.

    The process holds Blender's own copy of each image before; on a software renderer it is the GPU as well.
    """
    dancers(count, VERTICES)
    for body in [ob for ob in _context.scene.objects if ob.type == "MESH"]:
        clothe(body)
    area = next(area for area in _context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
    area.spaces.active.shading.type = "MATERIAL"
    before_mb = memory_mb()
    drawing_ms(WARM_UP)
    grown_mb = memory_mb() - before_mb
    running = life._running
    assert running is not None
    textures = [texture for number, texture in running.cast.painter._images._textures.items() if number != NO_IMAGE]
    on_gpu = sum(texture.width * texture.height * _PIXEL_BYTES[texture.format] for texture in textures) * _MIPMAPS
    life.stop()
    return len(textures), on_gpu / 2 ** 20, grown_mb


def clothe(body: Any) -> None:
    """Give a mesh a material that reads an image of its own."""
    image = bpy.data.images.new(body.name, IMAGE_SIZE, IMAGE_SIZE)
    image.update()
    material: Any = bpy.data.materials.new(body.name)
    material.use_nodes = True
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = image
    shader = material.node_tree.nodes["Principled BSDF"]
    material.node_tree.links.new(node.outputs["Color"], shader.inputs["Base Color"])
    body.data.uv_layers.new()
    body.data.materials.append(material)
    material.node_tree.nodes.active = node


def memory_mb() -> float:
    """Return what the process holds; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return float(pages * os.sysconf("SC_PAGE_SIZE")) / 2 ** 20
    except OSError:
        return 0.0


@contextmanager
def gpu_left_out() -> Iterator[None]:
    """Let the last call of all, which starts the GPU, do nothing: a software renderer works inside it."""
    kept = draw_module.draw_batch
    draw_module.draw_batch = lambda *_: None
    try:
        yield
    finally:
        draw_module.draw_batch = kept


def median_ms(do: Callable[[int], object], pictures: int = PICTURES, before: Callable[[int], None] = lambda _: None,
              clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how long it takes, in milliseconds; what is done before does not count."""
    taken = []
    for number in range(pictures + WARM_UP):
        before(number)
        began = clock()
        do(number)
        taken.append(clock() - began)
    return statistics.median(taken[WARM_UP:]) * 1e3


def blenders_own_ms() -> float:
    """Return how long Blender needs to go to the next frame of what stands in the scene."""
    scene = _context.scene
    return median_ms(lambda number: scene.frame_set(scene.frame_start + number))


def dancers(count: int, vertices: int, keys: int = 0, first: int = 0) -> None:
    """Fill an empty scene with characters that preview the dance, each in a phase and with an Action of its own.

    keys: of tweaks that each of them has, of bones from the first one on.
    """
    _ops.wm.read_factory_settings(use_empty=True)
    armature, body = build_character(_context)
    bpy.data.objects.remove(body)
    skin = woven(armature, vertices)
    _context.view_layer.objects.active = armature
    _ops.takt.import_pha(filepath=str(_SCORE))
    rigs = [armature, *(copied(armature, skin) for _ in range(count - 1))]
    for number, rig in enumerate(rigs):
        rig.takt.frame_start = 1 - 2 * number
        if keys:
            tweaks_bench.set_keys(rig, tweaks.begin(rig, f"{rig.name} tweaks"), float(_context.scene.frame_end), keys,
                                  first)
            tweaks.look(rig, _context.scene)
    life.choices().strip = False
    life.start(rigs)
    _context.view_layer.update()


def woven(armature: Any, vertices: int) -> Any:
    """Return a cloth of about so many vertices, each bound to four bones at random: what it costs is the same."""
    columns = round(np.sqrt(vertices))
    x, z = np.meshgrid(np.linspace(-1.0, 1.0, columns), np.linspace(0.0, 2.0, round(vertices / columns)))
    points = np.stack((x, np.zeros_like(x), z), axis=-1).reshape(-1, 3)
    corners = np.arange(len(points)).reshape(x.shape)
    faces = np.stack((corners[:-1, :-1], corners[:-1, 1:], corners[1:, 1:], corners[1:, :-1]), axis=-1).reshape(-1, 4)
    data = bpy.data.meshes.new("Cloth")
    data.from_pydata(points.tolist(), [], faces.tolist())
    data.shade_smooth()
    mesh: Any = bpy.data.objects.new("Cloth", data)
    _context.scene.collection.objects.link(mesh)
    names = [bone.name for bone in armature.data.bones]
    random = np.random.default_rng(1)
    joints = random.permuted(np.tile(np.arange(len(names)), (len(points), 1)), axis=1)[:, :4]
    weights = -np.sort(-random.dirichlet(np.ones(4), len(points)), axis=1)
    write_influences(mesh, names, Influences(joints, weights))
    mesh.modifiers.new("Armature", "ARMATURE").object = armature
    return mesh


def copied(armature: Any, mesh: Any) -> Any:
    """Return a copy of the armature, with a copy of the mesh; data of their own, as different characters have."""
    rig, skin = armature.copy(), mesh.copy()
    rig.data, skin.data = armature.data.copy(), mesh.data.copy()
    rig.animation_data.action = armature.animation_data.action.copy()
    rig.animation_data.action_slot = rig.animation_data.action.slots[0]
    skin.modifiers[0].object = rig
    for ob in (rig, skin):
        _context.scene.collection.objects.link(ob)
    return rig


if __name__ == "__main__":
    checkout.run(main)
