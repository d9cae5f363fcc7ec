"""Photograph the score editor for docs/score-editor.md, with real keys and mouse, ImageMagick and xdotool at hand:

    blender --factory-startup -p 0 0 1400 900 --python docs/score_editor_pictures.py -- IMAGES_FOLDER
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout  # noqa: F401  # makes takt known
from mathutils import Quaternion

from takt.core.score_editor.weights import weight_line
from takt.docs import window
from takt.docs.editor_window import box, chip, editor, layout_of, point, select_block, shown, stripes
from takt.docs.window import context, look_at, operators, photograph
from takt.samples import dancer

_POSE = 541
"""A frame of the dance: a kick."""
_ROW_PX, _TWEAKS_PX, _LANES_PX = 172, 232, 260
_LANES = """<pha version="2" tickLength="0.5">
  <load src="dance.Moves"/>
  <load src="gestures.Greetings"/>
  <procedure name="main">
    <call name="sway" duration="4"/>
    <together duration="16">
      <lane><call name="hip_circle" duration="4" repeat="2"/><call name="disco" duration="8"/></lane>
      <lane body="arms" ease="1"><call name="arms_up" duration="4"/><call name="wave" duration="6"/></lane>
      <lane body="head" weight="0.7"><call name="bow" duration="4"/></lane>
    </together>
    <call name="jump" duration="4"/>
  </procedure>
</pha>
"""
"""The arms and the head do something else meanwhile."""
_EDITOR = f"{window.WIDTH}x430+{window.LEFT}+{window.TOP + window.HEIGHT - 430}"


def steps() -> Iterator[None]:
    """Do what a user does; Blender draws at each `yield`."""
    window.make_small()
    yield
    dancer.bound_dancer()
    dancer.play()
    operators.ed.undo_push(message="Score")
    yield from window.close_others()
    operators.takt.score_editor()
    operators.takt.preview()
    window.choose(strip=False)
    context.scene.frame_set(_POSE)
    head = context.object.matrix_world @ context.object.pose.bones[0].head
    look_at((head.x, head.y, 0.9), 3.9)
    for _ in range(5):
        yield
    photograph("score_editor.png")
    yield from gestures()
    yield from shelf()
    yield from fields()
    yield from lanes()
    yield from tweak_row()
    yield from mistake()


def gestures() -> Iterator[None]:
    """Each gesture before, while and after it is made, then taken back."""
    _, _, right, high = box("chorus")
    yield from gesture("score_edge.png", (right - 2, high - 10), (right + 60, high - 10))
    left, low, right, high = box("verse")
    middle = (left + right) / 2.0
    yield from gesture("score_order.png", (middle, high - 8), (box("bridge")[2] - 6, high - 8))
    yield from gesture("score_copy.png", (middle, high - 8), (box("bridge")[2] - 6, high - 8), held="ctrl")
    _, _, right, high = box("intro")
    yield from gesture("score_repeat.png", (right - 9, high - 7), (right + 110, high - 7))
    yield from gesture("score_box.png", (box("intro")[0] + 4, below_rows()), (box("verse")[0] + 60, high - 6),
                       undo=False, high=_TWEAKS_PX)
    height = sum(stripes().ruler) / 2.0
    yield from gesture("score_scrub.png", (box("verse")[0], height), (box("chorus")[0] + 90, height), undo=False)
    context.scene.frame_set(_POSE)
    yield from zoomed_to("chorus")
    _, low, right, _ = box("disco")
    yield from gesture("score_transition.png", (right + 6, low + 6), (right + 55, low + 6))
    press("Home")
    yield


def shelf() -> Iterator[None]:
    """A clip under the mouse, and on its way from the shelf into the score."""
    x, y = chip("arms_up")
    for further in (3, 0):
        point(x - further, y)
        yield
    for _ in range(3):
        yield
    photograph("score_hover.png")
    left, _, _, high = box("chorus")
    yield from dragged(chip("hip_circle"), (left + 4, high - 8))
    photograph("score_shelf.png", _EDITOR)
    press("Escape")
    yield
    window.tell("mouseup", "1")
    yield


def fields() -> Iterator[None]:
    """A selected block with its attributes in the sidebar."""
    yield from select_block("verse")
    editor().spaces.active.show_region_ui = True
    for _ in range(3):
        yield
    photograph("score_fields.png", _EDITOR)
    editor().spaces.active.show_region_ui = False
    yield


def lanes() -> Iterator[None]:
    """Blocks beside each other: the line of a lane is pulled, and an edge in one."""
    text = context.object.takt.text
    dance = text.as_string()
    text.from_string(_LANES)
    operators.ed.undo_push(message="Lanes")
    for _ in range(4):
        yield
    press("Home")
    for _ in range(3):
        yield
    x, y = line_of_lane("arms")
    yield from gesture("score_weight.png", (x, y), (x + 110, y), high=_LANES_PX)
    _, _, right, high = box("arms_up")
    yield from gesture("score_lane.png", (right - 2, high - 10), (right + 70, high - 10), high=_LANES_PX)
    text = context.object.takt.text  # undo has brought it anew
    text.from_string(dance)
    for _ in range(4):
        yield
    press("Home")
    yield


def tweak_row() -> Iterator[None]:
    """Keys set by hand, which are pulled to another beat."""
    operators.takt.tweak()
    for frame in (220, 300, 660, 1010):
        context.scene.frame_set(frame)
        bone = context.object.pose.bones["l_shoulder"]
        bone.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.8) @ bone.rotation_quaternion
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    operators.ed.undo_push(message="Keys")
    for _ in range(4):
        yield
    x, y = diamond(2)
    yield from gesture("score_tweaks.png", (x, y), (x + 90, y), high=_TWEAKS_PX)


def mistake() -> Iterator[None]:
    """A name that is wrong in the text."""
    text = context.object.takt.text
    text.from_string(text.as_string().replace('name="groove"', 'name="grove"'))
    for _ in range(4):
        yield
    left, _, _, high = box("grove")
    for further in (10, 12):
        point(left + further, high - 10)
        yield
    yield
    photograph("score_mistake.png", _EDITOR)


def gesture(name: str, start: tuple[float, float], end: tuple[float, float], *, held: str = "",
            undo: bool = True, high: int = _ROW_PX) -> Iterator[None]:
    """Make one gesture with the mouse, photograph the row before, meanwhile and after, and take it back."""
    region = next(region for region in editor().regions if region.type == "WINDOW")
    top = window.TOP + context.window_manager.windows[0].height - region.y - region.height
    part = f"{window.WIDTH}x{high}+{window.LEFT}+{top}"
    with tempfile.TemporaryDirectory() as folder:
        point(*start)
        yield
        rows = [photograph(f"{folder}/before.png", part)]
        if held:
            window.tell("keydown", held)
        yield from dragged(start, end)
        rows.append(photograph(f"{folder}/meanwhile.png", part))
        window.tell("mouseup", "1")
        yield
        if held:
            window.tell("keyup", held)
        point(8.0, 250.0)
        yield
        rows.append(photograph(f"{folder}/after.png", part))
        subprocess.run(["magick", *map(str, rows), "-background", "white", "-splice", "0x6", "-append", "-chop", "0x6",
                        str(window.IMAGES / name)], check=True)
    if undo:
        press("ctrl+z")
    for _ in range(2):
        yield


def dragged(start: tuple[float, float], end: tuple[float, float]) -> Iterator[None]:
    """Press and drag, and hold on."""
    point(*start)
    yield
    window.tell("mousedown", "1")
    for share in (0.5, 0.9, 1.0):
        point(*(a + (b - a) * share for a, b in zip(start, end, strict=True)))
        yield
    yield


def zoomed_to(title: str) -> Iterator[None]:
    """Select a block and frame it."""
    yield from select_block(title)
    press("period")
    yield
    yield


def line_of_lane(body: str) -> tuple[float, float]:
    """Return where the line of the first lane for a part of the body has come in, in the editor."""
    voice = next(voice for voice in layout_of().voices if voice.body == body)
    x, y = weight_line(voice, shown().view, stripes())[1].tolist()
    return x, y


def diamond(number: int) -> tuple[float, float]:
    """Return the middle of the diamond of a tweak in the editor."""
    ticks, row = layout_of().tweaks, stripes().tweaks
    assert ticks is not None and row is not None
    return float(shown().view.x(ticks)[number]), sum(row) / 2.0


def below_rows() -> float:
    """Return a height below the contacts, where nothing lies, in the editor."""
    contacts = stripes().contacts
    assert contacts is not None
    return contacts[0] - 10.0


def press(key: str) -> None:
    """Press a key."""
    window.tell("key", key)


window.run(steps())
