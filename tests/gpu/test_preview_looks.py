"""What may be shown beside the plain figure, against kept pictures; kept and compared as in test_preview_pictures."""

import os
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from takt.bridge.rigs.armature import read_skeleton
from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.pha.expansion import expand
from takt.core.playing.motion import Motion, compose
from takt.core.playing.playing import Playing
from takt.core.playing.transitions.blending import Style
from takt.preview import offscreen
from takt.preview.cast import Actor
from takt.preview.choices import Choices
from takt.preview.offscreen import Renderer
from takt.tests.characters import Object, context, exchange_bones
from takt.tests.core.scores import UP_Z, X, Z, library, procedure, programme
from takt.tests.gpu.test_preview_pictures import (
    ALIKE,
    BACKGROUND,
    HEIGHT,
    WIDTH,
    Image,
    character,
    keep,
    kept,
    seen_from,
    similarity,
)

SELECTED = (1.0, 0.4, 0.05, 1.0)
AXES, LARGEST_RAD = np.stack((X, Z, X)), np.array((0.8, -1.0, -0.6))
FRAME = 28
"""At 24 in a second: inside the transition, so that ghosts have all their colours."""
LOOKS: dict[str, Choices] = {
    "outline": Choices(),
    "see_through": Choices(see_through=True, skeleton=True),
    "ghosts": Choices(ghosts=2, ghost_step_s=0.3),
    "paths": Choices(paths=True),
    "crowd": Choices(copies=3, phase_s=0.6),
}
every_look = pytest.mark.parametrize("look", LOOKS)


def bending(rig: Object, bones: tuple[str, ...] = ("bone1", "bone2", "bone3")) -> Motion:
    """A score of two clips that bend and unbend bones, all of them always bent, with a transition between them."""
    skeleton = read_skeleton(rig)
    joints, times = np.array([skeleton.index_of[bone] for bone in bones]), np.array((0.0, 1.0))

    def clip(name: str, *shares: float) -> Clip:
        turns = rot.from_axis_angle(AXES, np.outer(shares, LARGEST_RAD))
        return Clip(name, skeleton, 1.0, Tracks.uniform(joints, times, turns), Tracks.empty(3), Tracks.empty(3))

    clips = library(feet_Steps=(clip("left", -0.2, 0.9), clip("right", 1.0, 0.3)))
    resolved = programme(procedure("main", 'left duration="1" transition="0.6"', 'right duration="1"'), clips=clips)
    style = Style("BOTH", "LINEAR")
    return compose(expand(resolved, "main"), resolved.clips, Playing(style, "AS_AUTHORED", UP_Z))


def draw(rig: Object, mesh: Object, choices: Choices, outlined: bool, motion: Motion | None = None) -> Image:
    view, projection = seen_from()
    context.scene.render.fps = 24
    context.scene.frame_set(FRAME)
    plays = motion or bending(rig)
    with (pytest.MonkeyPatch.context() as patch,
          Renderer(context.scene, [mesh], WIDTH, HEIGHT, lambda _: plays) as renderer):
        if outlined:
            patch.setattr(offscreen, "Actor", partial(Actor, outline=SELECTED))
        return renderer.draw(view, projection, background=BACKGROUND, choices=choices)


def drawn(look: str, rig: Object, mesh: Object, **more: Any) -> Image:
    return draw(rig, mesh, LOOKS[look], outlined=look in ("outline", "see_through"), **more)


@every_look
def test_look_is_as_kept(look: str) -> None:
    picture = drawn(look, *character())
    if os.environ.get("TAKT_KEEP_PICTURES"):
        keep(look, picture)
    assert similarity(picture, kept(look)) >= ALIKE


@every_look
def test_what_a_look_adds_is_seen(look: str) -> None:
    """The check itself: the plain figure is not taken for it."""
    assert similarity(draw(*character(), Choices(), outlined=False), kept(look)) < ALIKE


@every_look
def test_a_wrong_bone_is_seen(look: str) -> None:
    rig, mesh = character()
    exchange_bones(mesh)
    assert similarity(drawn(look, rig, mesh), kept(look)) < ALIKE


@every_look
def test_a_lost_influence_is_seen(look: str) -> None:
    rig, mesh = character()
    mesh.vertex_groups.remove(mesh.vertex_groups["bone1"])
    context.view_layer.update()
    assert similarity(drawn(look, rig, mesh), kept(look)) < ALIKE


@every_look
def test_another_bone_that_moves_is_seen(look: str) -> None:
    rig, mesh = character()
    assert similarity(drawn(look, rig, mesh, motion=bending(rig, ("bone2", "bone1", "bone3"))), kept(look)) < ALIKE


@pytest.mark.parametrize("choices", [Choices(), Choices(see_through=True), Choices(picture="ZONES")],
                         ids=["shaded", "see_through", "zones"])
def test_ghosts_do_not_tint_the_figure(choices: Choices) -> None:
    """Where the figure is, the picture is what it is without ghosts; beside it, they show."""
    rig, mesh = character()
    alone = draw(rig, mesh, choices, outlined=False)
    haunted = draw(rig, mesh, replace(choices, ghosts=4, ghost_step_s=0.1), outlined=False)
    background = np.rint(np.array(BACKGROUND) * 255.0)
    figure = (np.abs(alone - background) > 2.0).any(axis=-1)
    inside = np.lib.stride_tricks.sliding_window_view(np.pad(figure, 1), (3, 3)).all(axis=(-2, -1))
    np.testing.assert_array_equal(haunted[inside], alone[inside])
    assert (haunted[~figure] != alone[~figure]).any(axis=-1).sum() > inside.sum() / 10
