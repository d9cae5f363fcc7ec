"""Names, includes and libraries on disk: the specification's section 1."""

import os

import numpy as np
import pytest

from takt.core.clips.clip_file import ClipFile
from takt.core.errors import FileError, Problem, ScoreError, once_per_folder, some_of
from takt.core.formats import endings
from takt.core.library import files
from takt.core.library.library import Library
from takt.core.library.reading import Reading
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.pha.segments import Segments
from takt.tests.core.scores import FIGURE, X, formats_read_by, procedure, score, turning


def reader(source):
    """Read a "clip file" for tests: one clip for each word, "-" for one without name."""
    if source.data == b"broken":
        raise FileError.at("expected words", source.path, line=1)
    clips = (turning("" if word == "-" else word, X, (0.0, 1.0)) for word in source.data.decode().split(","))
    return ClipFile(FIGURE, tuple(clips))


@pytest.fixture
def root(tmp_path):
    (tmp_path / "feet").mkdir()
    (tmp_path / "feet" / "Steps.bvh").write_text("left step,right,a.b")
    (tmp_path / "Bow.bvh").write_text("-")
    return tmp_path


def opened(root, load_format="", other_clips=None):
    return Library((root,), reading=Reading(load_format, formats_read_by(reader)), other_clips=other_clips)


def write(root, name, *procedures, head=""):
    path = root / f"{name}.pha"
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(score(*procedures, head=head))
    return path


def resolved(root, *procedures, head="", lib=None, path=None):
    return resolve(parse(score(*procedures, head=head), path), lib or opened(root))


def clips_of(programme, start="main"):
    s = expand(programme, start)
    return [s.clips[c] for c in s.clip]


def refusal(root, *procedures, head="", **settings):
    with pytest.raises(ScoreError) as caught:
        resolved(root, *procedures, head=head, **settings)
    return str(caught.value)


STEPS = '<load src="feet.Steps"/>'


def test_clips_are_called_by_their_own_name_or_in_full(root):
    names = ["left step", "feet.Steps.right", "a.b", "feet.Steps.a.b"]
    calls = "".join(f'<call name="{name}" duration="1"/>' for name in names)
    p = resolved(root, f'<procedure name="main">{calls}</procedure>', head=STEPS)
    assert clips_of(p) == ["feet.Steps.left step", "feet.Steps.right", "feet.Steps.a.b", "feet.Steps.a.b"]


def test_there_is_nothing_between_bare_and_full(root):
    assert "found 'Steps.right', expected a procedure of this file" in refusal(
        root, procedure("main", 'Steps.right duration="1"'), head=STEPS)


def test_a_clip_without_a_name_takes_its_files(root):
    p = resolved(root, procedure("main", 'Bow duration="1"', 'Bow.Bow duration="1"'), head='<load src="Bow"/>')
    assert clips_of(p) == ["Bow.Bow"] * 2


def test_the_only_clip_of_a_file_answers_to_the_file(root):
    (root / "feet" / "Hop.bvh").write_text("hop_1")
    p = resolved(root, procedure("main", 'feet.Hop duration="1"'), head='<load src="feet.Hop"/>')
    assert clips_of(p) == ["feet.Hop.hop_1"]


def test_the_longest_loaded_path_wins(root):
    (root / "a.bvh").write_text("b.walk,b.run")
    (root / "a").mkdir()
    (root / "a" / "b.bvh").write_text("walk")
    p = resolved(root, procedure("main", 'a.b.walk duration="1"', 'a.b.run duration="1"'),
                 head='<load src="a"/><load src="a.b"/>')
    assert p.clips[0] is not p.clips[1]
    assert [c.name for c in p.clips] == ["b.run", "walk"]


def test_included_procedures_are_public_and_includes_are_transitive(root):
    write(root, "basic/Turns", procedure("turn", 'right duration="1"'), head=STEPS + '<include src="more"/>')
    write(root, "more", procedure("deep", 'Bow duration="1"'), head='<load src="Bow"/>')
    p = resolved(root, procedure("main", 'turn duration="1"', 'basic.Turns.turn duration="1"', 'deep duration="1"',
                                 'more.deep duration="1"'), head='<include src="basic.Turns"/>')
    assert clips_of(p) == ["feet.Steps.right"] * 2 + ["Bow.Bow"] * 2


def test_the_main_of_another_file_cannot_be_called(root):
    write(root, "other", procedure("main", 'Bow duration="1"'), head='<load src="Bow"/>')
    message = refusal(root, procedure("a", 'other.main duration="1"', 'main duration="1"'),
                      head='<include src="other"/>')
    assert message.count("the main of another file cannot be called") == 2


def test_ones_own_main_can_be_called(root):
    p = resolved(root, procedure("main", 'Bow duration="1"'), procedure("twice", 'main duration="1" repeat="2"'),
                 head='<load src="Bow"/>')
    assert clips_of(p, "twice") == ["Bow.Bow"] * 2


def test_a_name_with_two_meanings_must_be_written_in_full(root):
    write(root, "a", procedure("step", 'Bow duration="1"'), head='<load src="Bow"/>')
    write(root, "b", procedure("step", 'Bow duration="1"', 'Bow duration="1"'), head='<load src="Bow"/>')
    head = '<include src="a"/><include src="b"/>'
    assert "found 'step', which is the name of 2 things: 'a.step', 'b.step'; expected one of these in full" in refusal(
        root, procedure("main", 'step duration="1"'), head=head)
    assert len(clips_of(resolved(root, procedure("main", 'b.step duration="1"'), head=head))) == 2


def test_a_clip_and_a_procedure_of_one_name_are_ambiguous(root):
    assert "which is the name of 2 things: 'Bow', 'Bow.Bow'" in refusal(
        root, procedure("Bow", 'Bow.Bow duration="1"'), procedure("main", 'Bow duration="1"'), head='<load src="Bow"/>')


def test_what_is_not_called_may_be_ambiguous(root):
    write(root, "a", procedure("step", 'Bow duration="1"'), head='<load src="Bow"/>')
    p = resolved(root, procedure("step", 'Bow duration="1"'), procedure("main", 'Bow duration="1"'),
                 head='<include src="a"/><load src="Bow"/>')
    assert clips_of(p) == ["Bow.Bow"]


def test_a_diamond_is_read_once_and_is_not_ambiguous(root, monkeypatch):
    write(root, "base", procedure("step", 'Bow duration="1"'), head='<load src="Bow"/>')
    for name in "ab":
        write(root, name, procedure(f"{name}_step", 'step duration="1"'), head='<include src="base"/><load src="Bow"/>')
    read, opened_files = files.read_file, []

    def noted(path, *real):
        opened_files.append(path.name)
        return read(path, *real)

    monkeypatch.setattr(files, "read_file", noted)
    p = resolved(root, procedure("main", 'step duration="1"', 'a_step duration="1"', 'b_step duration="1"'),
                 head='<include src="a"/><include src="b"/><include src="base"/><include src="base"/>')
    assert clips_of(p) == ["Bow.Bow"] * 3
    assert sorted(opened_files) == ["Bow.bvh", "a.pha", "b.pha", "base.pha"]


def test_include_cycles_are_harmless(root):
    path = write(root, "a", procedure("main", 'b_step duration="1"'), procedure("a_step", 'Bow duration="1"'),
                 head='<include src="b"/><load src="Bow"/><include src="a"/>')
    write(root, "b", procedure("b_step", 'a_step duration="1"'), head='<include src="a"/>')
    p = resolve(parse(path.read_text(), path), opened(root))
    assert clips_of(p) == ["Bow.Bow"]


def test_a_files_own_procedures_have_a_full_name_too(root):
    path = write(root, "mine", procedure("Bow", 'Bow.Bow duration="1"'), procedure("main", 'mine.Bow duration="1"'),
                 head='<load src="Bow"/>')
    assert clips_of(resolve(parse(path.read_text(), path), opened(root))) == ["Bow.Bow"]


@pytest.mark.parametrize(("parts", "circle"), [
    ([procedure("main", 'main duration="1"')], "'main' → 'main'"),
    ([procedure("main", 'a duration="1"'), procedure("a", 'b duration="1"'), procedure("b", 'a duration="1"')],
     "'a' → 'b' → 'a'"),
    ([procedure(f"p{i}", f'p{(i + 1) % 3000} duration="1"') for i in range(3000)],
     "'p0' → 'p1' → 'p2' → 'p3' → 'p4' → 'p5' → … → 'p2996' → 'p2997' → 'p2998' → 'p2999' → 'p0'"),
])
def test_calling_in_a_circle_is_an_error_that_names_it(root, parts, circle):
    assert f"found {circle}, a cycle of calls; expected" in refusal(root, *parts)


def test_a_circle_through_two_files(root):
    path = write(root, "a", procedure("ping", 'pong duration="1"'), head='<include src="b"/>')
    write(root, "b", procedure("pong", 'ping duration="1"'), head='<include src="a"/>')
    with pytest.raises(ScoreError, match=r"a\.pha:1:.*found 'ping' → 'b.pong' → 'ping', a cycle"):
        resolve(parse(path.read_text(), path), opened(root))


def test_unknown_names_are_all_reported_with_suggestions(root):
    message = refusal(root, procedure("main", 'rihgt duration="1"', 'xyz duration="1"'), head=STEPS)
    assert "found 'rihgt', expected a procedure of this file or of one it includes, or a clip that it loads; did you " \
           "mean right?" in message
    assert "found 'xyz'" in message


def test_mistakes_in_included_files_are_reported_there(root):
    (root / "bad.pha").write_text('<pha tickLength="0"/>')
    (root / "worse.pha").write_text("<pha>")
    message = refusal(root, procedure("main", 'Bow duration="-1"'), head='<include src="bad"/><include src="worse"/>')
    assert "bad.pha:1:1: <pha> tickLength: found '0'" in message
    assert "worse.pha:1:1: <pha> is not closed: the text ends without </pha>" in message
    assert "score:1:" in message


def test_a_broken_clip_file_is_reported(root):
    (root / "Bad.bvh").write_text("broken")
    assert "Bad.bvh:1: expected words" in refusal(root, procedure("main", 'x duration="1"'), head='<load src="Bad"/>')


def test_a_missing_file_says_where_it_was_looked_for(root):
    message = refusal(root, procedure("main", 'x duration="1"'), head='<load src="feet.Stesp"/>')
    assert ("score:1:23: <load> src: found no file for 'feet.Stesp'; did you mean feet.Steps? "
            f"A file was expected below {root}: feet/Stesp ending in {some_of(endings(), 6)}") in message
    assert "it may be in 'feet.Stesp', which cannot be read" in message
    said = refusal(root, head='<include src="x"/>')
    assert f"found no file for 'x'. A file was expected below {root}: x ending in .pha" in said


@pytest.mark.parametrize(("called", "said"), [
    ("model_only", "it may be in 'old stuff.model_only', which cannot be read: "),
    ("Truncated", "it may be in 'old stuff.bow_truncated', which cannot be read: "),
    ("modle_only", "it may be in 'old stuff.model_only', which cannot be read: "),
    ("Charleston", "it may be in one of the files that cannot be read: 'old stuff.bow_truncated', "
                   "'old stuff.model_only', 'studio.dance'")])
def test_of_several_missing_files_the_one_is_blamed_that_is_called_so(root, called, said):
    missing = ("old stuff.bow_truncated", "old stuff.model_only", "studio.dance")
    head = "".join(f'<load src="{src}"/>' for src in missing)
    assert said in refusal(root, procedure("main", f'{called} duration="1"'), head=head)


def test_a_folder_that_is_gone_is_told(root, tmp_path):
    where = tmp_path / "moved"
    message = refusal(root, procedure("main", 'walk duration="1"'), head='<load src="walk"/>', lib=opened(where))
    assert f"found no file for 'walk': the folder {where} is gone; bring it back" in message
    assert "ending in" not in message


def test_of_a_folder_that_is_gone_one_problem_is_left_and_other_mistakes_stay(root, tmp_path):
    where, head = tmp_path / "moved", '<load src="walk"/><load src="chairs.Low"/><load src="cups"/>'
    calls = procedure("main", 'walk duration="1"', 'chairs.Low.sit duration="1"', 'drink duration="1"')
    with pytest.raises(ScoreError) as refused:
        resolve(parse(score(calls, head=head)), opened(where))
    assert len(refused.value.problems) == 6
    (problem,) = once_per_folder(refused.value.problems)
    assert problem.message.startswith(f"the folder {where} is gone: bring it back") and problem.place.line == 1
    wrong = Problem("<call> duration: found 'long'"), Problem("<load> src: no file 'x'", missing="x")
    found = once_per_folder((*refused.value.problems, *wrong, Problem("<call> name: no 'y'", missing="y")))
    assert {each.message for each in wrong} < {each.message for each in found}
    assert once_per_folder(wrong) == wrong


def test_a_part_of_a_missing_clip_is_no_mistake(root):
    """Its length is not known, so neither is whether a second lies within it."""
    text = ('<pha version="2" tickLength="1"><load src="gone"/><procedure name="main"><call name="gone" duration="2" '
            'from="2s" to="0.5"/></procedure></pha>')
    programme = resolve(parse(text), opened(root), with_gaps=True)
    assert len(expand(programme)) == 1 and {gap.missing for gap in programme.gaps} == {"gone"}
    with pytest.raises(ScoreError, match=r"found the part from 2 to 0\.5 of the clip"):
        expand(resolve(parse(text.replace("gone", "Bow")), opened(root)))


def test_a_link_to_nothing_is_not_suggested_for_itself(root):
    (root / "Afar.bvh").symlink_to(root / "moved.bvh")
    message = refusal(root, procedure("main", 'x duration="1"'), head='<load src="Afar"/>')
    assert "found no file for 'Afar'" in message and "did you mean Afar" not in message


@pytest.mark.parametrize(("src", "meant"), [("Bow.bvh", "Bow"), ("boww", "Bow"), ("feet.Stesp", "feet.Steps"),
                                             ("Zzz", None)])
def test_a_file_that_is_nearly_called_so_is_named(root, src, meant):
    (root / "feet").mkdir(exist_ok=True)
    for path in (root / "Bow.bvh", root / "feet" / "Steps.bvh"):
        path.touch()
    message = refusal(root, procedure("main", 'x duration="1"'), head=f'<load src="{src}"/>')
    hint = f"; did you mean {meant}?" if meant else "."
    assert (f"found no file for '{src}'{hint} A file was expected below {root}: {src.replace('.', '/')} "
            "ending in ") in message


def test_no_name_is_told_of_what_lies_outside_the_library(root, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "Secret.bvh").write_text("secret")
    (root / "folder").symlink_to(outside)
    message = refusal(root, procedure("main", 'x duration="1"'), head='<load src="folder.Secrte"/>')
    assert "found no file" in message and "Secret" not in message


@pytest.mark.parametrize("src", ["..secret", "a..b", ".a", "/etc/passwd", "a/b", "../a", "C:\\x", "C:x", "a\\b",
                                 "x" * 2000])
def test_a_src_cannot_leave_the_library(root, src):
    for tag in ("load", "include"):
        message = refusal(root, head=f'<{tag} src="{src}"/>')
        assert "a path inside the library" in message
        assert len(message) < 500


def test_links_out_of_the_library_are_refused(root, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "Secret.bvh").write_text("secret")
    (root / "Leak.bvh").symlink_to(outside / "Secret.bvh")
    (root / "folder").symlink_to(outside)
    for src in ("Leak", "folder.Secret"):
        assert "is a link that leads out of the library" in refusal(root, head=f'<load src="{src}"/>')


def test_links_within_the_library_are_followed_and_read_once(root):
    (root / "Alias.bvh").symlink_to(root / "Bow.bvh")
    p = resolved(root, procedure("main", 'Alias.Alias duration="1"', 'Bow duration="1"'),
                 head='<load src="Alias"/><load src="Bow"/>')
    assert clips_of(p) == ["Alias.Alias", "Bow.Bow"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in its file system")
def test_pipes_and_devices_are_refused(root):
    os.mkfifo(root / "Pipe.bvh")
    os.mkfifo(root / "Pipe.pha")
    assert "is no ordinary file" in refusal(root, head='<load src="Pipe"/>')
    assert "is no ordinary file" in refusal(root, head='<include src="Pipe"/>')
    (root / "Zero.bvh").symlink_to("/dev/zero")
    assert "leads out of the library" in refusal(root, head='<load src="Zero"/>')


def test_folders_that_end_like_files_are_passed_over(root):
    (root / "Bow.skeleton").mkdir()
    assert clips_of(resolved(root, procedure("main", 'Bow duration="1"'), head='<load src="Bow"/>')) == ["Bow.Bow"]


def test_files_too_large_are_refused(root, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 2)
    assert "has 19 bytes; at most 2 are read" in refusal(root, head=STEPS)


def test_the_first_ending_is_taken_and_a_warning_names_the_others(root):
    (root / "Bow.skeleton").write_text("ogre")
    (root / "Bow.raa").write_text("rite")
    p = resolved(root, procedure("main", 'Bow.ogre duration="1"'), head='<load src="Bow"/>')
    assert [x.message for x in p.problems] == [
        f"<load> src: 'Bow' is taken from {root / 'Bow.skeleton'}; there are also {root / 'Bow.bvh'}, "
        f"{root / 'Bow.raa'}"]
    assert p.problems[0].is_warning


def test_load_format_chooses_otherwise(root):
    (root / "Bow.skeleton").write_text("ogre")
    lib = opened(root, load_format=".bvh")
    p = resolved(root, procedure("main", 'Bow duration="1"'), head='<load src="Bow"/>', lib=lib)
    assert clips_of(p) == ["Bow.Bow"]
    with pytest.raises(FileError, match=r"load_format is '\.doc'; expected one of \.skeleton"):
        Reading(".doc")


def test_libraries_are_searched_in_their_order(root, tmp_path_factory):
    second = tmp_path_factory.mktemp("second")
    (second / "Bow.skeleton").write_text("later")
    (second / "Only.bvh").write_text("only")
    lib = Library((root, second), reading=Reading(formats=formats_read_by(reader)))
    p = resolved(root, procedure("main", 'Bow duration="1"', 'only duration="1"'),
                 head='<load src="Bow"/><load src="Only"/>', lib=lib)
    assert clips_of(p) == ["Bow.Bow", "Only.only"]


def test_other_clips_are_asked_last(root):
    actions = {"Bow": (turning("action", X, (0.0, 1.0)),), "Wave.Arm": (turning("", X, (0.0, 1.0)),)}
    lib = opened(root, other_clips=actions.get)
    p = resolved(root, procedure("main", 'Bow duration="1"', 'Wave.Arm duration="1"'),
                 head='<load src="Bow"/><load src="Wave.Arm"/>', lib=lib)
    assert clips_of(p) == ["Bow.Bow", "Wave.Arm.Arm"]


def test_a_kind_of_file_that_nothing_reads_says_so(root):
    (root / "Jump.fbx").write_text("x")
    message = refusal(root, head='<load src="Jump"/>', lib=Library((root,)))
    assert ("Jump.fbx: FBX files are read inside Blender only; without it: .skeleton, .skeleton.xml, .bvh, .glb, "
            ".gltf, .raa" in message)


def test_without_roots_the_nearest_fitting_folder_is_the_library(root):
    path = write(root, "dances/slow/waltz", procedure("main", 'right duration="1"'), head=STEPS)
    lib = Library(reading=Reading(formats=formats_read_by(reader)))
    assert lib.beside(parse(path.read_text(), path)).roots == (root,)
    assert clips_of(resolve(parse(path.read_text(), path), lib)) == ["feet.Steps.right"]


def test_a_bad_src_is_reported_in_its_place_without_roots_too(root):
    path = write(root, "waltz", head='<load src="../feet"/>')
    with pytest.raises(ScoreError, match=r"waltz\.pha:1:23: <load> src: found '\.\./feet', expected names joined"):
        resolve(parse(path.read_text(), path), Library())


def test_the_library_is_sought_five_levels_up_at_most(root):
    path = write(root, "1/2/3/4/5/waltz", procedure("main", 'right duration="1"'), head=STEPS)
    with pytest.raises(ScoreError, match=r"found no file for 'feet\.Steps'"):
        resolve(parse(path.read_text(), path), Library(reading=Reading(formats=formats_read_by(reader))))


def test_without_any_library_the_message_says_what_to_do(root):
    assert "below no library at all: name its folder, or save the score beside it" in refusal(
        root, head=STEPS, lib=Library())


def test_a_module_without_main_is_a_library(root):
    p = resolved(root, procedure("a", 'Bow duration="1"'), head='<load src="Bow"/>')
    assert list(p.own) == ["a"]


def test_many_modules_that_include_each_other(root):
    for i in range(40):
        write(root, f"m{i}", procedure(f"p{i}", 'Bow duration="1"'),
              head='<load src="Bow"/>' + "".join(f'<include src="m{j}"/>' for j in range(40)))
    assert len(clips_of(resolved(root, procedure("main", 'p39 duration="1"'), head='<include src="m0"/>'))) == 1


def test_more_modules_than_anyone_has_are_refused(root, monkeypatch):
    monkeypatch.setattr("takt.core.pha.programme.MAX_MODULES", 2)
    for i in range(3):
        write(root, f"m{i}", procedure("p", 'Bow duration="1"'), head='<load src="Bow"/>')
    assert "more than 2 score files are included" in refusal(
        root, head="".join(f'<include src="m{i}"/>' for i in range(3)))


@pytest.mark.parametrize("version", [1, 2])
def test_what_is_missing_leaves_gaps_as_long_as_it_would_be(root, version):
    text = score(procedure("main", 'gone.x duration="2"', 'right duration="1"', 'sit duration="3"'),
                 head=STEPS + '<load src="gone"/>')
    document = parse(text.replace("<pha ", '<pha version="2" ') if version == 2 else text)
    with pytest.raises(ScoreError) as caught:
        resolve(document, opened(root))
    programme = resolve(document, opened(root), with_gaps=True)
    assert [str(gap) for gap in programme.gaps] == [str(problem) for problem in caught.value.problems]
    assert [gap.missing for gap in programme.gaps] == ["gone", "gone.x", "sit"]
    assert clips_of(programme) == ["nothing", "feet.Steps.right", "nothing"]
    assert expand(programme).length_s.tolist() == [2.0, 1.0, 3.0]
    assert np.isfinite(Segments.of([expand(programme)]).speeds()).tolist() == [False, True, False]


def test_where_all_is_missing_there_are_gaps_alone_but_other_mistakes_count(root):
    head = '<load src="gone"/>'
    programme = resolve(parse(score(procedure("main", 'gone duration="2"'), head=head)), opened(root), with_gaps=True)
    assert clips_of(programme) == ["nothing"] and not len(programme.clips[0].rotations)
    with pytest.raises(ScoreError, match="-2"):
        resolve(parse(score(procedure("main", 'gone duration="-2"'), head=head)), opened(root), with_gaps=True)


def test_a_damaged_clip_is_said_at_its_call_with_the_place_in_its_file(tmp_path):
    (tmp_path / "half.glb").write_bytes(b"glTF\x02\0\0\0\xff\0\0\0\xff\0\0\0JSON")
    document = parse(score(procedure("main", 'half duration="2"'), head='<load src="half"/>'))
    gaps = resolve(document, Library((tmp_path,)), with_gaps=True).gaps
    assert any("'half' cannot be played: the file is cut off: a chunk of 255 bytes begins here, but 0 are left (byte 12"
               in str(gap) for gap in gaps)
