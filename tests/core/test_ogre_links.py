"""Clips of linked skeletons: whose they are, how they are scaled, and that nothing leads astray."""

import os
from pathlib import Path

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import FileError
from takt.core.formats import ogre_binary, ogre_xml
from takt.core.formats.ogre import Base, Link, OgreSkeleton
from takt.core.formats.ogre_links import MAX_LINKED, linked_clips
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.pha.document import parse
from takt.core.pha.programme import Programme, resolve
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core.ogre_cases import of_ogre
from takt.tests.core.scores import procedure, score

UNITS = 1e-4
Z = np.array((0.0, 0.0, 1.0))


def skeleton(*names: str, seed: int = 1) -> Skeleton:
    rng = np.random.default_rng(seed)
    return Skeleton.from_arrays(names, range(-1, len(names) - 1), rot.normalized(rng.normal(size=(len(names), 4))),
                                rng.normal(size=(len(names), 3)))


def clip(name: str, of: Skeleton, amount: float) -> Clip:
    """Turn, shift and stretch every joint within a second."""
    joints, times = np.arange(len(of)), np.array((0.0, 1.0))
    turns = rot.from_axis_angle(Z, np.array((0.0, amount)))[:, None].repeat(len(of), axis=1)
    ways = np.array((0.0, amount))[:, None, None] * (1.0, 2.0, 3.0) * (joints[None, :, None] + 1.0)
    sizes = 1.0 + np.array((0.0, 1.0))[:, None, None] * (1.0, 0.0, 0.5) + 0.0 * ways
    return Clip(name, of, 1.0, Tracks.uniform(joints, times, turns), Tracks.uniform(joints, times, ways),
                Tracks.uniform(joints, times, sizes))


MINE, OTHER = skeleton("a", "b"), skeleton("x", "y", seed=2)


def linking(of: Skeleton, clips: tuple[Clip, ...], *links: Link, handles: tuple[int, ...] = ()) -> OgreSkeleton:
    return OgreSkeleton(of, clips, np.array(handles or range(len(of))), links=links)


FILES = {
    "main.skeleton": linking(MINE, (clip("own", MINE, 0.3),), Link("second.skeleton", 0.5), Link("fourth.skeleton", 2)),
    "second.skeleton": linking(OTHER, (clip("own", OTHER, 0.9), clip("two", OTHER, 0.7)), Link("third.skeleton", 3)),
    "third.skeleton": linking(OTHER, (clip("three", OTHER, 0.6),), Link("main.skeleton", 7)),
    "fourth.skeleton": linking(OTHER, (clip("three", OTHER, 0.1), clip("four", OTHER, 0.2))),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, ogre in FILES.items():
        (tmp_path / name).write_bytes(ogre_binary.write(ogre))
    return tmp_path


def test_clips_come_depth_first_the_own_ones_first_and_each_name_once() -> None:
    found, warnings = linked_clips(FILES["main.skeleton"], "main.skeleton", FILES.get)
    assert [c.name for c in found] == ["two", "three", "four"]
    assert all(c.skeleton is MINE for c in found)
    assert warnings == ()


def test_translations_take_the_scale_of_the_skeletons_own_link_and_so_do_scales() -> None:
    two, three, four = linked_clips(FILES["main.skeleton"], "main.skeleton", FILES.get)[0]
    for found, amount, scale in ((two, 0.7, 0.5), (three, 0.6, 0.5), (four, 0.2, 2.0)):
        pose = found.sample(np.array((1.0,))).at(0)
        np.testing.assert_allclose(pose.translations[0], np.array((1.0, 2.0, 3.0)) * amount * scale)
        np.testing.assert_allclose(pose.scales[1], 1.0 + np.array((1.0, 0.0, 0.5)) * scale)
        assert rot.angle_between(pose.rotations[0], rot.from_axis_angle(Z, amount)) < 1e-7


def test_tracks_belong_to_bones_by_handle_and_those_of_strange_bones_are_left_out() -> None:
    wide = skeleton("p", "q", "r", seed=3)
    main = linking(MINE, (), Link("w", 1.0), handles=(5, 9))
    other = linking(wide, (clip("wave", wide, 0.4),), handles=(9, 5, 6))
    (wave,), (warning,) = linked_clips(main, "", {"w": other}.get)
    pose = wave.sample(np.array((1.0,))).at(0)
    np.testing.assert_allclose(pose.translations[:, 0], (0.8, 0.4))  # q has a's handle, p has b's
    assert warning == "the linked skeleton 'w' has 1 bones more, as 'r'; their tracks are left out"


def test_a_clip_with_a_base_comes_as_it_plays() -> None:
    a, b = clip("a", OTHER, 0.5), clip("b", OTHER, 0.8)
    other = OgreSkeleton(OTHER, (a, b), np.arange(2), bases={"b": Base("a", 1.0)})
    found, _ = linked_clips(linking(MINE, (), Link("o", 1.0)), "", {"o": other}.get)
    np.testing.assert_allclose(found[1].sample(np.array((1.0,))).translations[0, 0], (0.3, 0.6, 0.9), atol=1e-12)


def test_what_is_missing_is_a_warning_and_too_many_end_somewhere() -> None:
    found, warnings = linked_clips(linking(MINE, (), Link("no.skeleton", 1.0)), "", FILES.get)
    assert (found, warnings) == ((), ("the linked skeleton 'no.skeleton' is not there: its clips are left out",))

    def endless(name: str) -> OgreSkeleton:
        return linking(OTHER, (), Link(f"{name}x", 1.0), Link(f"{name}y", 1.0))

    _, warnings = linked_clips(endless(""), "", endless)
    assert warnings == (f"more than {MAX_LINKED} linked skeletons; no more are read",)


def loaded(folder: Path, name: str, head: str = "main") -> Programme:
    text = score(procedure("main", f'{name} duration="1"'), head=f'<load src="{head}"/>')
    return resolve(parse(text), Library([folder]))


@pytest.mark.parametrize("name", ["own", "two", "three", "main.four"])
def test_a_score_calls_linked_clips_like_the_files_own(folder: Path, name: str) -> None:
    assert loaded(folder, name).clip_names == (f"main.{name.removeprefix('main.')}",)


def test_a_missing_link_is_a_warning_of_the_load(folder: Path) -> None:
    (folder / "second.skeleton").unlink()
    said = str(loaded(folder, "own").problems[0])
    assert said == ("score:1:23: warning: main.skeleton: the linked skeleton 'second.skeleton' is not there: its clips "
                    "are left out")


def test_an_xml_file_stands_in_for_a_missing_binary_one(folder: Path) -> None:
    (folder / "second.skeleton").unlink()
    (folder / "second.skeleton.xml").write_bytes(ogre_xml.write(FILES["second.skeleton"]))
    assert loaded(folder, "two").clip_names == ("main.two",)


@pytest.mark.parametrize("way", ["../second.skeleton", "/etc/second.skeleton", "..\\second.skeleton", "a/b/"])
def test_only_the_name_of_a_link_counts(folder: Path, way: str) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "main.skeleton").write_bytes(ogre_binary.write(linking(MINE, (clip("own", MINE, 0.1),), Link(way, 1.0))))
    assert "is not there" in str(loaded(folder, "own", "inner.main").problems[0])
    (inner / "second.skeleton").write_bytes(ogre_binary.write(FILES["fourth.skeleton"]))
    if way != "a/b/":
        assert loaded(folder, "four", "inner.main").problems == ()


def test_files_that_may_not_be_read_are_not(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "second.skeleton"
    outside.write_bytes(ogre_binary.write(FILES["fourth.skeleton"]))
    second = folder / "second.skeleton"
    second.unlink()
    second.symlink_to(outside)
    with pytest.raises(FileError, match="is a link that leads out of"):
        loaded(folder, "own")
    second.unlink()
    os.mkfifo(second)
    with pytest.raises(FileError, match="is no ordinary file"):
        loaded(folder, "own")
    second.unlink()
    second.write_bytes(b"\x00\x10[Serializer_v9]\n")
    with pytest.raises(FileError, match=r"second\.skeleton \(byte 2\): version"):
        loaded(folder, "own")


@pytest.mark.ogre
def test_ogre_plays_them_so(folder: Path) -> None:
    """Against OGRE's own Skeleton, which finds, scales and applies linked animations itself."""
    third = FILES["third.skeleton"]  # without its way back to the first, which OGRE would go round and round
    (folder / "third.skeleton").write_bytes(ogre_binary.write(linking(OTHER, third.clips)))
    theirs = of_ogre(folder / "main.skeleton", 3)
    ogre = FILES["main.skeleton"]
    for mine in (*ogre.clips, *linked_clips(ogre, "main.skeleton", FILES.get)[0]):
        world = world_from_pose(MINE, mine.sample(np.array(theirs[mine.name]["times"])))
        for at, pose in enumerate(theirs[mine.name]["poses"]):
            for joint, bone in enumerate(MINE.names):
                np.testing.assert_allclose(world[at, joint, :, 3], pose[bone][:3], atol=UNITS, err_msg=mine.name)
