"""Names of clips that an FBX file made: blocks and chips show what one looks for, and tell the whole of it."""

from dataclasses import replace

import pytest

from takt.core.pha.document import read
from takt.core.pha.expansion import expand
from takt.core.pha.open_scores import Scores
from takt.core.pha.programme import resolve
from takt.core.pha.text import Text
from takt.core.score_editor import commands, hints
from takt.core.score_editor.change import attempt
from takt.core.score_editor.commands import Playable
from takt.core.score_editor.drop import drop_at
from takt.core.score_editor.layout import lay_out
from takt.core.score_editor.names import short
from takt.core.score_editor.shelf import arrange, shelf_layers
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View
from takt.tests.core.scores import STEPS, library, procedure, score

VIEW = View(1200.0, 400.0)


@pytest.mark.parametrize(("clip", "called", "title"), [
    ("Rig|Rig|1H_Melee_Chop", "Rig|Rig|1H_Melee_Chop", "1H_Melee_Chop"),
    ("Root|Walk 1.5|BaseLayer", "Root|Walk 1.5|BaseLayer", "Walk 1.5"),
    ("Armature|mixamo.com|Layer0", "game.Rogue.Armature|mixamo.com|Layer0", "Rogue"),
    ("Bip|Take 001|BaseLayer", "game.Rogue.Bip|Take 001|BaseLayer", "Rogue"),
    ("Armature|Action", "game.Rogue.Armature|Action", "Rogue"),
    ("Rig.001|RigAction", "game.Rogue.Rig.001|RigAction", "Rogue"),
    ("jump", "jump", "jump"),
])
def test_a_block_and_its_chip_show_the_same_part_of_a_name(clip: str, called: str, title: str) -> None:
    steps, _ = STEPS.clips("feet.Steps")
    text = Text.of(score(procedure("main", 'left duration="2"')))
    scores = Scores.of((text,), library(feet_Steps=steps, game_Rogue=(replace(steps[0], name=clip),)))
    layout = lay_out(expand(resolve(read(text), scores)))
    what, gap = commands.Playable("game.Rogue", clip, 1.0), drop_at(layout, VIEW, 1100.0, 200.0)
    assert gap is not None
    proposal = commands.insert(layout, gap, what, scores)
    assert proposal.change is not None and proposal.hint.startswith(f"{title} → ")
    made = attempt(scores, None, proposal.change).edited[None].text
    assert f'<call name="{called}"' in str(made)
    new = lay_out(expand(resolve(read(made), scores)))
    assert hints.name(new, new.boxes.titles.index(title)) == (called if "|" in clip else "")
    assert hints.name(new, new.boxes.titles.index("left")) == ""
    shelf = arrange((what,), VIEW, Theme())
    layer, _ = shelf_layers(shelf, VIEW, Theme())
    assert title in {each.words for each in layer.texts} and clip in what.full_name


def test_odd_names_are_shown_as_they_are() -> None:
    assert [short(name) for name in ("", ".", "|", "a|", "Layer0", "x|Layer0", "mixamo.com")] == [
        "", ".", "|", "a|", "Layer0", "Layer0", "com"]


def test_a_number_that_blender_adds_to_an_action_is_no_folder() -> None:
    actions = [commands.Playable(name, name, 1.0) for name in ("Man_Run", "Man_Run.001", "Man_Run.002", "own.Hop.001")]
    files = [commands.Playable(f"walks.{number}", number, 1.0) for number in ("001", "002")]
    shelf = arrange((*actions, *files), VIEW, Theme())
    assert [each.title for each in shelf.playables] == [
        "Man_Run", "Man_Run.001", "Man_Run.002", "Hop.001", "walks.001", "walks.002"]
    assert [title for title, _, _ in shelf.titles] == ["Clips", "own", "walks"]
    assert [each.title for each in files] == [short(each.src) for each in files]


def test_folders_and_files_with_dots_are_headings_as_a_whole() -> None:
    chips = (Playable("v1.2 walks.slow", "slow", 1.0, dotted=("v1.2 walks",)),
             Playable("v1.2 walks.fast", "fast", 1.0, dotted=("v1.2 walks",)),
             Playable("more.set 1.5.left", "left", 1.0), Playable("take.07", "one", 1.0, dotted=("take.07",)),
             Playable("take.07", "two", 1.0, dotted=("take.07",)))
    titles = [title for title, _, _ in arrange(chips, View(4000.0, 500.0), Theme()).titles]
    assert titles == ["v1.2 walks", "5", "take.07"]


def test_a_search_that_finds_one_clip_of_a_file_still_shows_its_file() -> None:
    chips = (Playable("moves", "walk", 1.0, is_one_of_many=True), Playable("hop", "hop", 1.0))
    assert [title for title, _, _ in arrange(chips, View(4000.0, 500.0), Theme()).titles] == ["Clips", "moves"]


def test_chips_of_one_file_stay_together_and_those_of_single_files_by_folder() -> None:
    chips = (Playable("a.one", "x", 1.0), Playable("b", "first", 1.0), Playable("a.two", "y", 1.0),
             Playable("b", "last", 1.0), Playable("b", "liked", 1.0, shelf_group="Your Favourites"),
             Playable("c.d", "go", 1.0, is_clip=False), Playable("", "own", 1.0, is_clip=False))
    shelf = arrange(chips, View(4000.0, 500.0), Theme())
    assert [title for title, _, _ in shelf.titles] == ["Your Favourites", "a", "b", "This Score", "d"]
    assert [each.name for each in shelf.playables] == ["liked", "x", "y", "first", "last", "own", "go"]
    assert [shelf.number_of(chip) for chip in chips] == [1, 3, 2, 4, 0, 6, 5] and shelf.number_of(
        Playable("b", "none", 1.0)) is None
