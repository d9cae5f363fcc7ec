"""bridge/background.py: operators in another context wait for work beside Blender where they may crash otherwise."""

import threading
import time
from collections.abc import Callable

import bpy
import pytest

from takt.bridge import background


@pytest.mark.parametrize("needs_quiet", [True, False])
def test_work_has_ended_before_operators_are_called_elsewhere(needs_quiet: bool,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "OVERRIDES_NEED_QUIET", needs_quiet)
    go, other = threading.Event(), bpy.data.scenes.new("Other")
    work = background.BackgroundWork(lambda _: go.wait(60.0))
    if needs_quiet:
        threading.Timer(0.2, go.set).start()
    with background.operator_context(scene=other):
        assert bpy.context.scene == other and work.has_ended() == needs_quiet
    go.set()
    work.end()
    assert not list(background._running)


def test_work_that_may_pause_is_still_in_another_context_and_goes_on_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "OVERRIDES_NEED_QUIET", True)
    rounds = [0]

    def go(go_on: Callable[[float], bool]) -> bool:
        while go_on(0.0):
            rounds[0] += 1
            time.sleep(0.001)
        return True

    work = background.BackgroundWork(go, may_pause=True)
    try:
        assert background.is_quiet_soon()
        with background.operator_context(scene=bpy.context.scene):
            before = rounds[0]
            time.sleep(0.1)
            assert rounds[0] == before and not work.has_ended()
        until = time.monotonic() + 10.0
        while rounds[0] == before:
            assert time.monotonic() < until
            time.sleep(0.01)
        with background.operator_context(scene=bpy.context.scene):
            work.end()  # also while it pauses
    finally:
        work.end()
    assert work.result()
