"""Film the first hour with one's own characters and clips: first_hour.mp4 and its first picture.

    blender --factory-startup -p 0 0 1400 900 --python docs/first_hour_film.py -- IMAGES_FOLDER

Needs a screen of 1400 × 900, ImageMagick and xdotool. The script makes the files first: two characters with bones named
as two other programs do, and a folder of BVH clips on a third skeleton. Blocks and chips are dragged and clicked with
the mouse; buttons, the search and files are operated by the script, and the words in the film say which. Each picture
is a fifth of a second of a person's time.
"""

import logging
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout  # noqa: F401  # makes takt known

from takt.bridge.files.film import encode_film
from takt.core.clips.clip import Clip, Tracks
from takt.core.formats import bvh
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import Skeleton
from takt.docs import window
from takt.docs.editor_window import box, chip, editor, layout_of, on_screen, shown
from takt.docs.reel import FILM_SIZE, Reel, fill_screen
from takt.docs.window import context, operators
from takt.samples import dancer
from takt.samples.clips import MODULES, build_clips

FPS, CLIP_FPS, STEPS, TURN_RAD = 5, 30.0, 6, np.radians(110.0)
_CHARACTERS: Final = (("Anna", 0, None), ("Bruno", 1, (0.16, 0.42, 0.62, 1.0)))
"""Files of characters: names, which names their bones have, and the colour of the whole body."""
_CLIPS: Final = 2
"""Which names the joints of the clips have."""
_TRUNK: Final = {
    "HumanoidRoot": ("mixamorig:Hips", "pelvis", "Hips"), "vl5": ("mixamorig:Spine", "spine_01", "Chest"),
    "vt10": ("mixamorig:Spine1", "spine_02", "Chest2"), "vt3": ("mixamorig:Spine2", "spine_03", "Chest3"),
    "vc7": ("mixamorig:Neck", "neck_01", "Neck"), "skullbase": ("mixamorig:Head", "head", "Head")}
_LIMBS: Final = {
    "hip": ("mixamorig:{0}UpLeg", "thigh_{1}", "{0}Hip"), "knee": ("mixamorig:{0}Leg", "calf_{1}", "{0}Knee"),
    "ankle": ("mixamorig:{0}Foot", "foot_{1}", "{0}Ankle"),
    "metatarsal": ("mixamorig:{0}ToeBase", "ball_{1}", "{0}Toe"),
    "sternoclavicular": ("mixamorig:{0}Shoulder", "clavicle_{1}", "{0}Collar"),
    "shoulder": ("mixamorig:{0}Arm", "upperarm_{1}", "{0}Shoulder"),
    "elbow": ("mixamorig:{0}ForeArm", "lowerarm_{1}", "{0}Elbow"),
    "wrist": ("mixamorig:{0}Hand", "hand_{1}", "{0}Wrist")}
"""Names of joints in three programs, by H-Anim's; all other joints keep theirs."""
_FOLDERS: Final = {"feet/Steps.skeleton.xml": "walks", "dance/Moves.skeleton": "dances",
                   "gestures/Greetings.skeleton.xml": "gestures"}
_SEARCH: Final = "walk, turning left, slow"

reel = Reel(Path(tempfile.mkdtemp()), px_a_picture=220.0, mouse=(700.0, 300.0))


def steps() -> Iterator[None]:
    """Do what a person does in the first hour; Blender draws at each `yield`."""
    folder = Path(tempfile.mkdtemp())
    make_characters(folder)
    make_clips(folder / "my_clips")
    fill_screen()
    window.PAUSE_S = 0.3
    for _ in range(3):
        yield
    yield from begin(folder)
    yield from dance(folder / "my_clips")
    yield from others(folder)
    subprocess.run(["magick", str(reel.pictures[-8]), "-colors", "200", f"png8:{window.IMAGES}/first_hour.png"],
                   check=True)
    encode_film(reel.pictures, window.IMAGES / "first_hour.mp4", FPS, 1.0, FILM_SIZE, quality="LOW")
    logging.getLogger(__name__).warning("%d s", len(reel.pictures) / FPS)


def begin(folder: Path) -> Iterator[None]:
    """A character's file, an empty score, the editor below."""
    window.show_sidebar()
    yield
    window.open_tab()
    reel.words = "Takt is installed; the scene is empty"
    yield from reel.waits(6)
    reel.words = "A character of one's own: anna.glb, dropped into the window"
    operators.import_scene.gltf(filepath=str(folder / "anna.glb"))
    make_active("Anna")
    window.look_at((0.0, 0.0, 0.9), 5.4)
    yield from reel.waits(8)
    reel.words = "New Score, Score Editor"
    operators.takt.new_score()
    yield from reel.waits(2)
    operators.takt.score_editor("INVOKE_DEFAULT")
    yield from reel.waits(4)
    operators.takt.preview()
    yield from reel.waits(3)


def dance(clips: Path) -> Iterator[None]:
    """Bring the folder; find a walk; let what fits come first; save what came of it."""
    reel.words = f"Add Clip Folder: my_clips, {len(list(clips.rglob('*.bvh')))} BVH files in three folders"
    in_editor(operators.takt.add_clip_folder, directory=str(clips))
    yield from reel.waits(4)
    while not has_all_classes():
        yield
    yield from reel.waits(4)
    reel.words = "Clips are found by what they are"
    tree = editor().spaces.active.node_tree
    for end in range(0, len(_SEARCH) + 1, 2):
        tree.search = _SEARCH[:end]
        yield from reel.waits(1)
    tree.search = _SEARCH
    yield from reel.waits(4)
    yield from drag("arc_left")
    tree.search = ""
    reel.words = "What Fits After: first the clips that begin as this one ends"
    yield from select("arc_left")
    tree.shelf_order = "FITS"
    yield from reel.waits(8)
    for _ in range(2):
        yield from drag(first_on_shelf())
        yield from reel.waits(2)
    tree.shelf_order = "LIBRARY"
    yield from reel.waits(4)
    yield from drag("arms_up")
    yield from play("It plays on Anna: no mapping, no settings")
    reel.words = "Save as Clip: the selected blocks become a clip of the folder"
    in_editor(operators.takt.score_select, which="ALL")
    yield from reel.waits(3)
    in_editor(operators.takt.save_clip, source="BLOCKS", name="my_entrance", folder=str(clips))
    tree.search = "entrance"
    yield from reel.waits(8)
    tree.search = ""


def others(folder: Path) -> Iterator[None]:
    """Bring another character, and let it play the same score."""
    reel.words = "Another character: bruno.glb. Play on Character gives it the score"
    operators.import_scene.gltf(filepath=str(folder / "bruno.glb"))
    bruno = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.name.startswith("Bruno"))
    bruno.location.x = 1.3
    make_active("Anna")
    context.scene.frame_set(1)
    window.look_at((0.6, 0.0, 0.9), 7.5)
    yield from reel.waits(6)
    operators.takt.play_on_character(character=bruno.name)
    yield from reel.waits(6)
    yield from play("Bruno plays what Anna plays")


def play(words: str) -> Iterator[None]:
    """Go through the score picture by picture, since here nothing is drawn as fast as it plays."""
    reel.words, scene, layout = words, context.scene, layout_of()
    end_s = float(layout.seconds(np.array((layout.ticks,)))[0])
    for when_s in np.arange(0.0, end_s, 1.0 / FPS).tolist():
        scene.frame_set(1 + round(when_s * scene.render.fps))
        follow()
        yield from reel.waits(1)


def follow() -> None:
    """Look at where all characters are."""
    armatures: list[Any] = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    hips = [ob.matrix_world @ ob.pose.bones[0].head for ob in armatures]
    view = window.viewport()[1].spaces.active.region_3d
    view.view_location = *(sum(each[axis] for each in hips) / len(hips) for axis in range(2)), 0.9


def drag(name: str) -> Iterator[None]:
    """Drag a clip from the shelf to the end of the score."""
    yield from reel.go(*on_screen(*chip(name)))
    yield from reel.waits(5)  # it is watched
    yield from reel.press()
    end = float(shown().view.x(np.array((layout_of().ticks,)))[0])
    yield from reel.go(*on_screen(end + 30.0, shown().view.height - 80.0))
    yield from reel.release()
    yield from reel.waits(2)


def select(title: str) -> Iterator[None]:
    """Click a block."""
    left, low, right, high = box(title)
    yield from reel.click(on_screen((left + right) / 2.0, (low + high) / 2.0))


def first_on_shelf() -> str:
    """Return the name of the clip that fits best."""
    shelf = shown().shelf
    assert shelf is not None
    return shelf.playables[0].name


def has_all_classes() -> bool:
    """Tell whether the shelf knows what the clip is that is searched for."""
    shelf = shown().shelf
    return shelf is not None and all(each.tags for each in shelf.playables if each.is_clip and each.is_read) and any(
        each.name == "arc_left" and each.tags for each in shelf.playables)


def in_editor(operator: Any, **settings: Any) -> None:
    """Call an operator as from the score editor."""
    area = editor()
    region = next(region for region in area.regions if region.type == "WINDOW")
    with context.temp_override(window=context.window_manager.windows[0], area=area, region=region):
        operator("EXEC_REGION_WIN", **settings)


def make_active(name: str) -> None:
    """Select an armature and nothing else."""
    for ob in bpy.data.objects:
        ob.select_set(False)
    armature = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.name.startswith(name))
    armature.select_set(True)
    context.view_layer.objects.active = armature


def make_characters(folder: Path) -> None:
    """Write each character as a glTF file, with bones that have another program's names."""
    for name, convention, colour in _CHARACTERS:
        armature, mesh = dancer.bound_dancer()
        armature.name, mesh.name = name, f"{name} Body"
        for bone in armature.data.bones:
            bone.name = called(bone.name, convention)
        for material in mesh.data.materials if colour else ():
            shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
            shader.inputs["Base Color"].default_value = colour
            for link in list(shader.inputs["Base Color"].links):
                material.node_tree.links.remove(link)
        operators.export_scene.gltf(filepath=str(folder / f"{name.lower()}.glb"), use_selection=True)
        for ob in (mesh, armature):
            bpy.data.objects.remove(ob)
        bpy.data.orphans_purge(do_recursive=True)


def called(joint: str, convention: int) -> str:
    """Return what a joint is called in one of the programs."""
    side, _, part = joint.partition("_")
    if part in _LIMBS and side in ("l", "r"):
        return _LIMBS[part][convention].format({"l": "Left", "r": "Right"}[side], side)
    return _TRUNK[joint][convention] if joint in _TRUNK else joint


def make_clips(folder: Path) -> None:
    """Write the samples' clips and a walk along an arc as BVH files, on a skeleton of another kind."""
    made = [(_FOLDERS[module], clip) for module in MODULES if module in _FOLDERS for clip in build_clips(module)]
    own = made[0][1].skeleton
    other = Skeleton.from_arrays([called(each, _CLIPS) for each in own.names], own.parents, own.rest_rotations,
                                 own.rest_translations)
    for name, clip in (*made, ("walks", arc())):
        path = folder / name / f"{clip.name}.bvh"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bvh.write(replace(clip, skeleton=other), 1.0 / CLIP_FPS))


def arc() -> Clip:
    """Return a walk that turns left: steps one after the other, each frame turned about the vertical a little more."""
    by_name = {clip.name: clip for clip in build_clips("feet/Steps.skeleton.xml")}
    poses = [by_name[("left_step", "right_step")[number % 2]].sample(np.arange(24) / CLIP_FPS)
             for number in range(STEPS)]
    turns = np.concatenate([pose.rotations for pose in poses])
    moves = [np.diff(pose.translations[:, 0], axis=0, append=2.0 * pose.translations[-1:, 0]
                     - pose.translations[-2:-1, 0]) for pose in poses]
    heights = np.concatenate([pose.translations[:, 0, 1] for pose in poses])
    times = np.arange(len(turns)) / CLIP_FPS
    yaw = rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), TURN_RAD * times / times[-1])
    places = np.cumsum(rot.rotate(yaw, np.concatenate(moves)), axis=0)
    places[:, 1] = heights
    turns[:, 0] = rot.multiply(yaw, turns[:, 0])
    skeleton = by_name["left_step"].skeleton
    joints, starts = np.arange(len(skeleton)), np.arange(len(skeleton) + 1) * len(times)
    every = Tracks(joints, starts, np.tile(times, len(joints)),
                   rot.continuous(np.moveaxis(turns, 1, 0).reshape(-1, 4), starts))
    return Clip("arc_left", skeleton, float(times[-1]), every, Tracks.uniform(np.array((0,)), times, places[:, None]),
                Tracks.empty(3))


if __name__ == "__main__":
    window.run(steps())
