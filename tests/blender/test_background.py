"""Work beside Blender's main thread: its result, its errors, its end."""

import threading
import time
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from takt.bridge.background import BackgroundWork
from takt.core.errors import BindError, TaktError
from takt.operators.background import WorksInBackground
from takt.tests.rigged import make_armature, select

PATIENCE_S = 30.0


def test_returns_what_the_function_returns_and_tells_how_far_it_is() -> None:
    def work(tell: object) -> str:
        assert callable(tell) and tell(0.75)
        return "done"

    running = BackgroundWork(work)
    assert running.has_ended(within_s=PATIENCE_S)
    assert running.result() == "done" and running.done == 0.75


def test_tells_what_it_cost_the_processor_and_not_how_long_it_slept() -> None:
    def work(_: object) -> int:
        time.sleep(0.05)
        return sum(range(100_000))

    running = BackgroundWork(work)
    assert running.has_ended(within_s=PATIENCE_S)
    assert 0.0 < running.cost_s < 0.05


def test_raises_what_the_function_raises() -> None:
    def work(_: object) -> str:
        raise BindError("no bone")

    running = BackgroundWork(work)
    assert running.has_ended(within_s=PATIENCE_S)
    with pytest.raises(BindError, match="no bone"):
        running.result()


def test_goes_on_until_it_is_cancelled() -> None:
    begun, looked = threading.Event(), threading.Event()

    def work(tell: object) -> int:
        assert callable(tell)
        begun.set()
        rounds = 0
        while tell(0.5):
            rounds += 1
            looked.wait(0.001)
        return rounds

    running = BackgroundWork(work)
    assert begun.wait(PATIENCE_S) and not running.has_ended()
    with pytest.raises(TaktError, match="the work has not ended yet"):
        running.result()
    running.end()
    assert running.has_ended() and running.result() >= 0


class Writes(WorksInBackground[int]):
    """Work that is done at once; written: what was written."""

    def __init__(self, written: list[int]) -> None:
        self.written, self._work = written, BackgroundWork(lambda _: 7)

    def write(self, context: bpy.types.Context, result: int) -> "set[Any]":
        self.written.append(result)
        return {"FINISHED"}


def test_a_result_is_written_once_edit_mode_is_left() -> None:
    rig, written = make_armature(), list[int]()
    select(rig, rig)
    operator = Writes(written)
    assert operator._work.has_ended(within_s=PATIENCE_S)
    context: Any = SimpleNamespace(window_manager=bpy.context.window_manager, workspace=None)
    timer: Any = SimpleNamespace(type="TIMER")
    bpy.ops.object.mode_set(mode="EDIT")
    assert operator.modal(context, timer) == {"RUNNING_MODAL"} and not written
    bpy.ops.object.mode_set(mode="OBJECT")
    assert operator.modal(context, timer) == {"FINISHED"} and written == [7]
