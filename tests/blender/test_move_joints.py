"""Fit Skeleton's handles: what keys and the mouse do to the joints found, and that nothing of them is left behind."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.meshes import fitting
from takt.core.fitting import FittedSkeleton
from takt.operators import move_joints
from takt.operators.fit_skeleton import TAKT_OT_fit_skeleton
from takt.operators.long_work import LongWork
from takt.operators.move_joints import MovesJoints, Viewport
from takt.preview import joint_handles
from takt.preview.joint_handles import Lens
from takt.tests.blender.test_fit_skeleton import add_body, head_of
from takt.tests.core.made_people import A_POSE, Build, Person, person
from takt.tests.rigged import select

context: Any = bpy.context
ops: Any = bpy.ops
NEAR = 1e-6
WIDE, HIGH = 800.0, 600.0
PIXELS_PER_M = 150.0


def front_view() -> Lens:
    """How a viewport shows the front, the ground's middle in the middle of its lower edge."""
    clip = np.array(((2.0 * PIXELS_PER_M / WIDE, 0.0, 0.0, 0.0), (0.0, 0.0, 2.0 * PIXELS_PER_M / HIGH, -1.0),
                     (0.0, 0.1, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
    return Lens(clip, WIDE, HIGH)


def two_viewports(_context: Any, event: Any) -> list[Viewport]:
    """A viewport of the front, and one of the right side beside it, which shows everything half as large."""
    mouse = np.array((event.mouse_x, event.mouse_y))
    clip = front_view().clip_from_world[:, [1, 0, 2, 3]] * (0.5, 0.5, 0.5, 1.0)
    return [Viewport(1, front_view(), mouse), Viewport(2, Lens(clip, WIDE, HIGH), mouse - (WIDE, 0.0))]


@pytest.fixture(scope="module")
def dancer() -> Person:
    return person(Build(turns=A_POSE))


@pytest.fixture(scope="module")
def found(dancer: Person) -> FittedSkeleton:
    task = fitting.read_task([add_body(dancer)])
    return fitting.fit(task)


@pytest.fixture
def moving(dancer: Person, found: FittedSkeleton, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Handles in a viewport of the front."""
    body = add_body(dancer)
    context.view_layer.update()
    monkeypatch.setattr(move_joints, "_viewports", two_viewports)
    monkeypatch.setattr(joint_handles, "_scale", lambda: 1.0)  # 0 without windows
    handles = MovesJoints(found, found.names, [body])
    yield handles
    handles.end()


def pixel_of(joint: str) -> np.ndarray:
    (shown,) = joint_handles.shown()
    return np.asarray(front_view().pixels(shown.fitted.position(joint)[None])[0])


def do(moving: MovesJoints, kind: str, at: Any = (0.0, 0.0), value: str = "PRESS", **held: bool) -> str:
    event: Any = SimpleNamespace(type=kind, value=value, mouse_x=float(at[0]), mouse_y=float(at[1]), **{
        key: held.get(key, False) for key in ("ctrl", "shift", "alt", "oskey")})
    return moving.take(context, event)


def drag(moving: MovesJoints, joint: str, by: tuple[float, float], **held: bool) -> None:
    start = pixel_of(joint)
    do(moving, "LEFTMOUSE", start)
    do(moving, "MOUSEMOVE", start + by, "NOTHING", **held)
    do(moving, "LEFTMOUSE", start + by, "RELEASE")


def now(moving: MovesJoints, joint: str) -> np.ndarray:
    return moving.correction.fitted().position(joint)


def test_a_point_goes_to_its_pixel_and_back() -> None:
    lens, point = front_view(), np.array((0.3, -0.2, 1.1))
    pixel = lens.pixels(point[None])[0]
    assert pixel == pytest.approx((WIDE / 2.0 + 0.3 * PIXELS_PER_M, 1.1 * PIXELS_PER_M))
    assert lens.at_depth_of(pixel, point) == pytest.approx(point)
    near, far = lens.ray(pixel)
    assert near[[0, 2]] == pytest.approx(point[[0, 2]]) and far[1] > point[1] > near[1]


def test_what_is_behind_the_eye_is_not_seen() -> None:
    perspective = np.array(((1.0, 0, 0, 0), (0, 1.0, 0, 0), (0, 0, -1.0, -0.2), (0, 0, -1.0, 0)))
    seen = Lens(perspective, WIDE, HIGH).pixels(np.array(((0.0, 0.0, -2.0), (0.0, 0.0, 2.0))))
    assert np.isfinite(seen[0]).all() and np.isnan(seen[1]).all()


def test_a_handle_is_dragged_and_the_other_side_follows(moving: MovesJoints, found: FittedSkeleton) -> None:
    drag(moving, "l_elbow", (15.0, 30.0))
    assert now(moving, "l_elbow") == pytest.approx(found.position("l_elbow") + np.array((0.1, 0.0, 0.2)), abs=NEAR)
    away = now(moving, "r_elbow") - found.position("r_elbow")
    assert away == pytest.approx((-0.1, 0.0, 0.2), abs=0.01)


def test_shift_moves_slowly(moving: MovesJoints, found: FittedSkeleton) -> None:
    drag(moving, "l_elbow", (15.0, 30.0), shift=True)
    assert now(moving, "l_elbow") == pytest.approx(found.position("l_elbow") + np.array((0.01, 0.0, 0.02)), abs=NEAR)


def test_m_switches_mirroring_off(moving: MovesJoints, found: FittedSkeleton) -> None:
    assert "Mirror On" in moving.hints()
    do(moving, "M")
    assert "Mirror Off" in moving.hints()
    drag(moving, "l_elbow", (15.0, 30.0))
    assert now(moving, "r_elbow") == pytest.approx(found.position("r_elbow"), abs=NEAR)


def test_ctrl_goes_into_the_middle_of_the_mesh(moving: MovesJoints, dancer: Person) -> None:
    drag(moving, "l_knee", (0.0, 10.0), ctrl=True)
    knee = now(moving, "l_knee")
    points = np.stack((dancer.vertices[:, 0], -dancer.vertices[:, 2], dancer.vertices[:, 1]), axis=1)
    around = points[np.linalg.norm((points - knee)[:, [0, 2]], axis=1) < 0.04]
    assert knee[1] == pytest.approx((around[:, 1].min() + around[:, 1].max()) / 2.0, abs=0.02)


@pytest.mark.parametrize("key", ["ESC", "RIGHTMOUSE"])
def test_giving_up_a_drag_puts_the_joint_back_alone(moving: MovesJoints, found: FittedSkeleton, key: str) -> None:
    drag(moving, "l_knee", (5.0, 0.0))
    knee, start = now(moving, "l_knee"), pixel_of("l_elbow")
    do(moving, "LEFTMOUSE", start)
    do(moving, "MOUSEMOVE", start + np.array((20.0, 0.0)), "NOTHING")
    assert do(moving, key, start) == "GOES_ON"
    assert now(moving, "l_elbow") == pytest.approx(found.position("l_elbow"), abs=NEAR)
    assert now(moving, "l_knee") == pytest.approx(knee, abs=NEAR)


def test_ctrl_z_takes_back_one_drag_after_the_other(moving: MovesJoints, found: FittedSkeleton) -> None:
    drag(moving, "l_knee", (5.0, 0.0))
    knee = now(moving, "l_knee")
    drag(moving, "l_elbow", (15.0, 30.0))
    do(moving, "Z", ctrl=True)
    assert now(moving, "l_elbow") == pytest.approx(found.position("l_elbow"), abs=NEAR)
    assert now(moving, "l_knee") == pytest.approx(knee, abs=NEAR)
    do(moving, "Z", ctrl=True)
    do(moving, "Z", ctrl=True)  # there is nothing more to take back
    assert not moving.correction.moved


def test_backspace_puts_the_joint_under_the_mouse_back(moving: MovesJoints) -> None:
    drag(moving, "l_knee", (5.0, 0.0))
    drag(moving, "l_elbow", (15.0, 30.0))
    do(moving, "MOUSEMOVE", pixel_of("l_knee"), "NOTHING")
    do(moving, "BACK_SPACE", pixel_of("l_knee"))
    assert set(moving.correction.moved) == {"l_elbow", "r_elbow"}


def test_a_click_beside_the_handles_moves_nothing(moving: MovesJoints) -> None:
    assert do(moving, "LEFTMOUSE", (3.0, 3.0)) == "GOES_ON"
    do(moving, "MOUSEMOVE", (90.0, 90.0), "NOTHING")
    assert not moving.correction.moved


def test_a_drag_goes_on_in_its_viewport_when_the_mouse_is_over_another(moving: MovesJoints,
                                                                        found: FittedSkeleton) -> None:
    start, beyond = pixel_of("l_elbow"), np.array((WIDE + 30.0, 300.0))
    do(moving, "LEFTMOUSE", start)
    for step in np.linspace(start, beyond, 5):
        do(moving, "MOUSEMOVE", step, "NOTHING")
    away = now(moving, "l_elbow") - found.position("l_elbow")
    assert away[[0, 2]] == pytest.approx((beyond - start) / PIXELS_PER_M, abs=NEAR) and abs(away[1]) < NEAR
    do(moving, "LEFTMOUSE", beyond, "RELEASE")


def test_a_drag_waits_while_its_viewport_is_gone(moving: MovesJoints, found: FittedSkeleton,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    start = pixel_of("l_elbow")
    do(moving, "LEFTMOUSE", start)
    monkeypatch.setattr(move_joints, "_viewports", lambda context, event: two_viewports(context, event)[1:])
    do(moving, "MOUSEMOVE", start + 20.0, "NOTHING")
    assert now(moving, "l_elbow") == pytest.approx(found.position("l_elbow"), abs=NEAR)


def test_another_viewport_drags_as_it_shows(moving: MovesJoints, found: FittedSkeleton) -> None:
    lens = two_viewports(None, SimpleNamespace(mouse_x=0.0, mouse_y=0.0))[1].lens
    start = lens.pixels(found.position("skullbase")[None])[0] + (WIDE, 0.0)
    do(moving, "LEFTMOUSE", start)
    do(moving, "MOUSEMOVE", start + np.array((15.0, 30.0)), "NOTHING")
    wanted = found.position("skullbase") + np.array((0.0, 0.2, 0.4))
    assert now(moving, "skullbase") == pytest.approx(wanted, abs=NEAR)


def test_two_at_once_have_handles_of_their_own(moving: MovesJoints, found: FittedSkeleton) -> None:
    other = MovesJoints(found, found.names, [])
    try:
        start = np.asarray(front_view().pixels(found.position("l_knee")[None])[0])
        do(other, "LEFTMOUSE", start)
        do(other, "MOUSEMOVE", start + 5.0, "NOTHING")
        assert other.handles in joint_handles.shown() and moving.handles in joint_handles.shown()
        assert other.handles.hovered >= 0 > moving.handles.hovered
        assert other.correction.moved and not moving.correction.moved and not moving.handles.moved.any()
    finally:
        other.end()
    assert joint_handles.shown() == (moving.handles,) and joint_handles._handle is not None


@pytest.mark.parametrize("key", ["MIDDLEMOUSE", "WHEELUPMOUSE", "NUMPAD_3"])
def test_the_view_can_be_turned_meanwhile(moving: MovesJoints, key: str) -> None:
    assert do(moving, key) == "NOT_OURS"


def test_enter_accepts_and_esc_gives_up(moving: MovesJoints) -> None:
    assert do(moving, "RET") == "ACCEPTED" and do(moving, "ESC") == "GIVEN_UP"


def test_handles_are_taken_away(moving: MovesJoints) -> None:
    assert joint_handles._handle is not None
    moving.end()
    assert not joint_handles.shown() and joint_handles._handle is None


class Running(LongWork):
    """The operator as far as handles concern it, without Blender's own part."""

    _adjust: Any = TAKT_OT_fit_skeleton._adjust
    _hint: Any = staticmethod(TAKT_OT_fit_skeleton._hint)
    _handles: Any = None
    _fitting: Any = None
    doing = TAKT_OT_fit_skeleton.doing

    def __init__(self) -> None:
        self.told: list[str] = []

    def report(self, _kind: set[str], text: str) -> None:
        self.told.append(text)


def test_esc_leaves_nothing_behind(moving: MovesJoints) -> None:
    running, before = Running(), (len(bpy.data.objects), len(bpy.data.armatures))
    running._handles = moving
    event: Any = SimpleNamespace(type="ESC", value="PRESS", ctrl=False, alt=False)
    assert running._adjust(SimpleNamespace(workspace=None), event) == {"CANCELLED"}
    assert not joint_handles.shown() and running._handles is None
    assert (len(bpy.data.objects), len(bpy.data.armatures)) == before
    assert running.told == ["Fitting a skeleton cancelled, nothing has changed"]


def test_what_was_moved_counts_for_scripts_and_the_adjust_panel(dancer: Person) -> None:
    body = add_body(dancer)
    select(body)
    ops.takt.fit_skeleton(bind=False)
    plain = head_of(context.active_object, "l_elbow")
    select(body)
    ops.takt.fit_skeleton(bind=False, moved='{"l_elbow": [0, 0.02, 0.05]}')
    assert head_of(context.active_object, "l_elbow") == pytest.approx(plain + np.array((0.0, 0.02, 0.05)), abs=1e-5)


def test_a_joint_that_is_not_there_is_refused(dancer: Person) -> None:
    select(add_body(dancer))
    before = len(bpy.data.armatures)
    with pytest.raises(RuntimeError, match="'l_wing' was moved, but is not among"):
        ops.takt.fit_skeleton(moved='{"l_wing": [0, 0, 1]}')
    assert len(bpy.data.armatures) == before


def test_certainty_and_what_was_moved_are_told_of_the_joint_under_the_mouse(moving: MovesJoints) -> None:
    (shown,) = joint_handles.shown()
    knee = shown.fitted.names.index("l_knee")
    guessed = replace(shown.fitted, certainty=np.full(len(shown.names), 0.35))
    doubtful = joint_handles.Handles(guessed, shown.names, shown.moved)
    assert joint_handles._said(doubtful, knee) == "l_knee: 35% certain, a guess"
    drag(moving, "l_knee", (5.0, 0.0))
    assert joint_handles._said(shown, knee) == "l_knee: moved"
