"""The score language sentence by sentence: sections 1 to 4 of the specification, each quoted by its test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from takt.core import rotations as rot
from takt.core.clip import Clip, Tracks
from takt.core.errors import FileError, ScoreError
from takt.core.motion import Motion, compose
from takt.core.pha.document import MAX_SEGMENTS, parse
from takt.core.pha.library import CLIP_SUFFIXES, Library
from takt.core.pha.programme import Programme, resolve
from takt.core.pha.sequence import Sequence, expand
from takt.core.score import Settings
from takt.core.transitions.blending import Style
from takt.core.transitions.curves import CURVES
from takt.core.transitions.lengths import DEFAULT_SPEED_RAD_S
from takt.core.transitions.methods import KEPT_SHARE, METHODS
from takt.tests.core.scores import FIGURE, STEPS, UP_Z, X, Y, library, procedure, score, turning

SAME = 1e-9
AUTO = float("nan")
LOAD = '<load src="feet.Steps"/>'


def read_words(data: bytes, path: Path) -> tuple[Clip, ...]:
    """Read a file of clips for tests: their names, with commas between; "-" has none."""
    return tuple(turning("" if name == "-" else name, X, (0.0, 1.0)) for name in data.decode().split(","))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A library with feet/Steps.bvh (left, right), Bow.bvh (one clip without a name) and basic/Turns.pha."""
    for name, text in (("feet/Steps.bvh", "left,right"), ("Bow.bvh", "-"),
                       ("basic/Turns.pha", score(procedure("turn", 'left duration="1"'), procedure(
                           "main", 'right duration="1"'), head=LOAD))):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def lib(*roots: Path, load_format: str = "") -> Library:
    return Library(roots, load_format=load_format, readers=dict.fromkeys(CLIP_SUFFIXES, read_words))


def programme(*procedures: str, head: str = LOAD, tick: float = 1.0, clips: Library = STEPS) -> Programme:
    return resolve(parse(score(*procedures, tick=tick, head=head)), clips)


def main(*calls: str, **more: object) -> Sequence:
    return expand(programme(procedure("main", *calls), **more))  # type: ignore[arg-type]


def names(p: Programme, start: str = "main") -> list[str]:
    s = expand(p, start)
    return [s.clips[clip] for clip in s.clip]


def refused(*procedures: str, head: str = LOAD, clips: Library = STEPS) -> str:
    with pytest.raises(FileError) as caught:
        expand(programme(*procedures, head=head, clips=clips))
    return str(caught.value)


def motion(*calls: str, method: str, curve: str = "COSINE", loop: bool = False, clips: Library = STEPS) -> Motion:
    p = programme(procedure("main", *calls), clips=clips)
    return compose(expand(p, "main", loop), p.clips, Style(method, curve), root_motion="AS_AUTHORED", up=UP_Z)


class TestTheFile:
    """Section 1."""

    def test_one_file_is_one_module(self, root: Path) -> None:
        """Two files may use the same name, each for its own."""
        p = programme(procedure("main", 'turn duration="1"', 'own duration="1"'), procedure("own", 'left duration="1"'),
                      head=LOAD + '<include src="basic.Turns"/>', clips=lib(root))
        assert [r.module for r in p.procedures] == ["", "", "basic.Turns", "basic.Turns"]

    @pytest.mark.parametrize("tick", ["", 'tickLength="0"', 'tickLength="-1"', 'tickLength="x"'])
    def test_tick_length_is_required_and_greater_than_0(self, tick: str) -> None:
        assert "tickLength" in str(parse(f"<pha {tick}/>").problems[0])

    def test_it_holds_for_the_modules_own_procedures_when_they_are_started_directly(self) -> None:
        p = programme(procedure("step", 'left duration="2"'), procedure("main", 'step duration="3"'), tick=0.8)
        assert expand(p, "step").duration_s == pytest.approx(1.6)

    def test_a_caller_rescales_what_it_calls(self, root: Path) -> None:
        """The tick of an included file does not count when it is called."""
        (root / "Slow.pha").write_text(score(procedure("slow", 'left duration="7"'), tick=99.0, head=LOAD))
        p = programme(procedure("main", 'slow duration="3"'), head='<include src="Slow"/>', tick=0.5, clips=lib(root))
        assert expand(p).length_s == pytest.approx([1.5])

    def test_load_is_a_dotted_path_below_the_library_root_without_the_extension(self, root: Path) -> None:
        assert names(programme(procedure("main", 'left duration="1"'), clips=lib(root))) == ["feet.Steps.left"]

    def test_libraries_in_their_order_in_each_by_ending_the_first_is_taken_a_warning_names_the_others(
            self, root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
        other = tmp_path_factory.mktemp("other")
        (root / "feet" / "Steps.glb").write_text("left,third")
        (other / "feet").mkdir()
        (other / "feet" / "Steps.skeleton").write_text("left,fourth")
        one, two = (programme(procedure("main", 'left duration="1"'), clips=lib(*order))
                    for order in ((root, other), (other, root)))
        said = str(one.problems[0])
        assert f"taken from {root / 'feet' / 'Steps.bvh'}" in said
        assert "Steps.glb" in said
        assert str(other / "feet" / "Steps.skeleton") in said
        assert f"taken from {other / 'feet' / 'Steps.skeleton'}" in str(two.problems[0])

    def test_further_libraries_are_searched_after_a_scores_own(self, root: Path,
                                                                tmp_path_factory: pytest.TempPathFactory) -> None:
        """Those of the preferences; a score without a library still finds its own beside it, and first."""
        other = tmp_path_factory.mktemp("other")
        (other / "Only.bvh").write_text("there")
        (other / "Bow.bvh").write_text("-")
        library_ = Library(further=[other], readers=dict.fromkeys(CLIP_SUFFIXES, read_words))
        text = score(procedure("main", 'Bow duration="1"', 'there duration="1"'),
                     head='<load src="Bow"/><load src="Only"/>')
        p = resolve(parse(text, root / "feet" / "x.pha"), library_)
        assert names(p) == ["Bow.Bow", "Only.there"]
        assert f"taken from {root / 'Bow.bvh'}; there are also {other / 'Bow.bvh'}" in str(p.problems[0])

    def test_the_endings_are_looked_for_in_this_order(self, root: Path) -> None:
        endings = (".skeleton", ".skeleton.xml", ".bvh", ".glb", ".gltf", ".fbx", ".blend", ".raa")
        for ending in endings:
            (root / f"All{ending}").write_text("left")
        for ending in endings:
            p = programme(procedure("main", 'left duration="1"'), head='<load src="All"/>', clips=lib(root))
            (root / f"All{ending}").unlink()
            assert not p.problems or f"All{ending};" in str(p.problems[0])

    def test_load_format_chooses_otherwise(self, root: Path) -> None:
        (root / "feet" / "Steps.raa").write_text("left,third")
        p = programme(procedure("main", 'third duration="1"'), clips=lib(root, load_format=".raa"))
        assert names(p) == ["feet.Steps.third"]

    def test_in_blender_last_an_action_of_that_name(self, root: Path) -> None:
        """Whatever the library is given to ask last is asked only for what no file has."""
        asked: list[str] = []
        library_ = Library([root], readers=dict.fromkeys(CLIP_SUFFIXES, read_words),
                           other_clips=lambda src: asked.append(src) or (turning("", X, (0.0, 1.0)),))  # type: ignore
        p = programme(procedure("main", 'left duration="1"', 'Wave duration="1"'), head=LOAD + '<load src="Wave"/>',
                      clips=library_)
        assert names(p)[1].startswith("Wave")
        assert asked == ["Wave"]

    def test_include_makes_all_its_procedures_public_except_its_main(self, root: Path) -> None:
        head = '<include src="basic.Turns"/>'
        assert names(programme(procedure("main", 'turn duration="1"'), head=head, clips=lib(root))) == [
            "feet.Steps.left"]
        assert "the main of another file cannot be called" in refused(
            procedure("go", 'left duration="1"'), procedure("main", 'basic.Turns.main duration="1"', 'go duration="1"'),
            head=head + LOAD, clips=lib(root))

    def test_includes_are_transitive(self, root: Path) -> None:
        (root / "Far.pha").write_text(score(head='<include src="basic.Turns"/>'))
        p = programme(procedure("main", 'turn duration="1"'), head='<include src="Far"/>', clips=lib(root))
        assert names(p) == ["feet.Steps.left"]

    def test_each_file_is_read_once_and_cycles_are_harmless(self, root: Path) -> None:
        both = '<include src="A"/><include src="B"/>'
        (root / "A.pha").write_text(score(procedure("a", 'left duration="1"'), head=LOAD + '<include src="B"/>'))
        (root / "B.pha").write_text(score(procedure("b", 'a duration="1"'), head=both))
        p = programme(procedure("main", 'b duration="1"', 'a duration="1"'), head=both, clips=lib(root))
        assert names(p) == ["feet.Steps.left"] * 2
        assert len(p.procedures) == 3

    def test_without_a_library_the_nearest_folder_upwards_five_levels_at_most(self, root: Path) -> None:
        for levels, works in ((4, True), (5, False)):
            path = root.joinpath(*"abcdefg"[:levels], "x.pha")
            path.parent.mkdir(parents=True, exist_ok=True)
            library_ = Library(readers=dict.fromkeys(CLIP_SUFFIXES, read_words))
            document = parse(score(procedure("main", 'left duration="1"')), path)
            if works:
                assert names(resolve(document, library_)) == ["feet.Steps.left"]
            else:
                with pytest.raises(ScoreError, match="found no file"):
                    resolve(document, library_)

    def test_all_src_also_in_included_modules_start_at_the_root(self, root: Path) -> None:
        """basic/Turns.pha loads feet.Steps, which lies beside its folder, not in it."""
        p = programme(procedure("main", 'turn duration="1"'), head='<include src="basic.Turns"/>', clips=lib(root))
        assert names(p) == ["feet.Steps.left"]

    def test_a_procedures_name_is_unique_in_its_module_and_it_has_one_call_or_more(self) -> None:
        assert "again" in refused(procedure("main", 'left duration="1"'), procedure("main", 'left duration="1"'))
        assert "found no call" in refused(procedure("main"))

    def test_main_is_what_runs_and_a_module_without_one_is_a_library(self) -> None:
        p = programme(procedure("other", 'left duration="1"'))
        assert names(p, "other") == ["feet.Steps.left"]
        with pytest.raises(ScoreError, match="a score without it is a library"):
            expand(p)

    @pytest.mark.parametrize("wrong", ['left transition="1"', 'left duration="0"', 'left duration="1" transition="-1"',
                                       'left duration="1" repeat="0"', 'left duration="1" repeat="1.5"'])
    def test_name_and_duration_required_transition_0_or_more_repeat_1_or_more(self, wrong: str) -> None:
        assert "<call>" in refused(procedure("main", wrong))

    def test_repeat_is_1_where_not_given(self) -> None:
        assert len(main('left duration="1"')) == 1

    def test_a_call_does_not_care_whether_its_target_is_a_clip_or_a_procedure(self) -> None:
        p = programme(procedure("main", 'left duration="1" repeat="2"', 'a duration="1" repeat="2"'),
                      procedure("a", 'right duration="1"'))
        assert names(p) == ["feet.Steps.left"] * 2 + ["feet.Steps.right"] * 2

    def test_an_ambiguous_name_must_be_written_in_full_and_there_is_nothing_between(self, root: Path) -> None:
        (root / "arms").mkdir()
        (root / "arms" / "Steps.bvh").write_text("left")
        head = LOAD + '<load src="arms.Steps"/>'
        for name, says in (("left", "which 2 things are called"), ("Steps.left", "expected a procedure")):
            assert says in refused(procedure("main", f'{name} duration="1"'), head=head, clips=lib(root))
        p = programme(procedure("main", 'arms.Steps.left duration="1"'), head=head, clips=lib(root))
        assert names(p) == ["arms.Steps.left"]

    def test_a_clips_own_name_is_what_follows_the_longest_loaded_path_verbatim(self, root: Path) -> None:
        (root / "feet" / "More.bvh").write_text("a step. with dots,Steps.left")
        p = resolve(parse('<pha tickLength="1"><load src="feet.More"/><procedure name="main">'
                          '<call name="a step. with dots" duration="1"/></procedure></pha>'), lib(root))
        assert names(p) == ["feet.More.a step. with dots"]

    def test_a_clip_without_a_name_takes_its_files_and_the_file_alone_addresses_its_only_clip(self, root: Path) -> None:
        p = programme(procedure("main", 'Bow duration="1"'), head='<load src="Bow"/>', clips=lib(root))
        assert names(p) == ["Bow.Bow"]

    def test_more_than_a_million_segments_are_an_error_found_before_it_is_built(self) -> None:
        assert MAX_SEGMENTS == 1_000_000
        assert "1000000000" in refused(procedure("main", 'left duration="1" repeat="1000000000"'))
        assert "at most 1000000" in refused(procedure("a", 'left duration="1" repeat="1000000"'),
                                           procedure("main", 'a duration="1" repeat="1000000"'))

    def test_calling_in_a_circle_is_an_error_calling_the_same_many_times_is_normal(self) -> None:
        assert "'a' → 'b' → 'a'" in refused(procedure("a", 'b duration="1"'), procedure("b", 'a duration="1"'),
                                           procedure("main", 'a duration="1"'))
        p = programme(procedure("a", 'left duration="1"'), procedure("main", *['a duration="1"'] * 5))
        assert len(expand(p)) == 5

    def test_every_error_names_file_line_column_element_what_was_found_what_was_expected(self) -> None:
        document = parse('<pha tickLength="1">\n <procedure name="main">\n  <call name="a" duration="two"/>'
                         '</procedure></pha>', Path("walk.pha"))
        assert str(document.problems[0]) == ("walk.pha:3:3: <call> duration: found 'two', expected a number of ticks, "
                                             "greater than 0")


class TestTempo:
    """Sections 2 and 3."""

    def test_expanding_main_gives_clip_start_length_and_the_transition_that_follows(self) -> None:
        s = main('left duration="2" transition="0.5"', 'right duration="1"')
        assert (s.start_s.tolist(), s.length_s.tolist(), s.transition_s.tolist()) == ([0, 2], [2, 1], [0.5, 0.0])

    def test_every_tick_value_inside_is_multiplied_by_d_over_s_durations_and_transitions_recursively(self) -> None:
        """c: S = 2, called with 1; b: S = 1 + 3, called with 8; so c's part is 8/4 · 1/2 = 1 times as long."""
        p = programme(procedure("c", 'left duration="1" transition="0.5"', 'right duration="1"'),
                      procedure("b", 'c duration="1"', 'nod duration="3"'), procedure("main", 'b duration="8"'))
        s = expand(p)
        assert s.length_s == pytest.approx([1.0, 1.0, 6.0])
        assert s.transition_s[0] == pytest.approx(0.5)

    def test_repeats_count_for_s_and_each_lasts_duration(self) -> None:
        p = programme(procedure("a", 'left duration="1" repeat="3"', 'nod duration="1"'),
                      procedure("main", 'a duration="2" repeat="2"'))
        assert expand(p).length_s == pytest.approx([0.5] * 8)

    def test_a_transition_goes_to_the_last_segment_of_the_last_cycle_and_replaces_what_that_had(self) -> None:
        p = programme(procedure("a", 'left duration="1"', 'right duration="1" transition="0.1"'),
                      procedure("main", 'a duration="2" repeat="2" transition="0.7"', 'a duration="4"',
                                'nod duration="1"'))
        assert expand(p).transition_s == pytest.approx([AUTO, 0.1, AUTO, 0.7, AUTO, 0.2, 0.0], nan_ok=True)

    def test_between_the_cycles_transitions_are_automatic_where_none_is_given(self) -> None:
        assert np.isnan(main('left duration="1" repeat="3"').transition_s).tolist() == [True, True, False]

    def test_a_clip_is_stretched_or_compressed_linearly(self) -> None:
        m = motion('left duration="4"', method="END")
        own = turning("left", X, (0.0, 0.4, 0.1)).sample(np.array((0.0, 0.25, 0.6, 1.0)), "SLERP")
        found = m.sample(np.array((0.0, 1.0, 2.4, 4.0)))
        assert rot.angle_between(found.rotations, own.rotations).max() < SAME

    def test_no_transition_follows_the_very_last_segment_except_in_a_loop(self) -> None:
        calls = ('left duration="1"', 'right duration="1" transition="0.2"')
        assert motion(*calls, method="END").transitions_s[-1] == 0.0
        assert motion(*calls, method="END", loop=True).transitions_s[-1] == pytest.approx(0.2)


class TestTransitions:
    """Section 4."""

    def test_two_key_frames_the_last_pose_and_the_first_one(self) -> None:
        m = motion('left duration="1" transition="0.4"', 'right duration="1"', method="APPEND")
        a, b = (m.clips[i].sample(np.array((t,))).rotations for i, t in ((0, 1.0), (1, 0.0)))
        found = m.sample(np.array((1.0, 1.1, 1.4))).rotations
        assert rot.angle_between(found, np.concatenate((a, rot.slerp(a, b, 0.25), b))).max() < SAME

    def test_a_bone_that_only_one_moves_takes_part_the_other_side_being_the_pose_it_holds(self) -> None:
        """The spine starts to nod from rest; the arms hold what they had."""
        clips = library(feet_Steps=(turning("left", X, (0.0, 0.4)), turning("nod", Y, (0.8, 0.3), ("spine",))))
        m = motion('left duration="1" transition="0.4"', 'nod duration="1"', method="APPEND", clips=clips)
        spine, arm = FIGURE.index_of["spine"], FIGURE.index_of["l_arm"]
        half = m.sample(np.array((1.2,))).rotations[0]
        assert rot.angle_between(half[spine], rot.from_axis_angle(Y, 0.4)) < SAME
        assert rot.angle_between(half[arm], rot.from_axis_angle(X, 0.4)) < SAME

    def test_the_automatic_length_looks_at_the_shared_bones_only(self) -> None:
        """The arms: 0.6 rad apart, 0.2 rad in each second; the spine, which turns far, does not count."""
        times, rows = np.array((0.0, 1.0)), np.array((FIGURE.index_of["l_arm"], FIGURE.index_of["spine"]))
        both = np.stack([rot.from_axis_angle(X, np.array(v)) for v in ((0.8, 1.0), (1.0, 3.0))], axis=1)
        b = Clip("right", FIGURE, 1.0, Tracks.uniform(rows, times, both), Tracks.empty(3), Tracks.empty(3))
        clips = library(feet_Steps=(turning("left", X, (0.0, 0.2), ("l_arm",)), b))
        m = motion('left duration="1"', 'right duration="1"', method="APPEND", clips=clips)
        assert m.transitions_s[0] == pytest.approx(0.6 / 0.2)

    def test_0_means_none_absent_means_automatic(self) -> None:
        found = motion('left duration="1" transition="0"', 'left duration="1"', 'right duration="1"', method="END")
        assert found.transitions_s[0] == 0.0
        assert found.transitions_s[1] > 0.0

    def test_mean_angle_by_the_speed_in_the_last_and_first_three_intervals_at_the_played_tempo(self) -> None:
        """A plays at double tempo: 3 · 0.1 rad in 0.15 s; B 3 · 0.2 rad in 0.3 s; 0.9 rad apart."""
        a = turning("left", X, (5.0, 0.0, 0.1, 0.2, 0.3), duration_s=0.4)
        b = turning("right", X, (1.2, 1.0, 0.8, 0.6, 5.0), duration_s=0.4)
        m = motion('left duration="0.2"', 'right duration="0.4"', method="APPEND", clips=library(feet_Steps=(a, b)))
        assert m.transitions_s[0] == pytest.approx(0.9 / (0.9 / 0.45))

    def test_taken_before_insert_compresses_anything(self) -> None:
        """The clip before, of 1 s, and a transition of T share that second: T / (1 + T)."""
        calls = 'left duration="1"', 'right duration="1"'
        whole = motion(*calls, method="APPEND").transitions_s[0]
        assert motion(*calls, method="INSERT").transitions_s[0] == pytest.approx(whole / (1.0 + whole))

    def test_identical_poses_have_length_0(self) -> None:
        clips = library(feet_Steps=(turning("left", X, (0.0, 0.5)), turning("right", X, (0.5, 0.0))))
        assert motion('left duration="1"', 'right duration="1"', method="END", clips=clips).transitions_s[0] == 0.0

    def test_zero_speed_falls_back_to_the_mean_speed_then_to_a_stated_default(self) -> None:
        moving = turning("left", X, (-0.8, 0.0, 0.0, 0.0, 0.0)), turning("right", X, (0.5, 0.5, 0.5, 0.5, 1.3))
        still = turning("left", X, (0.0, 0.0)), turning("right", X, (0.5, 0.5))
        for clips, speed in ((moving, 0.8), (still, DEFAULT_SPEED_RAD_S)):
            m = motion('left duration="1"', 'right duration="1"', method="APPEND", clips=library(feet_Steps=clips))
            assert m.transitions_s[0] == pytest.approx(0.5 / speed)

    def test_the_length_never_exceeds_what_its_method_allows_clamped_and_reported_as_information(self) -> None:
        m = motion('left duration="1" transition="5"', 'right duration="2"', method="END")
        assert m.transitions_s[0] == 1.0
        assert [p.is_note for p in m.problems] == [True]
        assert "is longer than END allows there and takes 1 s" in str(m.problems[0])

    @pytest.mark.parametrize(("method", "begin", "end", "length"), [
        ("END", 1.5, 2.0, 3.0), ("BOTH", 1.75, 2.25, 3.0), ("LEAD", 1.75, 2.25, 3.0), ("APPEND", 2.0, 2.5, 3.5),
        ("INSERT", 1.6, 2.0, 3.0), ("INSERT_BOTH", 2.0 - 1 / 3, 2.0 + 1 / 6, 3.0)])
    def test_where_each_method_plays(self, method: str, begin: float, end: float, length: float) -> None:
        """A lasts 2 s, B 1 s, the transition 0.5 s; inserted, A and T share A's time in proportion."""
        m = motion('left duration="2" transition="0.5"', 'right duration="1"', method=method)
        layout = m.layout
        assert (layout.window_begin_s[0], layout.window_end_s[0], m.duration_s) == pytest.approx((begin, end, length))

    @pytest.mark.parametrize(("method", "limit"), [("END", 2.0), ("BOTH", 1.0), ("LEAD", 1.0), ("APPEND", 9.0)])
    def test_the_limit_of_each_method(self, method: str, limit: float) -> None:
        m = motion('left duration="2" transition="9"', 'right duration="1"', method=method)
        assert m.transitions_s[0] == pytest.approx(limit)

    @pytest.mark.parametrize("method", ["INSERT", "INSERT_BOTH"])
    def test_inserted_a_clip_keeps_at_least_a_tenth_of_its_time(self, method: str) -> None:
        m = motion('left duration="2" transition="99"', 'right duration="1" transition="99"', 'left duration="2"',
                   method=method)
        assert ((m.layout.end_s - m.layout.begin_s) / (2.0, 1.0, 2.0)).min() >= KEPT_SHARE - SAME

    @pytest.mark.parametrize(("curve", "rise", "pulse"), [
        ("LINEAR", (0, 0.25, 0.5, 0.75, 1), (0, 0.5, 1, 0.5, 0)),
        ("COSINE", (0, 0.146, 0.5, 0.854, 1), (0, 0.5, 1, 0.5, 0)),
        ("CIRCULAR", (0, 0.067, 0.5, 0.933, 1), (0, 0.5, 1, 0.5, 0)), ("CUBIC", (0, 0.103, 0.5, 0.897, 1), None),
        ("SMOOTHER", (0, 0.1035, 0.5, 0.8965, 1), (0, 0.5, 1, 0.5, 0))])
    def test_the_curves_at_0_a_quarter_a_half(self, curve: str, rise: tuple[float, ...],
                                             pulse: tuple[float, ...] | None) -> None:
        x = np.array((0.0, 0.25, 0.5, 0.75, 1.0))
        assert CURVES[curve].rise(x) == pytest.approx(rise, abs=5e-4)
        found = CURVES[curve].pulse
        assert (found is None) == (pulse is None)
        if found is not None:
            assert found(x) == pytest.approx(pulse, abs=5e-4)

    def test_every_track_is_made_continuous_on_load_and_every_blend_is_the_short_way(self) -> None:
        flipped = rot.from_axis_angle(X, np.array((0.0, 0.4, 0.8))) * np.array((1.0, -1.0, 1.0))[:, None]
        clip = Clip("left", FIGURE, 1.0, Tracks.uniform(np.array((2,)), np.array((0.0, 0.5, 1.0)), flipped[:, None]),
                    Tracks.empty(3), Tracks.empty(3))
        found = clip.sample(np.linspace(0.0, 1.0, 50), "SLERP").rotations[:, 2]
        assert rot.angle_between(found, rot.from_axis_angle(X, np.linspace(0.0, 0.8, 50))).max() < SAME
        assert (np.sum(found[1:] * found[:-1], axis=-1) > 0.0).all()

    def test_150_degrees_or_more_is_a_warning_that_names_the_bones(self) -> None:
        clips = library(feet_Steps=(turning("left", X, (0.0, 0.1)), turning("right", X, (2.8, 2.9), ("l_arm",))))
        m = motion('left duration="1"', 'right duration="1"', method="END", clips=clips)
        said = next(p for p in m.problems if "150°" in p.message)
        assert "'l_arm'" in said.message
        assert said.is_warning
        assert not said.is_note

    def test_all_four_methods_are_there_and_the_default_never_has_a_vertical_tangent(self) -> None:
        assert {"END", "BOTH", "INSERT", "APPEND"} <= set(METHODS)
        assert Settings().curve not in ("CIRCULAR", "CUBIC")
