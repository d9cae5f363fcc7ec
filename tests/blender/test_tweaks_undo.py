"""Undo and tweaks: keys are where they were at each step, whatever moved them behind Blender's undo steps."""

import os
from pathlib import Path
from random import Random
from typing import Any

import bpy
import pytest

from takt.bridge import properties, tweak_moments
from takt.tests.blender.dancing import STEPS, Wait, play, text_of
from takt.tests.blender.test_tweaks import set_key, tweak

SEEDS = int(os.environ.get("TAKT_TWEAK_SEEDS", "4"))
operators: Any = bpy.ops


def step(what: str) -> None:
    operators.ed.undo_push(message=what)


def rig_now() -> Any:
    return bpy.data.objects["Rig"]


def keys() -> list[float]:
    frames = tweak_moments.frames_of(rig_now())
    assert frames is not None
    return [round(float(frame), 2) for frame in frames]


@pytest.fixture
def keyed(rig: Any, library: Path, wait: Wait) -> None:
    """A dancer with one key of a tweak at 60."""
    wait(0.2)
    play(library / "dance.pha")
    step("play")
    wait(1.0)
    tweak()
    step("tweak")
    wait(0.4)
    set_key(rig, 60)
    step("key")
    wait(1.0)


def change_start() -> None:
    properties.character(rig_now()).frame_start = 51


def change_rate() -> None:
    bpy.context.scene.render.fps = 48


def type_other_text() -> None:
    text_of(rig_now()).from_string(STEPS.replace('tickLength="1.0"', 'tickLength="1.2"'))


CHANGES = {"first frame": change_start, "frame rate": change_rate, "typed": type_other_text}


@pytest.mark.parametrize("times", [1, 3], ids=["once", "often"])
@pytest.mark.parametrize("what", CHANGES)
def test_what_moves_them_is_taken_back_and_done_again(keyed: None, wait: Wait, what: str, times: int) -> None:
    assert keys() == [60.0]
    CHANGES[what]()
    step(what)
    wait(2.0)
    moved = keys()
    assert moved != [60.0] and len(moved) == 1
    for _ in range(times):
        operators.ed.undo()
        wait(2.0)
        assert keys() == [60.0]
        operators.ed.redo()
        wait(2.0)
        assert keys() == moved


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_settings_keys_and_steps_back(keyed: None, wait: Wait, seed: int) -> None:
    """After any number of steps back and forth, keys lie where they lay at that step."""
    random = Random(seed)
    past, future = [keys()], list[list[float]]()
    for _ in range(10):
        chosen = random.choice(("start", "rate", "type", "key", "undo", "undo", "redo"))
        if chosen == "undo" and len(past) > 1:
            for _ in range(random.randint(1, min(3, len(past) - 1))):
                operators.ed.undo()
                future.append(past.pop())
        elif chosen == "redo" and future:
            operators.ed.redo()
            past.append(future.pop())
        elif chosen not in ("undo", "redo"):
            change(random, chosen)
            step(chosen)
            wait(2.0)
            past.append(keys())
            future = []
        wait(random.choice((0.0, 2.0)))
        if random.random() < 0.7:
            wait(2.0)
            assert keys() == pytest.approx(past[-1], abs=0.02), chosen
    wait(2.0)
    assert keys() == pytest.approx(past[-1], abs=0.02)


def change(random: Random, what: str) -> None:
    if what == "start":
        properties.character(rig_now()).frame_start = random.randint(-40, 90)
    elif what == "rate":
        bpy.context.scene.render.fps = random.choice((24, 25, 30, 50, 60))
    elif what == "type":
        text_of(rig_now()).from_string(STEPS.replace('"1.0"', f'"{random.uniform(0.6, 1.6):.3f}"'))
    else:
        frames = keys()
        set_key(rig_now(), round(random.choice(frames)) + random.randint(1, 6))
