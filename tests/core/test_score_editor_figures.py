"""Figures on the shelf: they show what a body does, whatever its rig's axes, unit and place."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.clips.tracks import Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.pha.document import read
from takt.core.pha.expansion import expand
from takt.core.pha.open_scores import Scores
from takt.core.pha.programme import resolve
from takt.core.pha.text import Text
from takt.core.score_editor.boxes import Kind, colours_of_procedures
from takt.core.score_editor.commands import Playable
from takt.core.score_editor.figures import STEP_S, Figure, figure_of, figure_triangles, placed
from takt.core.score_editor.layout import lay_out
from takt.core.score_editor.overlay import height_of_words
from takt.core.score_editor.shelf import ACTIONS, DAMAGED, OTHER_ACTIONS, OnShelf, arrange, card_layer, shelf_layers
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.skeleton import build_skeleton
from takt.tests.core.scores import STEPS, procedure, score

WHITE, GREY = (1.0, 1.0, 1.0, 1.0), (0.5, 0.5, 0.5, 1.0)
HALF_TURN = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.array(np.pi))
RAISED_S = 1.0


def none(channels: int) -> Tracks:
    return Tracks(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0), np.zeros((0, channels)))


def swinging(skeleton: Skeleton, joint: str) -> Clip:
    """A joint makes half a turn and comes back; the body stands still otherwise."""
    turns = np.stack((rot.IDENTITY, HALF_TURN, rot.IDENTITY))
    rotations = Tracks(np.array((skeleton.index_of[joint],)), np.array((0, 3)), np.array((0.0, RAISED_S, 2.0)), turns)
    return Clip("swing", skeleton, 2.0, rotations, none(3), none(3))


def elsewhere(skeleton: Skeleton, scale: float, turn: FloatArray, offset: FloatArray) -> Skeleton:
    """The same body in another unit, with other axes, at another place."""
    offsets = skeleton.rest_translations * scale
    rotations = skeleton.rest_rotations.copy()
    offsets[0], rotations[0] = rot.rotate(turn, offsets[0]) + offset, rot.multiply(turn, rotations[0])
    return Skeleton.from_arrays(skeleton.names, skeleton.parents, rotations, offsets)


@pytest.fixture
def body() -> Skeleton:
    return build_skeleton()


def test_files_of_one_clip_each_share_a_group() -> None:
    files = [Playable("mocap.walk", "walk", 1.0), Playable("feet.Steps", "left", 1.0), Playable("Wave", "Wave", 1.0),
             Playable("mocap.run", "run", 1.0), Playable("feet.Steps", "right", 1.0),
             Playable("", "verse", 1.0, is_clip=False),
             Playable("Jump", "Jump", 1.0), Playable("dance", "verse", 1.0, is_clip=False)]
    shelf = arrange(files, View(900.0, 400.0), Theme())
    groups = [([title for title, x, _ in shelf.titles if x <= left][-1], each.name)
              for left, each in zip(shelf.boxes[:, 0], shelf.playables, strict=True)]
    assert groups == [("Clips", "Wave"), ("Clips", "Jump"), ("mocap", "walk"), ("mocap", "run"), ("Steps", "left"),
                      ("Steps", "right"), ("This Score", "verse"), ("dance", "verse")]


def test_no_chip_moves_when_pictures_lengths_and_troubles_of_files_become_known() -> None:
    """Files of one clip are on the shelf before they are read."""
    rng, view, theme = np.random.default_rng(8), View(900.0, 400.0), Theme()
    for _ in range(50):
        folders = [f"f{number}" for number in range(int(rng.integers(1, 5)))]
        srcs = [f"{folders[number % len(folders)]}.{'x' * int(rng.integers(1, 40))}{number}" for number in range(30)]
        before = [Playable(src, src.rpartition(".")[2], 0.0, is_read=False) for src in srcs]
        after = [replace(each, name="mixamo.com" * int(rng.integers(0, 9)), is_read=True, duration_s=12.345) if
                 rng.random() < 0.7 else replace(each, problem=f"{DAMAGED}cut short") for each in before]
        one, two = (arrange(each, view, theme) for each in (before, after))
        np.testing.assert_array_equal(one.boxes, two.boxes)
        assert one.titles == two.titles
        assert [each.src for each in one.playables] == [each.src for each in two.playables]


def test_the_title_of_a_group_stays_in_sight_while_its_chips_are_scrolled() -> None:
    view, theme = View(900.0, 400.0), Theme()
    chips = [Playable(f"{folder}.{number}", "x", 1.0) for folder in ("a", "b") for number in range(20)]
    (_, start, _), (_, second, _) = arrange(chips, view, theme).titles
    first, other = arrange(chips, view, theme, scroll_px=300.0).titles
    assert first[1] == start and other[1] == second - 300.0
    first, other = arrange(chips, view, theme, scroll_px=second - start + 50.0).titles
    assert first[1] + theme.measure("a", theme.size_px) < start - 50.0 and other[1] == start


def test_actions_come_after_the_clips_of_files_and_those_of_others_last() -> None:
    chips = [Playable("Jog", "Jog", 1.0, shelf_group=OTHER_ACTIONS), Playable("Run", "Run", 1.0, shelf_group=ACTIONS),
             Playable("", "verse", 1.0, is_clip=False), Playable("a.walk", "walk", 1.0), Playable("hop", "hop", 1.0)]
    shelf = arrange(chips, View(900.0, 400.0), Theme())
    assert [title for title, _, _ in shelf.titles] == ["Clips", "a", ACTIONS, OTHER_ACTIONS, "This Score"]


def test_folders_that_are_called_alike_are_told_apart_by_the_way_to_them() -> None:
    chips = [Playable(src, src.rpartition(".")[2], 1.0) for src in ("walks.slow.a", "runs.slow.b", "runs.fast.c")]
    shelf = arrange(chips, View(900.0, 400.0), Theme())
    assert [title for title, _, _ in shelf.titles] == ["walks.slow", "runs.slow", "fast"]
    chips = [Playable(src, "a", 1.0) for src in ("king.day 1.takes.raw.a", "fool.day 1.takes.raw.a", "raw.a")]
    shelf = arrange(chips, View(900.0, 400.0), Theme())
    assert [title for title, _, _ in shelf.titles] == ["king.….raw", "fool.….raw", "raw"]


def test_the_telling_instant_is_the_one_that_differs_most(body: Skeleton) -> None:
    clip = swinging(body, "l_shoulder")
    figure = figure_of(clip, find_map(body))
    assert figure.telling == round(RAISED_S / STEP_S)
    assert figure.instant(figure.duration_s + RAISED_S) == figure.telling
    lifted = np.abs(figure.strokes[figure.telling] - figure.strokes[0]).max(axis=(1, 2)) > 0.2
    assert lifted.any() and not lifted[figure.is_far].any()  # the left arm is on the near side


@pytest.mark.parametrize(("scale", "axis"), [(100.0, (0.0, 0.0, 0.0)), (1.0, (np.pi / 2.0, 0.0, 0.0)),
                                             (0.01, (0.0, np.pi / 2.0, 0.0))])
def test_neither_unit_nor_axes_nor_place_count(body: Skeleton, scale: float, axis: tuple[float, ...]) -> None:
    turn = rot.from_axis_angle(np.array(axis) / max(np.linalg.norm(axis), 1.0), float(np.linalg.norm(axis)))
    other = elsewhere(body, scale, turn, np.array((3.0, -5.0, 7.0)) * scale)
    one, same = (figure_of(swinging(each, "l_shoulder"), find_map(each)) for each in (body, other))
    np.testing.assert_allclose(one.strokes, same.strokes, atol=1e-6)


def test_what_has_no_limbs_is_drawn_as_lines() -> None:
    tail = Skeleton.from_arrays(["a", "b", "c"], [-1, 0, 1], rot.identities(3),
                                np.array(((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.0))))
    figure = figure_of(swinging(tail, "b"), find_map(tail))
    assert figure.strokes.shape[1] == 2
    lone = Skeleton.from_arrays(["a"], [-1], rot.identities(1), np.zeros((1, 3)))
    assert np.isfinite(figure_of(swinging(lone, "a"), find_map(lone)).strokes).all()


def test_a_figure_stays_in_its_box(body: Skeleton) -> None:
    figure = figure_of(swinging(body, "l_shoulder"), find_map(body))
    box = np.array((100.0, 50.0, 130.0, 90.0))
    corners, colours = figure_triangles(figure, figure.telling, box, WHITE, GREY)
    margin = 0.2 * 40.0
    assert (corners >= box[:2] - margin).all() and (corners <= box[2:] + margin).all()
    assert len(corners) == len(colours) and len(corners) % 3 == 0
    assert ((colours >= 0.0) & (colours <= 1.0)).all()
    first, second, third = (corners[at::3] for at in range(3))
    area = np.abs((second - first)[:, 0] * (third - first)[:, 1] - (second - first)[:, 1] * (third - first)[:, 0]) / 2.0
    solid = area[colours[:, 3].reshape(-1, 3).min(axis=1) == 1.0].sum()
    assert 0.05 * 30.0 * 40.0 < solid < 0.6 * 30.0 * 40.0


@pytest.mark.parametrize(("reach", "is_smaller"), [((0.0, 0.9), False), ((0.0, 1.6), True), ((0.9, 0.5), True)])
def test_what_reaches_out_of_its_box_is_drawn_smaller(reach: tuple[float, float], is_smaller: bool) -> None:
    strokes = np.array([[[[0.0, 0.0], [0.0, 0.8]]], [[[0.0, 0.0], reach]]])
    figure = Figure(strokes, np.array([0.1]), np.array([False]), 1)
    (ends, size), (_, same) = (placed(figure, instant, np.array((10.0, 20.0, 50.0, 60.0))) for instant in (1, 0))
    assert size == same and (size < 40.0 / 1.35 - 1e-9) == is_smaller
    np.testing.assert_allclose(ends[0, 1] - ends[0, 0], np.array(reach) * size, atol=1e-9)
    assert (ends > (10.0, 20.0)).all() and (ends < (50.0, 60.0)).all()


def test_a_chip_has_the_colour_that_its_block_has() -> None:
    text = Text.of(score(procedure("walk", 'left duration="1"'), procedure("turn", 'right duration="1"'),
                         procedure("main", 'turn duration="1"', 'walk duration="1"', 'left duration="1"')))
    scores = Scores.of((text,), STEPS)
    layout, view, theme = lay_out(expand(resolve(read(text), scores))), View(900.0, 500.0), Theme()
    own = [Playable("", name, 1.0, is_clip=False) for name in ("walk", "turn")]
    chips = [Playable("feet.Steps", "left", 1.0), *own]
    shelf = arrange(chips, view, theme)
    layer, _ = shelf_layers(shelf, view, theme, OnShelf(colours=colours_of_procedures(layout.documents)))
    boxes = layout.boxes
    is_leaf = np.array([kind == Kind.CLIP for kind in boxes.kind])
    fills = theme.fills(boxes.colour, boxes.depth, is_leaf)
    blocks = {boxes.titles[box]: fills[box] for box in np.flatnonzero(boxes.depth == 0)}
    drawn = {each.name: layer.rectangles.fill[(layer.rectangles.boxes == box).all(axis=1)][0]
             for each, box in zip(shelf.playables, shelf.boxes, strict=True)}
    assert drawn.keys() == blocks.keys() and len({tuple(fill) for fill in drawn.values()}) == 3
    for name, fill in drawn.items():
        np.testing.assert_allclose(fill, blocks[name])


def test_the_shelf_shows_figures_and_a_card(body: Skeleton) -> None:
    clip = Playable("feet.Steps", "swing", 2.0)
    figure, view, theme = figure_of(swinging(body, "l_shoulder"), find_map(body)), View(900.0, 500.0), Theme()
    both = clip, Playable("", "groove", 4.0, is_clip=False)
    shelf = arrange(both, view, theme)
    tagged = shelf.told_anew((replace(clip, tags=("solo",)), both[1]))
    assert tagged.as_now(clip).tags == ("solo",) and tagged.as_now(Playable("a", "gone", 1.0)).name == "gone"
    plain, front = shelf_layers(shelf, view, theme)
    drawn, _ = shelf_layers(shelf, view, theme, OnShelf(figures={clip: figure}))
    assert not len(plain.triangles.corners) and len(drawn.triangles.corners)
    assert {text.words for text in plain.texts} >= {"swing", "2 s", "groove", "4 s"}
    assert [text.words for text in front.texts] == ["Library", "+ Folder…"]
    instants = [card_layer(shelf, clip, figure, time_s, view, theme).triangles.corners for time_s in (0.0, RAISED_S)]
    assert np.abs(instants[1] - instants[0]).max() > 1.0
    assert instants[0][:, 1].min() > shelf.height
    assert not len(card_layer(shelf, clip, figure, 0.0, View(900.0, 60.0), theme).triangles.corners)
    lows = [float(card_layer(shelf, clip, figure, 0.0, view, theme, words=words).rectangles.boxes[0, 1]) - shelf.height
            for words in ("one line", "words " * 60)]
    assert lows[1] >= height_of_words("words " * 60, view, theme) > lows[0] >= height_of_words("one line", view, theme)


def test_a_favourite_has_a_star_on_its_chip() -> None:
    view, theme, clip = View(800.0, 400.0), Theme(), Playable("a", "walk", 1.0)

    def corners(playable: Playable) -> int:
        layer, _ = shelf_layers(arrange((playable,), view, theme), view, theme)
        return len(layer.triangles.corners)

    assert corners(replace(clip, is_favourite=True)) == corners(clip) + 30
