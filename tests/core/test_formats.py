"""The registry of formats: what each entry says is true, and a new one is found everywhere."""

import json
import struct
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest

from takt.cli import main
from takt.core import formats
from takt.core.clips.clip import Clip
from takt.core.clips.clip_file import ClipFile
from takt.core.errors import CancelledError, FileError, TaktError
from takt.core.formats import FORMATS, endings, format_of, ogre_binary
from takt.core.formats.format import Format, Holds, Source
from takt.core.formats.ogre import Link, OgreSkeleton
from takt.core.library.clip_files import files_read, read_clip_file
from takt.core.library.library import Library
from takt.core.library.reading import Reading
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.tests.core.ogre_cases import small
from takt.tests.core.rigs import with_model_axes
from takt.tests.core.scores import FIGURE, X, Y, procedure, score, turning, walking

LANGUAGE = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
WAVES = ClipFile(FIGURE, (turning("wave", X, (0.0, 0.4, 0.1)), walking("stride", (0.0, 1.0))))


def _read_made_up(source: Source) -> ClipFile:
    assert source.beside is not None and source.beside.data == b"clocks"
    kind, _, names = source.data.decode().partition(":")
    if kind != "made up":
        raise FileError.at("expected made up", source.path, line=1)
    return ClipFile(FIGURE, tuple(turning(name, Y, (0.0, 0.5)) for name in names.split(",")), warnings=("is made up",))


MADE_UP = Format("MADE_UP", "Made-up", (".mup", ".mup.gz"), Holds(many_clips=False, scales=False, free_keys=False),
                 read=_read_made_up, beside=".mclk",
                 write=lambda file, fps: f"made up:{file.clips[0].name} {fps:g}".encode())


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Register a format that nobody knows, and return a library with a file of it."""
    monkeypatch.setitem(FORMATS, "MADE_UP", MADE_UP)
    (tmp_path / "Waves.mup").write_text("made up:wave,swing")
    (tmp_path / "Waves.mclk").write_text("clocks")
    return tmp_path


def test_no_two_formats_share_an_ending_and_each_stands_under_its_identifier() -> None:
    assert len(set(endings())) == len(endings())
    assert [name for name, entry in FORMATS.items() if name != entry.identifier or name != name.upper()] == []


def test_every_format_that_a_file_declares_is_listed() -> None:
    modules = [import_module(f"{formats.__name__}.{module.name}") for module in iter_modules(formats.__path__)]
    declared = {id(entry) for module in modules for entry in vars(module).values() if isinstance(entry, Format)
                and (entry.read is not None or entry.read_characters is None)}  # no clips are in a RiTE model
    assert declared == {id(entry) for entry in FORMATS.values()}


@pytest.mark.parametrize("ending", ["bvh", ".BVH", ""])
def test_an_ending_begins_with_a_dot_and_is_in_lower_case(ending: str) -> None:
    with pytest.raises(TaktError, match="a dot and lower case are wanted"):
        Format("X", "X", (".x", ending))


@pytest.mark.parametrize("error", [
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), KeyError("nodes"), IndexError("no such row"),
    struct.error("needs 4 bytes"), json.JSONDecodeError("Expecting value", "", 0), ZeroDivisionError("by 0"),
    RecursionError("too deep"), MemoryError(), TypeError("no int"), np.linalg.LinAlgError("Singular matrix")])
def test_whatever_damaged_bytes_raise_is_an_error_of_the_file(error: Exception) -> None:
    """Of readers of clips and of characters, also those that are put around a format's own."""
    def fail(_: Source) -> Any:
        raise error

    entry = Format("BAD", "Bad", (".bad",), read=fail, read_characters=fail)
    around = replace(entry, read=lambda source: fail(source))
    for reader in (entry.read, entry.read_characters, around.read):
        assert reader is not None
        with pytest.raises(FileError, match=rf"a\.bad: this file is damaged, or holds what Takt cannot read as Bad "
                                            rf"\({type(error).__name__}.*\); export the file again, or take another"):
            reader(Source(b"", Path("a.bad")))


def test_what_a_reader_means_to_raise_goes_through() -> None:
    def stop(_: Source) -> Any:
        raise CancelledError("enough")

    entry = Format("BAD", "Bad", (".bad",), read=stop)
    assert entry.read is not None
    with pytest.raises(CancelledError, match="enough"):
        entry.read(Source(b"", Path("a.bad")))


@pytest.mark.parametrize(("name", "identifier"), [
    ("a.skeleton", "OGRE"), ("a.skeleton.xml", "OGRE_XML"), ("A.SKELETON.XML", "OGRE_XML"), ("a.b.bvh", "BVH"),
    ("a.glb", "GLTF"), ("a.gltf", "GLTF"), ("a.raa", "RITE"), ("a.xml", None), ("bvh", None)])
def test_the_ending_names_the_format(name: str, identifier: str | None) -> None:
    found = format_of(Path("x") / name)
    assert (found and found.identifier) == identifier


def test_of_two_endings_that_fit_the_longer_counts() -> None:
    short, long = Format("SHORT", "", (".gz",)), Format("LONG", "", (".tar.gz",))
    for both in ({"SHORT": short, "LONG": long}, {"LONG": long, "SHORT": short}):
        assert format_of(Path("a.tar.gz"), both) is long
        assert format_of(Path("a.gz"), both) is short


OF_ANY_BODY = [entry for entry in FORMATS.values() if entry.write and entry.identifier != "VRMA"]
"""VRMA holds humans alone: test_vrm.py."""


@pytest.mark.parametrize("entry", OF_ANY_BODY, ids=lambda entry: entry.identifier)
def test_what_is_written_is_read_as_far_as_the_format_holds_it(entry: Format, tmp_path: Path) -> None:
    clip = with_model_axes(WAVES.clips[1])
    clips = (clip, Clip("still", clip.skeleton, 1.0, clip.rotations, clip.translations, clip.scales))
    file = ClipFile(clip.skeleton, clips if entry.holds.many_clips else clips[:1])
    assert entry.write is not None
    path = tmp_path / f"stride{entry.endings[0]}"
    path.write_bytes(entry.write(file, 8.0))
    back = read_clip_file(path)
    assert [c.name for c in back.played] == [c.name for c in file.clips]
    times = np.linspace(0.0, clip.duration_s, 9)
    np.testing.assert_allclose(back.played[0].sample(times).translations, clip.sample(times).translations, atol=1e-6)


def test_a_kind_of_file_that_no_format_names_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"a\.doc: clips of this kind cannot be read; endings that can: \.skeleton, "):
        read_clip_file(tmp_path / "a.doc")
    with pytest.raises(FileError, match=r"a\.blend: Blender files are read inside Blender only; without it: \.skel"):
        read_clip_file(tmp_path / "a.blend")


def test_ogre_keeps_through_the_neutral_value_what_only_it_knows() -> None:
    ogre = small()
    whole = OgreSkeleton(ogre.skeleton, ogre.clips, np.array((4, 9, 1)), "CUMULATIVE", (Link("other.skeleton", 0.5),))
    assert OgreSkeleton.of_file(whole) is whole
    one = whole.with_clips(whole.played[:1])
    assert (one.handles.tolist(), one.blend_mode, one.links) == ([4, 9, 1], "CUMULATIVE", ())
    assert [clip.name for clip in one.clips] == ["walk"]
    plain = OgreSkeleton.of_file(ClipFile(ogre.skeleton, ogre.clips))
    assert (plain.handles.tolist(), plain.clips) == ([0, 1, 2], ogre.clips)
    assert [clip.name for clip in WAVES.with_clips(WAVES.clips[1:]).played] == ["stride"]


def test_files_of_several_skeletons_do_not_fit_into_one() -> None:
    with pytest.raises(TaktError, match="clip 'still' belongs to another skeleton"):
        ogre_binary.FORMAT.write(ClipFile(FIGURE, small().clips[1:]), 30.0)  # type: ignore[misc]


# A made-up format

def test_a_score_plays_clips_of_a_new_format(made_up: Path) -> None:
    programme = resolve(parse(score(procedure("main", 'swing duration="1"'), head='<load src="Waves"/>')),
                        Library([made_up]))
    assert programme.clip_names == ("Waves.swing",)
    assert [problem.message for problem in programme.problems] == ["Waves.mup: is made up"]
    assert files_read(made_up / "Waves.mup") == (made_up / "Waves.mup", made_up / "Waves.mclk")


def test_a_new_format_can_be_chosen_and_stands_in_messages(made_up: Path) -> None:
    (made_up / "Waves.bvh").write_text("rubbish")
    clips, said = Library([made_up], reading=Reading(".mup")).clips("Waves")
    assert [clip.name for clip in clips] == ["wave", "swing"]
    assert "there are also" in said[1].message
    with pytest.raises(FileError, match=r"expected one of .*\.dae, \.usdz, \.usdc, \.usda, \.usd, .*\.mup, \.mup\.gz"):
        Reading(".doc")
    with pytest.raises(FileError, match=rf"ending in \.mup, \.skeleton, .* and {len(endings()) - 6} more$"):
        Library([made_up], reading=Reading(".mup")).clips("Nothing")
    (made_up / "Waves.mclk").unlink()
    with pytest.raises(FileError, match=r"a \.mup file wants a \.mclk file beside it"):
        Library([made_up], reading=Reading(".mup")).clips("Waves")


def test_a_file_that_does_not_say_its_axes_is_brought_into_ours(made_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "MADE_UP", Format("MADE_UP", "", (".mup",), read=_read_made_up, beside=".mclk",
                                                   says_space=False))
    _, said = Library([made_up]).clips("Waves")
    assert said[-1].is_note and "Waves.mup: +Y is up, facing +Z, in metres" in said[-1].message


def test_links_of_a_new_format_are_followed(made_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def follow(file: ClipFile, own: str, find: object) -> tuple[tuple[Clip, ...], tuple[str, ...]]:
        linked = find("Steps.skeleton")  # type: ignore[operator]
        assert own == "Waves.mup" and find("None.skeleton") is None  # type: ignore[operator]
        return linked.played, (f"{len(file.clips)} and more",)

    monkeypatch.setitem(FORMATS, "MADE_UP", Format("MADE_UP", "", (".mup",), read=_read_made_up, beside=".mclk",
                                                   follow_links=follow))
    (made_up / "Steps.skeleton").write_bytes(ogre_binary.write(OgreSkeleton.of(FIGURE, WAVES.clips)))
    clips, said = Library([made_up]).clips("Waves")
    assert [clip.name for clip in clips] == ["wave", "swing", "wave", "stride"]
    assert said[-1].message == "Waves.mup: 2 and more"


def test_the_command_converts_bakes_and_plays_on_a_new_format(made_up: Path, capsys: pytest.CaptureFixture[str]
                                                              ) -> None:
    source, out, back = made_up / "Waves.mup", made_up / "Waves.skeleton", made_up / "back.mup.gz"
    assert main(["convert", str(source), str(out)]) == 0
    assert capsys.readouterr().err == "takt: warning: is made up\n"
    assert [clip.name for clip in ogre_binary.read(out.read_bytes()).clips] == ["wave", "swing"]
    assert main(["convert", str(out), str(back)]) == 1
    said = capsys.readouterr().err
    assert ".mup holds exactly one clip; choose one by --clip NAME; there are 'wave', 'swing'" in said
    assert main(["convert", str(out), str(back), "--clip", "swing"]) == 0
    assert back.read_text() == "made up:swing 1"
    out.unlink()
    path = made_up / "dance.pha"
    path.write_text(score(procedure("main", 'wave duration="1"'), head='<load src="Waves"/>'))
    assert main(["bake", str(path), str(made_up / "dance.mup"), "--skeleton", str(source), "--fps", "25"]) == 0
    assert (made_up / "dance.mup").read_text() == "made up:dance 25"


def test_the_command_says_what_a_new_format_does_not_hold(made_up: Path, capsys: pytest.CaptureFixture[str],
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "MADE_UP", replace(MADE_UP, holds=Holds(translations=False, scales=False)))
    source = made_up / "Walk.skeleton"
    source.write_bytes(ogre_binary.write(OgreSkeleton.of(FIGURE, WAVES.clips[:1])))
    assert main(["convert", str(source), str(made_up / "out.mup")]) == 0
    assert capsys.readouterr().err == ""
    source.write_bytes(ogre_binary.write(OgreSkeleton.of(FIGURE, WAVES.clips[1:])))
    assert main(["convert", str(source), str(made_up / "out.mup")]) == 0
    assert capsys.readouterr().err == "takt: warning: translations are left out, which .mup does not know\n"


@pytest.mark.parametrize(("command", "says"), [("convert", "read: "), ("convert", "format: "), ("bake", "format: "),
                                               ("bake", "plays: "), ("check", "several: ")])
def test_the_commands_help_lists_a_new_format(made_up: Path, capsys: pytest.CaptureFixture[str], command: str,
                                              says: str) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = " ".join(capsys.readouterr().out.replace("\n", " ").split())
    listed = text[text.index(says):].removeprefix(says).split()
    assert ".mup," in listed[:len(endings()) + 1]


def test_the_command_refuses_what_is_not_written(made_up: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("out.raa", "out.glb", "out.doc"):
        assert main(["convert", str(made_up / "Waves.mup"), str(made_up / name)]) == 1
        assert "let it end in .bvh, .mup, .mup.gz, .skeleton, .skeleton.xml" in capsys.readouterr().err


# The documents

def table() -> str:
    """Return what docs/formats.md says of the formats."""
    rows = ["| format | ending | holds, besides rotations | axes and unit | without Blender |", "|---|---|---|---|---|"]
    for entry in FORMATS.values():
        own = ", ".join(f"`{ending}`" for ending in entry.endings)
        own += f" with a `{entry.beside}` beside it" if entry.beside else ""
        held = [word for word, is_held in (
            ("many clips", entry.holds.many_clips), ("translations", entry.holds.translations),
            ("scales", entry.holds.scales), ("links to others", entry.follow_links is not None)) if is_held]
        ways = [word for word, way in (("read", entry.read), ("written", entry.write)) if way]
        rows.append(f"| {entry.label} | {own} | {', '.join(held) or '–'} | "
                    f"{'as they stand' if entry.says_space else 'found from the body'} | {', '.join(ways) or '–'} |")
    return "\n".join(rows)


def test_the_table_of_formats_is_the_registry() -> None:
    assert table() + "\n\n" in LANGUAGE, f"docs/formats.md lacks this table:\n{table()}"


def test_a_new_format_would_be_missed_in_the_table(made_up: Path) -> None:
    assert table().endswith("| Made-up | `.mup`, `.mup.gz` with a `.mclk` beside it | translations | as they stand | "
                            "read, written |")
    assert table() not in LANGUAGE
