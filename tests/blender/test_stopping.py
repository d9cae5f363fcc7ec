"""Operators that go on beside the interface are stopped before the extension is switched off."""

from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from takt.bridge.files import clips
from takt.operators.stopping import stop_running

pytestmark = pytest.mark.usefixtures("extension")


class Ours:
    """An operator whose modal is called."""

    def __init__(self) -> None:
        self.stopped_in: list[Any] = []

    def cancel(self, context: Any) -> None:
        self.stopped_in.append(context)


class Failing(Ours):
    """An operator that cannot be stopped."""

    def cancel(self, context: Any) -> None:
        super().cancel(context)
        raise RuntimeError("no timer")


class Short:
    """An operator that Blender need not stop."""


class Theirs(Ours):
    """An operator of another extension."""


def windows(*operators: Any) -> list[Any]:
    return [SimpleNamespace(modal_operators=operators)]


@pytest.fixture(autouse=True)
def any_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is no window be one: without a window there is no modal."""
    class Override:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    context = SimpleNamespace(temp_override=lambda window: Override())
    monkeypatch.setattr("takt.operators.stopping.bpy", SimpleNamespace(context=context))


def test_what_goes_on_is_stopped_and_others_go_on() -> None:
    ours, theirs = Ours(), Theirs()
    stop_running((Ours, Short), windows(ours, theirs, Short()))
    assert len(ours.stopped_in) == 1 and not theirs.stopped_in


def test_one_that_fails_does_not_keep_the_next_from_being_stopped(caplog: pytest.LogCaptureFixture) -> None:
    failing, ours = Failing(), Ours()
    stop_running((Ours, Failing), windows(failing, ours))
    assert failing.stopped_in and ours.stopped_in
    assert "no timer" in caplog.text


def test_one_whose_class_has_gone_counts_as_none() -> None:
    stop_running((Ours,), windows(None))
    assert not clips.must_wait(windows(None))


def test_all_that_take_long_can_be_stopped() -> None:
    """Blender calls `cancel` when a window is closed; here it is called before the extension goes."""
    from takt import operators

    lasting = [cls for cls in operators._CLASSES if hasattr(cls, "modal") and hasattr(cls, "_timer")]
    assert len(lasting) > 6
    assert [cls.__name__ for cls in lasting if not hasattr(cls, "cancel")] == []
    assert "modal_operators" in bpy.types.Window.bl_rna.properties
