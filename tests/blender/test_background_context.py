"""bridge/background.py: operators in another context wait for work beside Blender where they may crash otherwise."""

import threading

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
