"""Film how poses that are set by hand go along with their score, in Blender's window; tweaks_film.py makes the film.

    blender --factory-startup -p 0 0 1400 900 --python docs/tweaks_viewport.py -- FOLDER

Needs a screen of 1400 × 900, ImageMagick and xdotool. Leaves in FOLDER pictures of the window, window_00000.png on, and
of the viewport alone at each frame of the dance, view_00000.png on, the dance as Blender exports it, dance.glb, and
where the viewport's eye is, eye.json. A verse is moved by the mouse; what else a person does is done by script.
"""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from mathutils import Quaternion

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout  # noqa: F401  # makes takt known

from takt.bridge.scores import following, score, score_blocks, score_edits, score_tree
from takt.bridge.tweaking import tweak_moments, tweaks
from takt.core.pha.edits import SetAttribute
from takt.core.score_editor.change import Edits
from takt.core.score_editor.stripes import Stripes
from takt.docs import window
from takt.docs.editor_window import layout_of, on_screen, shown
from takt.docs.reel import FILM_SIZE, Reel, fill_screen, labelled
from takt.docs.window import context, operators
from takt.preview.score_editor.life import show_tweaks
from takt.samples import dancer

FPS, FIRST_S, LAST_S = 8, 0.0, 5.0
"""Of the pictures of the viewport."""
SLOWER = "0.65"
_SCORE = """<?xml version="1.0"?>
<pha tickLength="0.5">
  <load src="dance.Moves"/>
  <load src="gestures.Greetings"/>
  <procedure name="verse">
    <call name="sway" duration="4"/>
    <call name="squat" duration="2"/>
  </procedure>
  <procedure name="chorus">
    <call name="disco" duration="4"/>
  </procedure>
  <procedure name="main">
    <call name="verse" duration="6"/>
    <call name="chorus" duration="4"/>
    <call name="bow" duration="4"/>
  </procedure>
</pha>
"""
_POSES = ((1.0, "r_shoulder", "l_shoulder", 1.1), (2.5, "vl5", "skullbase", 0.45),
          (4.0, "l_shoulder", "r_shoulder", 1.0))
"""Seconds, two joints, and by how much they are turned, in radians, about the viewport's line of sight."""


reel = Reel(window.IMAGES, name="window_", px_a_picture=120.0, mouse=(900.0, 500.0))


def steps() -> Iterator[None]:
    """Do what a person does; Blender draws at each `yield`."""
    fill_screen()
    window.PAUSE_S = 0.2
    for _ in range(4):
        yield
    yield from begin()
    yield from plays("A dance from a score")
    yield from poses()
    yield from plays("The dance, with three poses changed by hand")
    yield from tempo()
    yield from at_the_poses("Slower: the poses are on their beats")
    yield from moved()
    yield from at_the_poses("They went along with their verse")
    yield from exported()
    logging.getLogger(__name__).warning("%d pictures", len(reel.pictures))


def begin() -> Iterator[None]:
    """A character with a score, and the editor below."""
    rig, _ = dancer.bound_dancer()
    path = window.IMAGES / "dance.pha"
    path.write_text(_SCORE, encoding="utf-8")
    operators.takt.import_pha("EXEC_DEFAULT", filepath=str(path), library=str(dancer.LIBRARY))
    operators.takt.score_editor()
    window.look_at((0.0, 0.0, 0.88), 3.9)
    context.preferences.view.show_statusbar_stats = False
    for _ in range(3):
        yield
    assert score.motion_of(rig) is not None


def rig_of() -> Any:
    """Return the dancer."""
    return next(ob for ob in context.scene.objects if ob.type == "ARMATURE")


def plays(words: str) -> Iterator[None]:
    """Go through the dance."""
    reel.words = words
    motion = score.motion_of(rig_of())
    assert motion is not None
    for time_s in np.arange(0.0, motion.duration_s, 0.5).tolist():
        context.scene.frame_set(1 + round(time_s * context.scene.render.fps))
        yield from reel.rests(1)


def poses() -> Iterator[None]:
    """Turn two bones at each of three moments, as far as a hand does, and set keys."""
    rig, motion = rig_of(), score.motion_of(rig_of())
    assert motion is not None and motion.body is not None
    operators.takt.tweak()
    context.view_layer.objects.active = rig
    operators.object.mode_set(mode="POSE")
    for number, (time_s, one, other, angle) in enumerate(_POSES):
        reel.words = f"Pose {number + 1} of 3, changed by hand"
        frame = 1 + round(time_s * context.scene.render.fps)
        context.scene.frame_set(frame)
        yield from reel.rests(2)
        bones = [rig.pose.bones[motion.skeleton.names[motion.body.joint_of[joint]]] for joint in (one, other)]
        before = [(bone, bone.rotation_quaternion.copy(), bone.matrix.to_quaternion()) for bone in bones]
        for share in (0.3, 0.7, 1.0):
            for sign, (bone, turned, world) in zip((1.0, 0.6), before, strict=True):
                side = -1.0 if bone.head.x < -0.01 else 1.0
                turn = Quaternion((0.0, -1.0, 0.0), share * sign * side * angle)
                bone.rotation_quaternion = turned @ (world.inverted() @ turn @ world)
            yield from reel.rests(1)
        for bone in bones:
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        tweaks.look(rig, context.scene)
        show_tweaks(rig, context.scene)
        score_tree.redraw()
        yield from reel.rests(4)
    operators.object.mode_set(mode="OBJECT")


def tempo() -> Iterator[None]:
    """Play the score slower."""
    reel.words = "The tempo changes"
    yield from reel.rests(4)
    rig = rig_of()
    blocks = score_blocks.refresh(rig)
    assert blocks.layout is not None
    edits = Edits(blocks.layout.documents[0].text, (SetAttribute(0, "tickLength", SLOWER),))
    score_edits.write(context, rig, score_edits.texts_after(rig, blocks, edits))
    yield from settled()
    yield from reel.rests(4)


def moved() -> Iterator[None]:
    """Drag the verse behind the chorus, with the mouse."""
    reel.words = "The verse is moved behind the chorus"
    view = shown().view
    low, high = (float(view.x(np.array((tick,)))[0]) for tick in (0.0, 6.0))
    end = float(view.x(np.array((10.0,)))[0])
    y = lane_y()
    yield from reel.go(*on_screen((low + high) / 2.0, y))
    yield from reel.rests(2)
    yield from reel.press()
    yield from reel.go(*on_screen(end - 6.0, y))
    yield from reel.rests(3)
    yield from reel.release()
    yield from settled()
    yield from reel.rests(4)


def at_the_poses(words: str) -> Iterator[None]:
    """Show the dance where a hand has changed it."""
    reel.words = words
    frames = tweak_moments.frames_of(rig_of())
    assert frames is not None
    for frame in frames.tolist():
        context.scene.frame_set(int(frame), subframe=frame - int(frame))
        yield from reel.rests(6)


def exported() -> Iterator[None]:
    """Export the dance, and go through it once more for the pictures beside the browser's."""
    rig, scene = rig_of(), context.scene
    motion = score.motion_of(rig)
    assert motion is not None
    scene.frame_start, scene.frame_end = 1, 1 + round(motion.duration_s * scene.render.fps)
    operators.export_scene.gltf(filepath=str(window.IMAGES / "dance.glb"), export_animation_mode="SCENE",
                                export_anim_single_armature=True, export_force_sampling=True)
    reel.words = "Exported as glTF"
    scene.frame_set(1)
    yield from reel.rests(5)
    area, region = window.viewport()[1:]
    view, space = area.spaces.active.region_3d, area.spaces.active
    eye = view.view_matrix.inverted()
    (window.IMAGES / "eye.json").write_text(json.dumps({
        "matrix": [list(row) for row in eye], "lens": space.lens, "size": [region.width, region.height],
        "seconds": motion.duration_s}), encoding="utf-8")
    space.overlay.show_overlays = False
    height = context.window_manager.windows[0].height
    part = (f"{region.width}x{region.height}+{region.x + window.LEFT}"
            f"+{window.TOP + height - region.y - region.height}")
    for number, time_s in enumerate(np.arange(FIRST_S, LAST_S, 1.0 / FPS).tolist()):
        at = 1.0 + time_s * scene.render.fps
        scene.frame_set(int(at), subframe=at - int(at))
        yield
        half = f"{FILM_SIZE[0] // 2}x{FILM_SIZE[1]}+0+0"
        subprocess.run(["magick", "x:root", "-crop", part, "+repage", "-resize", f"x{FILM_SIZE[1]}", "-gravity",
                        "Center", "-crop", half, "+repage", *labelled("Blender's viewport", 24, "North", 0, 36),
                        f"PNG32:{window.IMAGES}/view_{number:05}.png"], check=True)


def settled() -> Iterator[None]:
    """Wait until the Action says what the score says."""
    for _ in range(60):
        yield
        if not following.is_older(rig_of()):
            break
    tweaks.look(rig_of(), context.scene)
    show_tweaks(rig_of(), context.scene)
    score_tree.redraw()


def lane_y() -> float:
    """Return the height of the uppermost blocks of the main lane, those of main's own calls."""
    return float(Stripes.of(layout_of(rig_of()), shown().view).lane_high[0]) - 6.0


window.run(steps())
