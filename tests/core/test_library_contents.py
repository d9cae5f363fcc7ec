"""A file of a library and the src that leads to it answer each other."""

import os
from pathlib import Path

import pytest

from takt.core.errors import FileError
from takt.core.formats import FORMATS, endings
from takt.core.library.contents import contents, folders_within
from takt.core.library.files import candidates, check_library
from takt.core.library.library import SCORE_SUFFIX, Library
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve

FILES = ("walk.bvh", "walk.pha", "feet/Steps.skeleton.xml", "feet/run.fbx", "with.dots/x.bvh",
         "dotted.name.bvh", "odd..bvh", "notes.txt", "feet/deep/er/Jump.skeleton", "sound.wav", "Café.glb")


def test_each_file_that_is_listed_has_its_src_and_no_other_file_has_one(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for root, names in ((first, FILES), (second, (*FILES[:3], "only here.bvh"))):
        for name in names:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
    library = Library([first, second])
    clips, scores = (dict(contents([first, second], among).files) for among in (endings(FORMATS), (SCORE_SUFFIX,)))
    listed = {path: src for found in (clips, scores) for src, path in found.items()}
    assert set(listed.values()) >= {"walk", "feet.run", "feet.deep.er.Jump", "Café", "only here",
                                    "with.dots.x", "dotted.name"}
    unnamed = contents([first, second], (*endings(FORMATS), SCORE_SUFFIX)).unnamed
    assert set(unnamed) == {"odd..bvh"}
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert library.src_of_playable(path) == listed.get(str(path)), path
    assert library.src_of_playable(tmp_path / "walk.bvh") is None
    assert Library().src_of_playable(first / "walk.bvh") is None
    (first / "out.bvh").symlink_to(second / "walk.bvh")
    assert Library([first]).src_of_playable(first / "out.bvh") is None


def test_a_library_that_is_a_file_holds_no_score_below_it(tmp_path: Path) -> None:
    """As where somebody chooses the score itself for its library."""
    path = tmp_path / "dance.pha"
    path.write_text('<pha tickLength="1"/>', encoding="utf-8")
    library = Library([path])
    assert library.src_of(path) is None and library.src_of_playable(path) is None
    assert Library([tmp_path]).src_of(path) == Library([tmp_path]).src_of_playable(path) == "dance"


@pytest.mark.parametrize("says", ('extends="sub.Base"', '><include src="sub.Base"/'))
def test_a_score_that_only_extends_another_has_the_root_from_which_that_is_found(tmp_path: Path, says: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "Base.pha").write_text('<pha version="2" tickLength="1"/>', encoding="utf-8")
    own = tmp_path / "sub" / "Mine.pha"
    document = parse(f'<pha version="2" tickLength="1" {says}><procedure name="main"/></pha>', own)
    assert Library().beside(document).roots == (tmp_path,)


def test_files_are_listed_at_any_depth_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"abcdefghijkl")
    deep.mkdir(parents=True)
    for number in range(30):
        (deep / f"clip_{number:02}.bvh").write_bytes(b"")
    found = contents([tmp_path], (".bvh",))
    assert [src for src, _ in found.files] == [f"a.b.c.d.e.f.g.h.i.j.k.l.clip_{number:02}" for number in range(30)]
    assert found.left_out == 0
    few = contents([tmp_path], (".bvh",), most=10)
    assert (len(few.files), few.left_out) == (10, 20)
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    assert contents([tmp_path], (".bvh",)).files == found.files
    assert contents([tmp_path / "gone"], (".bvh",)) == contents([], (".bvh",))


def test_names_that_no_score_can_say_are_listed_apart(tmp_path: Path) -> None:
    """A name with its folders may have 1,000 letters; an ending stands at the end."""
    deep = tmp_path.joinpath(*(letter * 200 for letter in "abcd"))
    deep.mkdir(parents=True)
    prefix = ".".join(letter * 200 for letter in "abcd")
    for name in ("e" * 196, "f" * 197, "g:h"):
        (deep / f"{name}.bvh").write_bytes(b"")
    (tmp_path / "walk.bvh.txt").write_bytes(b"")
    found = contents([tmp_path], (".bvh", ".txt.bvh"))
    assert [src for src, _ in found.files] == [f"{prefix}.{'e' * 196}"]
    assert sorted(name.rpartition("/")[2] for name in found.unnamed) == ["f" * 197 + ".bvh", "g:h.bvh"]


def test_of_files_with_one_src_the_one_is_listed_that_a_score_plays(tmp_path: Path) -> None:
    for name in ("a.fbx", "a.glb", "a.blend", "b.dae", "b.usd", "b.skeleton.xml", "in/c.x3d", "in/c.bvh", "in/c.vrm"):
        put(tmp_path / "first" / name, "")
    put(tmp_path / "second" / "a.skeleton", "")
    roots = [tmp_path / "first", tmp_path / "second"]
    listed = dict(contents(roots, endings()).files)
    assert {src: Path(path).name for src, path in listed.items()} == {
        "a": "a.glb", "b": "b.skeleton.xml", "in.c": "c.bvh"}
    for src, path in listed.items():
        assert candidates(roots[0], src, endings())[0] == Path(path)


DOTTED = ("Shoot 2.1/Take.A/bow.001.bvh", "Shoot 2.1/Take.A/bow.002.bvh", "a.b.c.bvh", "a.b/c.glb", "a/b.c.dae",
          "v1.2/x.bvh", "v1/2/x.bvh", "v1/2.x.fbx", "v1/2/y.bvh")


def test_dots_in_names_of_folders_and_files_lead_to_them_unless_they_are_slashes(tmp_path: Path) -> None:
    for name in DOTTED:
        put(tmp_path / name, "")
    found = contents([tmp_path], endings())
    listed = {src: Path(path).relative_to(tmp_path).as_posix() for src, path in found.files}
    assert listed == {"Shoot 2.1.Take.A.bow.001": DOTTED[0], "Shoot 2.1.Take.A.bow.002": DOTTED[1],
                      "a.b.c": "a/b.c.dae", "v1.2.x": "v1/2/x.bvh", "v1.2.y": "v1/2/y.bvh"}
    assert set(found.unnamed) == {"a.b.c.bvh", "a.b/c.glb", "v1.2/x.bvh", "v1/2.x.fbx"}
    library = Library([tmp_path])
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        src = next((src for src, name in listed.items() if tmp_path / name == path), None)
        assert library.src_of_playable(path) == src
    assert candidates(tmp_path, "Shoot 2.1.Take.A.bow.001", endings(), with_dots=False) == []
    with pytest.raises(FileError, match=r"names joined by single dots"):
        candidates(tmp_path, "Shoot 2..1", endings())


def test_folders_with_dots_have_the_beginning_of_their_clips_names(tmp_path: Path) -> None:
    for name in (*DOTTED, "feet/deep.er/Jump.skeleton.xml"):
        put(tmp_path / name, "")
    prefixes = {Path(folder).relative_to(tmp_path).as_posix(): prefix
                for folder, prefix in folders_within(contents([tmp_path], endings()).files).items()}
    assert prefixes == {"Shoot 2.1": "Shoot 2.1.", "Shoot 2.1/Take.A": "Shoot 2.1.Take.A.", "a": "a.", "v1": "v1.",
                        "v1/2": "v1.2.", "feet": "feet.", "feet/deep.er": "feet.deep.er."}


def test_clips_below_dots_play(tmp_path: Path) -> None:
    for name in ("Shoot 2.1/Take.A/bow.001.bvh", "Shoot 2.1/bow.bvh"):
        put(tmp_path / name, WALK)
    library = Library([tmp_path])
    document = parse('<pha tickLength="1"><load src="Shoot 2.1.Take.A.bow.001"/><load src="Shoot 2.1.bow"/>'
                     '<procedure name="main"><call name="Shoot 2.1.Take.A.bow.001.bow.001" duration="1"/>'
                     '<call name="bow.001" duration="1"/><call name="bow" duration="1"/></procedure></pha>')
    programme = resolve(document, library)
    assert [problem for problem in programme.problems if not problem.is_note] == []
    assert len(programme.clips) == 2


def test_a_link_out_of_the_library_is_refused_below_dots_too(tmp_path: Path) -> None:
    put(tmp_path / "other" / "x.bvh", WALK)
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "v1.2").symlink_to(tmp_path / "other", target_is_directory=True)
    with pytest.raises(FileError, match="leads out of the library"):
        candidates(tmp_path / "library", "v1.2.x", endings())


WALK = ("HIERARCHY\nROOT Hips\n{\n OFFSET 0 0 0\n CHANNELS 3 Zrotation Xrotation Yrotation\n End Site\n {\n "
        "OFFSET 0 1 0\n }\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n0 0 0\n10 0 0\n")


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("levels", [1, 2, 5])
def test_a_folder_around_the_library_leads_to_the_same_clips_and_says_their_names(tmp_path: Path, levels: int) -> None:
    folder = tmp_path.joinpath(*"abcde"[:levels])
    put(folder / "walk.bvh", WALK)
    put(folder / "sub" / "run.bvh", WALK)
    put(folder / "Base.pha", '<pha tickLength="1"/>')
    inner, outer = Library([folder]), Library([tmp_path])
    for src in ("walk", "sub.run"):
        assert outer.clips(src)[0][0].name == inner.clips(src)[0][0].name
        assert not any("is not there" in problem.message for problem in inner.clips(src)[1])
        (said,) = (problem for problem in outer.clips(src)[1] if "is not there" in problem.message)
        own = ".".join((*"abcde"[:levels], src))
        assert said.is_warning and f"its name is {own!r}" in said.message
        assert not any("is not there" in problem.message for problem in outer.clips(own)[1])
    assert outer.module_path("Base") == inner.module_path("Base")


def test_of_two_files_of_one_name_below_the_library_none_is_taken(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        put(tmp_path / folder / "walk.bvh", WALK)
        put(tmp_path / folder / "sub" / "Base.pha", '<pha tickLength="1"/>')
    with pytest.raises(FileError, match=r"found no file for 'walk'; did you mean one\.walk or two\.walk\?"):
        Library([tmp_path]).clips("walk")
    with pytest.raises(FileError, match=r"found no file for 'sub\.Base'; did you mean one\.sub\.Base or two\.sub"):
        Library([tmp_path]).module_path("sub.Base")
    for number in range(5):
        put(tmp_path / "more" / str(number) / "walk.bvh", WALK)
    with pytest.raises(FileError, match=r"; did you mean one\.walk or two\.walk or more\.0\.walk\?"):
        Library([tmp_path]).clips("walk")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="Linux alone has it")
def test_what_the_kernel_shows_is_no_library(tmp_path: Path) -> None:
    """Neither by a link; the memory that files may lie in is one."""
    (tmp_path / "link").symlink_to("/proc/self")
    for root in (Path("/proc/self"), Path("/sys"), Path("/dev"), tmp_path / "link"):
        assert contents([root], ("",)) == contents([], ("",))
        with pytest.raises(FileError, match="is no folder for clips: what lies there are no files"):
            candidates(Path(os.path.realpath(root)), "status", ("",))
    for root in (Path("/dev/shm"), Path("/device"), tmp_path):
        check_library(root)
