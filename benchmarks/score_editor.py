"""What the score editor costs: a redraw, and a step of a drag, of scores of several sizes.

python3 dev.py bench score_editor makes scores of procedures of eight calls (of the sample clips) for the sample
character, and prints in milliseconds of the processor, medians of several runs: a redraw while only the playhead moves
(3 ms are wanted at 2,000 blocks); one after zooming, all in view and a tenth of it; the making of a picture and its
pouring alone; a step of a drag until it is laid out (5 ms at 300 blocks, 30 ms at 2,000), and after that until it is
known where the character then stands (50 ms at 50 blocks). Offscreen, 1,400 × 400 pixels; of the main thread only,
since without a graphics card others fill the pixels. Then, 2,000 blocks of which 200 are words of a scene, with
objects in its roles (a redraw of 8 ms and an edit of 25 ms are wanted). Last, other edits of that score until they are
laid out, and edits of one of 2,000 blocks that is in a procedure that plays often.
"""

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import bpy
import gpu
import numpy as np

import takt
from takt.bridge import properties
from takt.bridge.scene import cast
from takt.bridge.scores import score, score_blocks, score_edits, score_tree
from takt.bridge.versions import start_gpu
from takt.core.pha.edits import Edit, Insert, Move, Remove, SetAttribute, Wrap
from takt.core.score_editor.change import Edits
from takt.core.score_editor.drawing import picture
from takt.core.score_editor.gestures import begin
from takt.core.score_editor.hit import Hit, Part
from takt.core.score_editor.layout import Layout
from takt.preview.score_editor import life, windows
from takt.preview.score_editor.canvas import Poured
from takt.preview.score_editor.theme import theme_of
from takt.samples import dancer

BLOCKS, RUNS, FEW_RUNS = (50, 300, 2000), 15, 5
WIDTH, HEIGHT = 1400, 400
_CLIPS = ("sway", "hip_circle", "arms_up", "disco", "body_roll", "squat", "jump", "kick_left")
SCENE_WORDS = 200
_ROLES = {"seat": "place", "cup": "prop", "her": "person"}
_WALK = '    <call name="left_step" to="seat" duration="2"/>'
_STILL = '<call name="sway" duration="8"/>'
_LANES = tuple(f"      <lane>{words}</lane>" for words in (
    '<look at="her" duration="6"/><wait duration="2"/>',
    '<reach for="cup" with="right hand" duration="2"/><hold prop="cup" with="right hand" duration="4"/>'
    '<wait duration="2"/>',
    '<meet person="her" with="left hand" hand="right hand" duration="2" hold="4"/><wait duration="2"/>'))
_SCENE = ("to", "look", "reach", "hold", "meet")
_context: Any = bpy.context


def main() -> int:
    """Measure one size after the other."""
    problem = start_gpu()
    if problem:
        print(problem)
        return 1
    takt.register()
    armature, _ = dancer.bound_dancer()
    names = "".join(f"{name:>10}" for name in ("playhead", "zoomed", "tenth", "picture", "poured"))
    print(f"{'blocks':>8}{names}{'drag step':>11}{'character':>11}   ms")
    for number in BLOCKS:
        _play(armature, _plain(number))
        measure(armature)
    print(f"{SCENE_WORDS} words of a scene among {max(BLOCKS):,} blocks")
    _play(armature, _in_a_scene(max(BLOCKS)))
    _cast(armature)
    measure(armature, FEW_RUNS)
    _measure_edits(armature)
    print("a procedure that plays often")
    _play(armature, _often(max(BLOCKS)))
    _measure_edits(armature)
    takt.unregister()
    return 0


def measure(armature: bpy.types.Object, runs: int = RUNS) -> None:
    """Print a row of the table; runs: of drag steps."""
    window = _context.window_manager.windows[0]
    area = max(window.screen.areas, key=lambda each: each.width * each.height)
    area.ui_type = score_tree.TaktScoreTree.bl_idname
    score_tree.give_trees()
    region = next(region for region in area.regions if region.type == "WINDOW")
    with _context.temp_override(window=window, area=area, region=region):
        layout = score_blocks.refresh(armature).layout
        assert layout is not None
        score_blocks.find_windows(armature)
        layout = score_blocks.refresh(armature).layout
        assert layout is not None
        kept = windows.look_into(_context, layout)
        view = replace(kept.view, width=WIDTH, height=HEIGHT, scale=1.0).framed(0.0, layout.ticks)
        off: Any = gpu.types.GPUOffScreen(WIDTH, HEIGHT)
        theme = theme_of(_context)

        def redraw() -> None:
            life.draw_editor(_context)

        def anew() -> None:
            kept.drawn = None

        with off.bind():
            anew()
            redraw()
            if kept.drawn is None:
                raise RuntimeError("the editor does not draw the score: another character is active, or it has errors")
            whole = (_ms(redraw, before=_next_frame), _ms(redraw, before=anew))
            made = picture(layout, view, theme)
            parts = _ms(lambda: picture(layout, view, theme)), _ms(lambda: Poured.of(made))
            kept.view = kept.view.framed(0.0, layout.ticks / 10.0)
            tenth = _ms(redraw, before=anew)
        steps = _drag_step(armature, layout, view, runs)
        print("".join((f"{len(layout):8,}", *(f"{ms:10.2f}" for ms in (*whole, tenth, *parts)),
                       *(f"{ms:11.2f}" for ms in steps))))
        off.free()


def _drag_step(armature: bpy.types.Object, layout: Layout, view: Any, runs: int) -> tuple[float, float]:
    """Return what it costs to pull the first block's edge a little farther: until it is laid out, and posed then.

    runs: of which these are the medians.
    """
    blocks = score_blocks.refresh(armature)
    assert blocks.scores is not None
    begun = begin(layout, Hit(Part.RIGHT_EDGE, float(layout.boxes.end[0]), 0), blocks.scores)
    assert begun is not None
    edge, steps = float(view.x(layout.boxes.end[:1])[0]), iter(range(10_000))

    def step() -> None:
        proposal = begun.to(view, edge + 3.0 * next(steps), 100.0, is_free=True)
        if proposal.change is not None:
            score_edits.try_out(armature, blocks, proposal.change)

    def follow() -> None:
        step()
        motion = score.motion_of(armature)
        assert motion is not None
        motion.sample(np.array((0.5,)))

    follow()
    laid_out, followed = _ms(step, runs), _ms(follow, runs)
    score_edits.take_back(armature)
    return laid_out, followed - laid_out


def _measure_edits(armature: bpy.types.Object) -> None:
    """Print what each kind of edit of the first calls of a score costs until it is laid out."""
    blocks = score_blocks.refresh(armature)
    assert blocks.layout is not None
    text = blocks.layout.documents[0].text
    first = text.shape.tags.index("call")
    parent, call = text.parent(first), str(text)[text.starts[first]:text.end(first)]
    edits: dict[str, Edit] = {
        "length": SetAttribute(first, "duration", "3"), "transition": SetAttribute(first, "transition", "0.5"),
        "insert": Insert(parent, 1, call), "remove": Remove(first), "move": Move(first, parent, 3),
        "loop": Wrap(parent, 1, 3, "loop", (("times", "2"),))}
    for name, edit in edits.items():
        tried = partial(score_edits.try_out, armature, blocks, Edits(text, (edit,)))
        print(f"{name:>12}{_ms(tried):8.2f} ms")
    score_edits.take_back(armature)


def _play(armature: bpy.types.Object, inside: str) -> None:
    """Give the armature a score."""
    text = bpy.data.texts.new("bench.pha")
    text.from_string(inside)
    character = properties.character(armature)
    character.library, character.text = str(dancer.LIBRARY), text


def _cast(armature: bpy.types.Object) -> None:
    """Let objects play the roles of the score."""
    cast.keep(properties.character(armature), _ROLES)
    other, _ = dancer.bound_dancer()
    for name in _ROLES:
        target = other if name == "her" else bpy.data.objects.new(name, None)
        target.location = (0.4, -1.0, 1.2)
        if target != other:
            _context.scene.collection.objects.link(target)
        properties.character(armature).cast[name].target = target
    _context.view_layer.objects.active = armature  # whose score the editor shows


def _plain(number: int) -> str:
    """Return a score of about so many blocks."""
    procedures = max(number // 9, 1)
    calls = "\n".join(f'    <call name="dance.Moves.{clip}" duration="2"/>' for clip in _CLIPS)
    parts = "\n".join(f'  <procedure name="part_{i}">\n{calls}\n  </procedure>' for i in range(procedures))
    main_calls = "\n".join(f'    <call name="part_{i}" duration="16"/>' for i in range(procedures))
    return (f'<pha tickLength="0.5">\n  <load src="dance.Moves"/>\n{parts}\n  <procedure name="main">\n'
            f"{main_calls}\n  </procedure>\n</pha>\n")


def _often(number: int) -> str:
    """Return a score of about so many blocks of one procedure."""
    calls = "\n".join(f'    <call name="dance.Moves.{clip}" duration="2"/>' for clip in _CLIPS)
    main_calls = "\n".join('    <call name="often" duration="16"/>' for _ in range(number // 9))
    return (f'<pha version="2" tickLength="0.5">\n  <load src="dance.Moves"/>\n  <procedure name="often">\n{calls}\n'
            f'  </procedure>\n  <procedure name="main">\n{main_calls}\n  </procedure>\n</pha>\n')


def _in_a_scene(number: int) -> str:
    """Return a score of about so many blocks, SCENE_WORDS of which go somewhere, or are words for head and hands."""
    groups = SCENE_WORDS // len(_SCENE)
    calls = [f'    <call name="dance.Moves.{_CLIPS[i % len(_CLIPS)]}" duration="2"/>'
             for i in range(number // groups - len(_SCENE) - 1)]
    group = "\n".join((_WALK, *calls, "    <together>", f'      <lane>{_STILL}</lane>', *_LANES, "    </together>"))
    roles = "".join(f'  <role name="{name}" is="{kind}"/>\n' for name, kind in _ROLES.items())
    return (f'<pha version="2" tickLength="0.5">\n  <load src="dance.Moves"/>\n  <load src="feet.Steps"/>\n{roles}'
            '  <procedure name="main">\n' + "\n".join(group for _ in range(groups)) + "\n  </procedure>\n</pha>\n")


def _next_frame() -> None:
    """Move the playhead."""
    _context.scene.frame_current = _context.scene.frame_current % _context.scene.frame_end + 1


def _ms(what: Callable[[], object], runs: int = RUNS, before: Callable[[], object] = lambda: None) -> float:
    """Return the median of some runs. before: is called before each of them, and does not count."""
    times = []
    for _ in range(runs):
        before()
        begin = time.thread_time()
        what()
        times.append(time.thread_time() - begin)
    return statistics.median(times) * 1e3


if __name__ == "__main__":
    sys.exit(main())
