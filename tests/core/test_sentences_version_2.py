"""Version 2 of the score language, sentence by sentence: files, values, blocks, overriding, lanes, calls, limits."""

import math

import pytest

from takt.core.errors import FileError, ScoreError
from takt.core.pha.definitions import Definitions
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.pha.sequence import WAIT, Block, Sequence

from .test_pha_evaluation import HEAD, clips, main, played
from .test_pha_random_programmes import Texts, unfolded


def call(name: str, duration: object = 1, **more: object) -> str:
    attributes = "".join(f' {key}="{value}"' for key, value in more.items())
    return f'<call name="{name}" duration="{duration}"{attributes}/>'


WALK, KICK, BOW = map(call, ("walk", "kick", "bow"))


def refused(body: str) -> str:
    with pytest.raises(FileError) as caught:
        played(body)
    return str(caught.value)


def lengths(sequence: Sequence) -> list[float]:
    return [float(length) for length in sequence.length_s]


def block(sequence: Sequence, segment: int = 0) -> Block:
    return sequence.blocks[int(sequence.clip[segment]) - len(sequence.clips)]


# The file

@pytest.mark.parametrize(("text", "found"), [
    ('<let name="n" value="1"/>' + main(WALK), "found <let> in <pha>"),
    (main(call("walk", mirror="yes")), "found 'mirror'"),
    (main('<wait duration="1"/>' + WALK), "found <wait> in <procedure>"),
])
def test_without_version_2_what_is_of_it_is_an_error_that_says_so(text: str, found: str) -> None:
    problems = parse(HEAD.replace(' version="2"', "") + text + "</pha>").problems
    assert [found in str(p) and 'needs version="2" on <pha>' in str(p) for p in problems] == [True]


def test_version_1_is_allowed_and_others_are_errors() -> None:
    old = '<pha version="{}" tickLength="1"><load src="moves.Steps"/>' + main(WALK) + "</pha>"
    assert not parse(old.format("1")).problems
    assert "found '3', expected 1 or 2" in str(parse(old.format("3")).problems[0])


@pytest.mark.parametrize(("own", "other"), [("1", "2"), ("2", "1")])
def test_a_file_of_one_version_may_include_one_of_the_other(own: str, other: str) -> None:
    text = '<pha version="{}" tickLength="1"><load src="moves.Steps"/>{}</pha>'
    include = '<include src="a.B"/>' + main('<call name="figure" duration="2"/>')
    figure = f'<procedure name="figure">{WALK}{KICK}</procedure>'
    assert clips(unfolded({"": text.format(own, include), "a.B": text.format(other, figure)}, 0)) == ["walk", "kick"]


# Values

def test_repeat_and_times_come_out_whole_within_1e_9() -> None:
    assert len(played(main(call("walk", repeat="0.1 * 30")))) == 3
    assert "expected a whole number" in refused(main(call("walk", repeat="2.99999")))
    assert "expected a whole number from 1" in refused(main(call("walk", repeat="0")))


@pytest.mark.parametrize(("element", "wanted"), [
    ('<call name="walk" duration=""/>', "<call> duration: found nothing, expected a number of ticks, 0 or more"),
    (f'<loop times=" ">{WALK}</loop>', "<loop> times: found nothing, expected a whole number, 0 or more"),
    (f'<if test="">{WALK}</if>', "<if> test: found nothing, expected yes or no"),
])
def test_an_empty_value_is_told_with_what_belongs_there(element: str, wanted: str) -> None:
    assert wanted in refused(main(element + KICK))


def test_with_sets_parameters_and_what_it_does_not_set_has_its_default() -> None:
    text = ('<procedure name="a"><param name="n" default="1"/><param name="m" default="n + 1"/>'
            '<call name="walk" duration="n"/><call name="kick" duration="m"/></procedure>'
            + main('<call name="a" duration="3"/><call name="a" duration="7"><with n="3"/></call>'))
    assert lengths(played(text)) == pytest.approx([0.5, 1.0, 1.5, 2.0])


def test_a_call_takes_at_most_one_with() -> None:
    assert "found a second <with>" in refused(
        '<procedure name="a"><param name="n" default="1"/>' + WALK + "</procedure>"
        + main('<call name="a" duration="1"><with n="1"/><with n="2"/></call>'))


def test_a_let_holds_from_there_to_the_blocks_end() -> None:
    inside = '<loop times="1"><let name="n" value="2"/><call name="walk" duration="n"/></loop>'
    assert lengths(played(main(inside + inside))) == [1.0, 1.0]
    assert "found the name 'n'" in refused(main(inside + '<call name="walk" duration="n"/>'))
    assert "found the name 'n'" in refused(main('<call name="walk" duration="n"/><let name="n" value="1"/>'))


def test_nothing_is_global_across_files() -> None:
    base = f'{HEAD}<let name="n" value="1"/><procedure name="a">{WALK}</procedure></pha>'
    with pytest.raises(ScoreError, match="found the name 'n', expected"):
        unfolded({"": f'{HEAD}<include src="a.B"/>{main(call("a", "n"))}</pha>', "a.B": base}, 0)


# Blocks

def test_a_loop_plays_its_block_so_many_times_and_its_index_counts_from_0() -> None:
    text = main('<loop times="3" index="i"><call name="walk" duration="i + 1"/></loop><loop times="0">' + KICK
                + "</loop>")
    assert lengths(played(text)) == [0.5, 1.0, 1.5]


@pytest.mark.parametrize(("n", "plays"), [(1, "walk"), (2, "kick"), (3, "bow")])
def test_if_then_any_elif_then_else_comments_between_are_fine(n: int, plays: str) -> None:
    text = (f'<let name="n" value="{n}"/>' + main(f'<if test="n == 1">{WALK}</if><!-- or --><elif test="n == 2">{KICK}'
                                                  f"</elif>\n<else>{BOW}</else>"))
    assert clips(played(text)) == [plays]


def test_there_is_at_most_one_else() -> None:
    others = f"<else>{KICK}</else><else>{BOW}</else>"
    assert "found <else> after <else>" in refused(main(f'<if test="no">{WALK}</if>{others}'))


def test_a_pick_plays_in_proportion_to_weight() -> None:
    pick = f"<pick>{call('walk', weight=3)}{KICK}</pick>"
    found = clips(played(main(f'<loop times="4000">{pick}</loop>')))
    assert found.count("walk") / len(found) == pytest.approx(0.75, abs=0.03)


def test_a_pick_among_others_does_not_change_what_later_files_pick() -> None:
    pick = f"<pick>{WALK}{KICK}</pick>"
    text = HEAD + '<include src="a.B"/>' + main("{}" + '<call name="a" duration="64"/>') + "</pha>"
    base = f'{HEAD}<procedure name="a"><loop times="64">{pick}</loop></procedure></pha>'
    first, second = (unfolded({"": text.format(more), "a.B": base}, 5) for more in ("", pick))
    assert clips(first) == clips(second)[1:]


def test_a_wait_plays_no_clip_and_has_a_transition() -> None:
    found = played(main(WALK + '<wait duration="2" transition="0.5"/>' + KICK))
    assert found.clip.tolist()[1] == WAIT and lengths(found) == [0.5, 1.0, 0.5]
    assert found.transition_s[1] == 0.25


def test_a_call_of_duration_0_plays_nothing_and_evaluates_nothing() -> None:
    text = '<procedure name="a"><call name="walk" duration="1 / 0"/></procedure>' + main(
        '<call name="a" duration="0" transition="1"/>' + KICK)
    assert clips(played(text)) == ["kick"]


@pytest.mark.parametrize("element", [
    f'<loop times="2" transition="0.5">{WALK}</loop>', f'<pick transition="0.5">{WALK}</pick>',
    f'<together transition="0.5"><lane>{WALK}</lane></together>'])
def test_a_transition_on_loop_pick_or_together_is_as_on_a_call_of_a_procedure(element: str) -> None:
    found = played(main(element + KICK))
    assert found.transition_s[-2] == 0.25 and all(math.isnan(each) for each in found.transition_s[:-2])


# Overriding

def test_lets_masks_tempo_and_music_of_a_kind_and_name_replace_the_inherited() -> None:
    base = (f'{HEAD}<music src="songs.old"/><tempo tick="1" tickLength="1"/><mask name="m" body="arms"/>'
            f'<let name="n" value="2"/><let name="k" value="n * 2"/>{main(call("walk", "k"))}</pha>')
    own = ('<pha version="2" tickLength="1" extends="a.B"><music src="songs.new"/><tempo tick="2" tickLength="2"/>'
           '<mask name="m" body="legs"/><let name="n" value="3"/></pha>')
    texts = {"": own, "a.B": base}
    programme = resolve(parse(own), Texts(texts))
    assert isinstance(programme.calls, Definitions)
    view = programme.calls.views[0]
    assert view.music is not None
    assert (view.music.src, [t.tick for t in view.tempo], view.masks["m"].body) == ("songs.new", [2.0], "legs")
    assert lengths(expand(programme)) == [6.0]


def test_chains_are_allowed_and_the_nearest_replacement_counts() -> None:
    chain = {"a.A": HEAD + f'<procedure name="f">{WALK}</procedure>' + main('<call name="f" duration="1"/>') + "</pha>",
             "a.B": f'<pha version="2" tickLength="1" extends="a.A"><procedure name="f">{KICK}</procedure></pha>',
             "": '<pha version="2" tickLength="1" extends="a.B"><procedure name="f"><call name="a.B.f" duration="1"/>'
                 '<call name="a.A.f" duration="1"/></procedure></pha>'}
    assert clips(unfolded(chain, 0)) == ["kick", "walk"]


# Together

def test_each_lane_is_scaled_to_the_blocks_duration_without_one_to_the_longest_lane() -> None:
    lanes = f'<lane body="lower">{WALK * 4}</lane><lane body="arms">{KICK}</lane>'
    for attribute, length in (("", 2.0), (' duration="6"', 3.0)):
        found = block(played(main(f"<together{attribute}>{lanes}</together>")))
        assert [lane.sequence.duration_s for lane in found.lanes if lane.sequence] == pytest.approx([length, length])


def test_a_together_is_one_segment_for_everything_outside() -> None:
    text = '<procedure name="a"><together><lane>' + WALK + "</lane></together></procedure>" + main(
        '<call name="a" duration="2" repeat="3" mirror="yes" reverse="yes"/>')
    found = played(text)
    assert lengths(found) == [1.0] * 3 and found.is_mirrored is not None and found.is_reversed is not None
    assert found.is_mirrored.all() and found.is_reversed.all()


def test_lanes_have_these_defaults() -> None:
    lane, = block(played(main(f"<together><lane>{WALK}</lane></together>"))).lanes
    assert (lane.body, lane.mode, lane.fade, lane.weight, lane.weight_end) == ("whole", "replace", 0.0, 1.0, 1.0)
    assert math.isnan(lane.ease_in_s) and math.isnan(lane.ease_out_s)


def test_weight_end_is_weight_and_ease_in_and_out_are_ease_where_they_are_not_given() -> None:
    lane, = block(played(main(f'<together><lane weight="0.5" ease="1" easeOut="2">{WALK}</lane></together>'))).lanes
    assert (lane.weight, lane.weight_end, lane.ease_in_s, lane.ease_out_s) == (0.5, 0.5, 0.5, 1.0)


def test_a_reversed_block_has_its_weights_eases_and_marks_exchanged() -> None:
    inside = '<procedure name="b">' + KICK + "</procedure>"
    lane = f'<lane weight="0" weightEnd="1" easeIn="1" easeOut="0">{WALK * 3}<call name="b" duration="1"/></lane>'
    text = inside + f'<procedure name="a"><together>{lane}</together></procedure>'
    found = played(text + main('<call name="a" duration="4" reverse="yes"/>'))
    back, = block(found).lanes
    assert (back.weight, back.weight_end, back.ease_in_s, back.ease_out_s) == (1.0, 0.0, 0.0, 0.5)
    assert back.sequence is not None and clips_of(back.sequence, found) == ["kick", "walk", "walk", "walk"]
    assert back.sequence.marks.segment.tolist() == [0]


def clips_of(lane: Sequence, outer: Sequence) -> list[str]:
    return [outer.clips[clip].rpartition(".")[2] for clip in lane.clip]


def test_each_segment_of_a_lane_knows_the_elements_that_made_it() -> None:
    figure = f'<procedure name="a">{KICK}</procedure><procedure name="b">{BOW}</procedure>'
    inner = f"<together><lane>{call('b')}</lane></together>"
    found = played(figure + main(f"<together><lane>{WALK}{call('a', repeat=2)}</lane><lane>{call('b')}{inner}</lane>"
                                 "</together>"))
    first, second = (lane.sequence for lane in found.blocks[0].lanes)
    assert first is not None and second is not None
    chains = [[(step.call.name, step.repetition) for step in lane.origins.of_segment(segment)]
              for lane in (first, second) for segment in range(len(lane))]
    assert chains == [[("walk", 0)], [("a", 0), ("kick", 0)], [("a", 1), ("kick", 0)], [("b", 0), ("bow", 0)],
                      [("", 0)]]
    marked = [[[step.call.name for step in lane.origins.of_procedure(run)] for run in lane.marks.run.tolist()]
              for lane in (first, second)]
    assert marked == [[["a"], ["a"]], [["b"]]]


# On a call

def test_backwards_the_last_segment_comes_first_and_each_transition_stays_between_the_same_two() -> None:
    figure = ('<procedure name="a"><call name="walk" duration="1" transition="0.5"/><call name="kick" duration="1"/>'
              '<call name="bow" duration="1" transition="0.25"/></procedure>')
    found = played(figure + main('<call name="a" duration="3" reverse="yes"/>' + WALK))
    assert clips(found) == ["bow", "kick", "walk", "walk"]
    assert math.isnan(found.transition_s[0]) and found.transition_s.tolist()[1:3] == [0.25, 0.125]


def test_a_part_is_a_share_or_seconds() -> None:
    found = played(main('<call name="walk" duration="1" from="0.1s" to="0.5"/>'))
    assert found.part is not None and found.part.tolist() == [[pytest.approx(0.2), 0.5]]


# Limits and errors

def test_all_mistakes_of_all_files_come_at_once_with_their_places() -> None:
    base = f'{HEAD}<procedure name="a"><call name="wlak" duration="1"/></procedure></pha>'
    own = HEAD + '<include src="a.B"/>' + main('\n<call name="kcik" duration="1"/>\n<call name="walk" duration="n"/>')
    with pytest.raises(ScoreError) as caught:
        unfolded({"": own + "</pha>", "a.B": base}, 0)
    found = [(problem.place.line, problem.message) for problem in caught.value.problems]
    assert sorted(line for line, _ in found if line) == [1, 2, 3]
    assert any("did you mean" in message for _, message in found)


def test_errors_of_evaluation_name_the_chain_of_calls_with_the_values_that_led_there() -> None:
    said = refused('<procedure name="a"><param name="n" default="1"/><call name="b" duration="1"><with m="n - 1"/>'
                   f'</call></procedure><procedure name="b"><param name="m" default="1"/>{call("walk", "1 / m")}'
                   "</procedure>" + main('<call name="a" duration="1"/>'))
    assert "with m = 0: division by zero (in main → a → b(m = 0))" in said
