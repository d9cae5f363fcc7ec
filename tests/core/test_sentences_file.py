"""The score language sentence by sentence, section 1: the file."""

from pathlib import Path

import pytest

from takt.core.clips.clip_file import ClipFile
from takt.core.errors import FileError, ScoreError
from takt.core.formats import bvh, ogre_binary, ogre_xml
from takt.core.formats.format import Source
from takt.core.formats.ogre import OgreSkeleton
from takt.core.library import files
from takt.core.library.library import Library
from takt.core.library.reading import Reading
from takt.core.pha.document import MAX_SEGMENTS, parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.tests.core.rigs import with_model_axes
from takt.tests.core.scores import FIGURE, X, formats_read_by, procedure, score, turning
from takt.tests.core.sentences import LOAD, main, names, programme, refused


def read_words(source: Source) -> ClipFile:
    """Read a file of clips for tests: their names, with commas between; "-" has none."""
    return ClipFile(FIGURE, tuple(turning("" if name == "-" else name, X, (0.0, 1.0))
                                  for name in source.data.decode().split(",")))


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
    return Library(roots, reading=Reading(load_format, formats_read_by(read_words)))


def test_one_file_is_one_module(root: Path) -> None:
    """Two files may use the same name, each for its own."""
    p = programme(procedure("main", 'turn duration="1"', 'own duration="1"'), procedure("own", 'left duration="1"'),
                  head=LOAD + '<include src="basic.Turns"/>', clips=lib(root))
    assert [r.module for r in p.procedures] == ["", "", "basic.Turns", "basic.Turns"]


@pytest.mark.parametrize("tick", ["", 'tickLength="0"', 'tickLength="-1"', 'tickLength="x"'])
def test_tick_length_is_required_and_greater_than_0(tick: str) -> None:
    assert "tickLength" in str(parse(f"<pha {tick}/>").problems[0])


def test_it_holds_for_the_modules_own_procedures_when_they_are_started_directly() -> None:
    p = programme(procedure("step", 'left duration="2"'), procedure("main", 'step duration="3"'), tick=0.8)
    assert expand(p, "step").duration_s == pytest.approx(1.6)


def test_a_caller_rescales_what_it_calls(root: Path) -> None:
    """The tick of an included file does not count when it is called."""
    (root / "Slow.pha").write_text(score(procedure("slow", 'left duration="7"'), tick=99.0, head=LOAD))
    p = programme(procedure("main", 'slow duration="3"'), head='<include src="Slow"/>', tick=0.5, clips=lib(root))
    assert expand(p).length_s == pytest.approx([1.5])


def test_load_is_a_dotted_path_below_the_library_root_without_the_extension(root: Path) -> None:
    assert names(programme(procedure("main", 'left duration="1"'), clips=lib(root))) == ["feet.Steps.left"]


@pytest.mark.parametrize("ending", [".skeleton", ".skeleton.xml", ".bvh"])
def test_the_notation_is_not_tied_to_a_format(tmp_path: Path, ending: str) -> None:
    """One score plays the same clip out of any of the formats."""
    ogre = OgreSkeleton.of(FIGURE, (turning("Steps", X, (0.0, 1.0)),))
    data = {".skeleton": ogre_binary.write, ".skeleton.xml": ogre_xml.write,
            ".bvh": lambda o: bvh.write(with_model_axes(o.clips[0]), 1.0)}[ending](ogre)
    (tmp_path / f"Steps{ending}").write_bytes(data)
    p = programme(procedure("main", 'Steps duration="1"'), head='<load src="Steps"/>', clips=Library([tmp_path]))
    assert names(p) == ["Steps.Steps"]
    assert p.clips[0].skeleton.names == FIGURE.names



def test_libraries_in_their_order_in_each_by_ending_the_first_is_taken_a_warning_names_the_others(
        root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
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


def test_further_libraries_are_searched_after_a_scores_own(root: Path,
                                                            tmp_path_factory: pytest.TempPathFactory) -> None:
    """Those of the preferences; a score without a library still finds its own beside it, and first."""
    other = tmp_path_factory.mktemp("other")
    (other / "Only.bvh").write_text("there")
    (other / "Bow.bvh").write_text("-")
    library_ = Library(further=[other], reading=Reading(formats=formats_read_by(read_words)))
    text = score(procedure("main", 'Bow duration="1"', 'there duration="1"'),
                 head='<load src="Bow"/><load src="Only"/>')
    p = resolve(parse(text, root / "feet" / "x.pha"), library_)
    assert names(p) == ["Bow.Bow", "Only.there"]
    assert f"taken from {root / 'Bow.bvh'}; there are also {other / 'Bow.bvh'}" in str(p.problems[0])


def test_the_endings_are_looked_for_in_this_order(root: Path) -> None:
    endings = (".skeleton", ".skeleton.xml", ".bvh", ".glb", ".gltf", ".fbx", ".blend", ".raa")
    for ending in endings:
        (root / f"All{ending}").write_text("left")
    for ending in endings:
        p = programme(procedure("main", 'left duration="1"'), head='<load src="All"/>', clips=lib(root))
        (root / f"All{ending}").unlink()
        assert not p.problems or f"All{ending};" in str(p.problems[0])


def test_load_format_chooses_otherwise(root: Path) -> None:
    (root / "feet" / "Steps.raa").write_text("left,third")
    p = programme(procedure("main", 'third duration="1"'), clips=lib(root, load_format=".raa"))
    assert names(p) == ["feet.Steps.third"]


def test_in_blender_last_an_action_of_that_name(root: Path) -> None:
    """Whatever the library is given to ask last is asked only for what no file has."""
    asked: list[str] = []
    library_ = Library([root], reading=Reading(formats=formats_read_by(read_words)),
                       other_clips=lambda src: asked.append(src) or (turning("", X, (0.0, 1.0)),))  # type: ignore
    p = programme(procedure("main", 'left duration="1"', 'Wave duration="1"'), head=LOAD + '<load src="Wave"/>',
                  clips=library_)
    assert names(p)[1].startswith("Wave")
    assert asked == ["Wave"]


def test_include_makes_all_its_procedures_public_except_its_main(root: Path) -> None:
    head = '<include src="basic.Turns"/>'
    assert names(programme(procedure("main", 'turn duration="1"'), head=head, clips=lib(root))) == [
        "feet.Steps.left"]
    assert "the main of another file cannot be called" in refused(
        procedure("go", 'left duration="1"'), procedure("main", 'basic.Turns.main duration="1"', 'go duration="1"'),
        head=head + LOAD, clips=lib(root))


def test_includes_are_transitive(root: Path) -> None:
    (root / "Far.pha").write_text(score(head='<include src="basic.Turns"/>'))
    p = programme(procedure("main", 'turn duration="1"'), head='<include src="Far"/>', clips=lib(root))
    assert names(p) == ["feet.Steps.left"]


def test_each_file_is_read_once_however_often_and_cycles_are_harmless(root: Path,
                                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = files.read_file

    def counted(path: Path, *real_path: Path | None) -> bytes:
        read.append(path.name)
        return real(path, *real_path)

    monkeypatch.setattr(files, "read_file", counted)
    both = '<include src="A"/><include src="B"/>'
    (root / "A.pha").write_text(score(procedure("a", 'left duration="1"'), head=LOAD + '<include src="B"/>'))
    (root / "B.pha").write_text(score(procedure("b", 'a duration="1"'), head=LOAD + both))
    p = programme(procedure("main", 'b duration="1"', 'a duration="1"'), head=both + both, clips=lib(root))
    assert names(p) == ["feet.Steps.left"] * 2
    assert sorted(read) == ["A.pha", "B.pha", "Steps.bvh"]


def test_without_a_library_the_nearest_folder_upwards_five_levels_at_most(root: Path) -> None:
    for levels, works in ((4, True), (5, False)):
        path = root.joinpath(*"abcdefg"[:levels], "x.pha")
        path.parent.mkdir(parents=True, exist_ok=True)
        library_ = Library(reading=Reading(formats=formats_read_by(read_words)))
        document = parse(score(procedure("main", 'left duration="1"')), path)
        if works:
            assert names(resolve(document, library_)) == ["feet.Steps.left"]
        else:
            with pytest.raises(ScoreError, match="found no file"):
                resolve(document, library_)


def test_it_is_one_from_which_every_src_of_the_file_resolves(root: Path) -> None:
    """A nearer folder that has only one of two is not taken."""
    near = root / "near"
    (near / "feet").mkdir(parents=True)
    (near / "feet" / "Steps.bvh").write_text("left,right")
    text = score(procedure("main", 'left duration="1"'), head=LOAD + '<load src="Bow"/>')
    library_ = Library(reading=Reading(formats=formats_read_by(read_words))).beside(parse(text, near / "x.pha"))
    assert library_.roots == (root,)
    (near / "Bow.bvh").write_text("-")
    assert Library().beside(parse(text, near / "x.pha")).roots == (near,)


def test_where_a_library_is_named_the_files_own_folder_is_not_looked_in(root: Path, tmp_path_factory:
                                                                       pytest.TempPathFactory) -> None:
    empty = tmp_path_factory.mktemp("empty")
    with pytest.raises(ScoreError, match="found no file"):
        resolve(parse(score(procedure("main", 'left duration="1"')), root / "x.pha"), lib(empty))



def test_all_src_also_in_included_modules_start_at_the_root(root: Path) -> None:
    """basic/Turns.pha loads feet.Steps, which lies beside its folder, not in it."""
    p = programme(procedure("main", 'turn duration="1"'), head='<include src="basic.Turns"/>', clips=lib(root))
    assert names(p) == ["feet.Steps.left"]


def test_a_procedures_name_is_unique_in_its_module_and_it_has_one_call_or_more() -> None:
    assert "again" in refused(procedure("main", 'left duration="1"'), procedure("main", 'left duration="1"'))
    assert "found no call" in refused(procedure("main"))


def test_main_is_what_runs_and_a_module_without_one_is_a_library_any_procedure_can_be_chosen() -> None:
    both = programme(procedure("other", 'left duration="1"'), procedure("main", 'right duration="1"'))
    assert names(both) == ["feet.Steps.right"]
    assert names(both, "other") == ["feet.Steps.left"]
    with pytest.raises(ScoreError, match="a score without main is a library"):
        expand(programme(procedure("other", 'left duration="1"')))


@pytest.mark.parametrize("wrong", ['left transition="1"', '  duration="1"', 'left duration="0"',
                                   'left duration="1" transition="-1"', 'left duration="1" repeat="0"',
                                   'left duration="1" repeat="1.5"'])
def test_name_and_duration_required_transition_0_or_more_repeat_1_or_more(wrong: str) -> None:
    assert "<call>" in refused(procedure("main", wrong))


def test_repeat_is_1_where_not_given() -> None:
    assert len(main('left duration="1"')) == 1


def test_a_call_does_not_care_whether_its_target_is_a_clip_or_a_procedure() -> None:
    p = programme(procedure("main", 'left duration="1" repeat="2"', 'a duration="1" repeat="2"'),
                  procedure("a", 'right duration="1"'))
    assert names(p) == ["feet.Steps.left"] * 2 + ["feet.Steps.right"] * 2


@pytest.mark.parametrize("other", ["procedure", "include", "clip"])
def test_an_unqualified_name_is_unique_among_own_procedures_included_ones_and_loaded_clips(root: Path,
                                                                                          other: str) -> None:
    """Here `left` is a loaded clip and one thing more."""
    (root / "More.pha").write_text(score(procedure("left", 'Bow duration="1"'), head='<load src="Bow"/>'))
    (root / "arms.bvh").write_text("left")
    own = [procedure("left", 'right duration="1"')] if other == "procedure" else []
    more = {"include": '<include src="More"/>', "clip": '<load src="arms"/>'}.get(other, "")
    said = refused(*own, procedure("main", 'left duration="1"'), head=LOAD + more, clips=lib(root))
    assert "which is the name of 2 things" in said
    assert "'feet.Steps.left'" in said
    p = programme(*own, procedure("main", 'feet.Steps.left duration="1"'), head=LOAD + more, clips=lib(root))
    assert names(p) == ["feet.Steps.left"]


def test_an_ambiguous_name_must_be_written_in_full_and_there_is_nothing_between(root: Path) -> None:
    (root / "arms").mkdir()
    (root / "arms" / "Steps.bvh").write_text("left")
    head = LOAD + '<load src="arms.Steps"/>'
    for name, says in (("left", "which is the name of 2 things"), ("Steps.left", "expected a procedure")):
        assert says in refused(procedure("main", f'{name} duration="1"'), head=head, clips=lib(root))
    p = programme(procedure("main", 'arms.Steps.left duration="1"'), head=head, clips=lib(root))
    assert names(p) == ["arms.Steps.left"]


def test_a_clips_own_name_is_what_follows_the_longest_loaded_path(root: Path) -> None:
    """feet.Steps.left is `left` of feet/Steps, not `Steps.left` of a file feet."""
    (root / "feet.bvh").write_text("Steps.left,Steps.hop")
    head = '<load src="feet"/>' + LOAD
    p = programme(procedure("main", 'feet.Steps.left duration="1"', 'feet.Steps.hop duration="1"'), head=head,
                  clips=lib(root))
    assert [clip.name for clip in p.clips] == ["Steps.hop", "left"]


def test_a_clips_name_is_taken_verbatim_it_may_hold_dots_and_spaces(root: Path) -> None:
    (root / "feet" / "More.bvh").write_text("a step. with dots,Steps.left")
    p = resolve(parse('<pha tickLength="1"><load src="feet.More"/><procedure name="main">'
                      '<call name="a step. with dots" duration="1"/></procedure></pha>'), lib(root))
    assert names(p) == ["feet.More.a step. with dots"]


def test_a_clip_without_a_name_takes_its_files_and_the_file_alone_addresses_its_only_clip(root: Path) -> None:
    p = programme(procedure("main", 'Bow duration="1"'), head='<load src="Bow"/>', clips=lib(root))
    assert names(p) == ["Bow.Bow"]


def test_more_than_a_million_segments_are_an_error_found_before_it_is_built() -> None:
    assert MAX_SEGMENTS == 1_000_000
    assert "1000000000" in refused(procedure("main", 'left duration="1" repeat="1000000000"'))
    assert "at most 1000000" in refused(procedure("a", 'left duration="1" repeat="1000000"'),
                                       procedure("main", 'a duration="1" repeat="1000000"'))


def test_calling_in_a_circle_is_an_error_calling_the_same_many_times_is_normal() -> None:
    assert "'a' → 'b' → 'a'" in refused(procedure("a", 'b duration="1"'), procedure("b", 'a duration="1"'),
                                       procedure("main", 'a duration="1"'))
    p = programme(procedure("a", 'left duration="1"'), procedure("main", *['a duration="1"'] * 5))
    assert len(expand(p)) == 5


WRONG = {
    "<pha> tickLength": '<procedure name="main"><call name="left" duration="1"/></procedure>',
    "<load> src": '<load src="feet.Shoes"/>',
    "<include> src": '<include src="../x"/>',
    "<procedure>": '<procedure name="empty"/>',
    "<procedure> name": '<procedure name="a"><call name="a" duration="1"/></procedure>',
    "<call> name": '<procedure name="a"><call name="lefd" duration="1"/></procedure>',
    "<call> duration": '<procedure name="a"><call name="left" duration="two"/></procedure>',
    "<call> transition": '<procedure name="a"><call name="left" duration="1" transition="-1"/></procedure>',
    "<call> repeat": '<procedure name="a"><call name="left" duration="1" repeat="0"/></procedure>',
    "<jump> in <pha>": '<jump/>',
}


@pytest.mark.parametrize("element", WRONG)
def test_every_error_names_file_line_column_element_what_was_found_what_was_expected(root: Path, element: str) -> None:
    tick = "" if "tickLength" in element else ' tickLength="1"'
    text = f"<pha{tick}>\n {LOAD}\n  {WRONG[element]}</pha>"
    with pytest.raises(FileError) as caught:
        resolve(parse(text, root / "walk.pha"), lib(root))
    said = str(caught.value)
    line = 1 if "tickLength" in element else 3
    assert said.startswith(f"{root / 'walk.pha'}:{line}:")
    for part in (element, "found", "expected"):
        assert part in said


def test_the_error_of_a_number_word_for_word() -> None:
    document = parse('<pha tickLength="1">\n <procedure name="main">\n  <call name="a" duration="two"/>'
                     '</procedure></pha>', Path("walk.pha"))
    assert str(document.problems[0]) == ("walk.pha:3:3: <call> duration: found 'two', expected a number of ticks, "
                                         "greater than 0")
