"""Clips are read once and retargeted once, whatever is performed; what is counted is how often."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import FileError, NeedsBlenderError, ScoreError
from takt.core.formats import FORMATS, bvh, ogre_binary
from takt.core.formats.ogre import Link, OgreSkeleton
from takt.core.library import clip_files, files
from takt.core.library import library as library_room
from takt.core.library import store as store_room
from takt.core.library.files import read_file
from takt.core.library.library import Library
from takt.core.library.reading import Reading
from takt.core.library.store import ClipStore, bytes_of
from takt.core.maths import rotations as rot
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, perform
from takt.core.retargeting import retarget as retargeting
from takt.core.retargeting.comparing.bvh_space import BvhSpace
from takt.core.retargeting.retarget import Retargeted
from takt.core.skeletons.maps import find_map, read_map, write_map
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.clips import build_clips
from takt.samples.skeleton import build_skeleton

from .corrected_maps import corrected

ROUNDING = 1e-12
"""What the same sums differ by where arrays lie elsewhere in memory."""

UP = np.array((0.0, 1.0, 0.0))
SCORE = """<pha tickLength="1"><load src="steps"/><load src="greetings"/><load src="walk"/>
<procedure name="main"><call name="left_step" duration="1"/><call name="{}" duration="2"/>
<call name="walk" duration="{}"/></procedure></pha>"""
TEXT = SCORE.format("wave", 2)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often files are read, by name, and clips retargeted."""
    counted: Counter[str] = Counter()
    read, retarget = clip_files.read_clip_file, retargeting.retarget

    def read_counted(path: Path, *more: Any, **named: Any) -> Any:
        counted[path.name] += 1
        return read(path, *more, **named)

    def retarget_counted(clip: Clip, *more: Any, **named: Any) -> Retargeted:
        counted["retargeted"] += 1
        return retarget(clip, *more, **named)

    monkeypatch.setattr(library_room, "read_clip_file", read_counted)
    monkeypatch.setattr(store_room, "retarget", retarget_counted)
    yield counted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, module in (("steps", "feet/Steps.skeleton.xml"), ("greetings", "gestures/Greetings.skeleton.xml")):
        clips = build_clips(module)
        (tmp_path / f"{name}.skeleton").write_bytes(ogre_binary.write(OgreSkeleton.of(clips[0].skeleton, clips)))
    (tmp_path / "walk.bvh").write_bytes(bvh.write(build_clips("feet/Steps.skeleton.xml")[0], 1 / 30))
    return tmp_path


def another_rig() -> Skeleton:
    rig = build_skeleton()
    return Skeleton(rig.names, rig.parents, rig.rest_rotations, rig.rest_translations * 1.1, rig.rest_scales, "Other")


def played(store: ClipStore, folder: Path, text: str = TEXT, rig: Skeleton | None = None,
           settings: Settings | None = None, *, turn: Any = rot.IDENTITY, skin: Any = None,
           space: BvhSpace | None = None) -> Motion:
    """Perform with a library and a rig of their own, as Blender does each time."""
    library = Library([folder], store=store, reading=Reading(bvh=space or BvhSpace()))
    motion = perform(text, None, library, Performer(rig or build_rig(), UP, turn, skin=skin), settings)
    motion.sample(np.linspace(0.0, motion.duration_s, 7))
    return motion


def build_rig() -> Skeleton:
    """Return the character's skeleton anew, as it is read from Blender each time."""
    rig = build_skeleton()
    return Skeleton(rig.names, rig.parents.copy(), rig.rest_rotations.copy(), rig.rest_translations.copy(),
                    rig.rest_scales.copy(), rig.name)


def test_what_is_played_once_more_is_neither_read_nor_retargeted_again(folder: Path, counts: Counter[str]) -> None:
    store = ClipStore()
    first = played(store, folder)
    assert counts == {"steps.skeleton": 1, "greetings.skeleton": 1, "walk.bvh": 1, "retargeted": 3}
    counts.clear()
    again = played(store, folder)
    assert not counts and again is not first
    for settings in (Settings(curve="COSINE"), Settings(method="END"), Settings(interpolation="SQUAD"),
                     Settings(root_motion="IN_PLACE"), Settings(loop=True), Settings(lock_feet=True)):
        played(store, folder, settings=settings)
    played(store, folder, SCORE.format("wave", 3))
    played(store, folder, "  " + TEXT)
    assert not counts


def test_the_store_changes_nothing_of_what_is_played(folder: Path) -> None:
    store = ClipStore()
    for settings in (Settings(), Settings(interpolation="LERP", translation="SPLINE"),
                     Settings(method="END", loop=True)):
        kept, fresh = played(store, folder, settings=settings), played(ClipStore(), folder, settings=settings)
        times = np.linspace(0.0, fresh.duration_s, 50)
        for ours, theirs in zip(vars(kept.sample(times)).values(), vars(fresh.sample(times)).values(), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=ROUNDING)
        assert kept.problems == fresh.problems and kept.unmatched == fresh.unmatched


@pytest.mark.slow
@pytest.mark.parametrize(("change", "retargeted"), [
    (lambda s, f: played(s, f, SCORE.format("bow", 2)), 1),
    (lambda s, f: played(s, f, rig=another_rig()), 3),
    (lambda s, f: played(s, f, turn=rot.from_axis_angle(UP, np.array(0.3))), 3),
    (lambda s, f: played(s, f, skin=np.arange(len(build_skeleton())) != 5), 3),
    (lambda s, f: played(s, f, space=BvhSpace("Y", "-Z")), 1),
], ids=["clip", "rig", "axes", "skin", "space"])
def test_what_another_one_needs_is_retargeted_and_no_file_read(
        folder: Path, counts: Counter[str], change: Callable[[ClipStore, Path], Motion], retargeted: int) -> None:
    store = ClipStore()
    played(store, folder)
    counts.clear()
    change(store, folder)
    assert counts == {"retargeted": retargeted}
    counts.clear()
    change(store, folder)
    played(store, folder)
    assert not counts


def test_each_skin_is_retargeted_for_itself(folder: Path, counts: Counter[str]) -> None:
    store, joints = ClipStore(), np.arange(len(build_skeleton()))
    for skin in (joints != 5, joints != 6, joints != 5):
        played(store, folder, skin=skin)
    assert counts["retargeted"] == 6


def test_a_corrected_map_retargets_and_reads_nothing(folder: Path, counts: Counter[str]) -> None:
    store = ClipStore()
    played(store, folder)
    counts.clear()
    right = corrected(find_map(build_rig()), {"l_pinky3": None})
    (folder / "rig.map").write_text(write_map(right), encoding="utf-8")
    played(store, folder)
    assert counts == {"retargeted": 3}
    counts.clear()
    played(store, folder)
    assert not counts


def test_a_file_written_anew_is_read_anew_and_no_other(folder: Path, counts: Counter[str]) -> None:
    store, path = ClipStore(), folder / "greetings.skeleton"
    before = played(store, folder)
    counts.clear()
    clips = build_clips("gestures/Greetings.skeleton.xml")
    slower = [Clip(c.name, c.skeleton, c.duration_s * 2.0, c.rotations, c.translations, c.scales) for c in clips]
    data = ogre_binary.write(OgreSkeleton.of(clips[0].skeleton, slower))
    assert len(data) == path.stat().st_size
    path.write_bytes(data)
    os.utime(path, ns=(1, 1))
    after = played(store, folder)
    assert counts == {"greetings.skeleton": 1, "retargeted": 1}
    assert [c.duration_s for c in after.clips] == [before.clips[0].duration_s, before.clips[1].duration_s * 2.0,
                                                  before.clips[2].duration_s]
    assert after.clips[0] is before.clips[0]


def test_a_broken_file_is_read_once_and_again_when_it_is_mended(folder: Path, counts: Counter[str]) -> None:
    store, path = ClipStore(), folder / "greetings.skeleton"
    whole = path.read_bytes()
    path.write_bytes(whole[:1000])
    said = []
    for _ in range(2):
        with pytest.raises(ScoreError) as caught:
            played(store, folder)
        said.append(str(caught.value))
    assert said[0] == said[1] and "greetings.skeleton" in said[0]
    assert counts["greetings.skeleton"] == 1
    path.write_bytes(whole)
    played(store, folder)
    assert counts["greetings.skeleton"] == 2


def test_a_clip_that_leads_to_the_end_of_the_world_costs_only_itself(folder: Path) -> None:
    clips = build_clips("feet/Steps.skeleton.xml")
    assert clips[0].name == "left_step"
    values = clips[0].translations.values.copy()
    values[-1, 1] = 1e30
    far = replace(clips[0], translations=replace(clips[0].translations, values=values))
    (folder / "steps.skeleton").write_bytes(ogre_binary.write(OgreSkeleton.of(far.skeleton, (far, *clips[1:]))))
    whole = played(ClipStore(), folder, rig=another_rig())
    said = [problem.message for problem in whole.problems if not problem.is_note]
    assert any("'left_step' leads 'HumanoidRoot' 1e+30 away" in text and "mend the file" in text for text in said)
    motion = played(ClipStore(), folder, SCORE.format("wave", 2).replace('"left_step"', '"right_step"'), another_rig())
    assert not any("away" in problem.message for problem in motion.problems)
    assert not whole.clips[0].moved.any() and whole.clips[1].moved.any() and whole.clips[2].moved.any()


def chain(folder: Path) -> Callable[..., None]:
    """Return what writes a skeleton with a clip of its name that links others."""
    skeleton = Skeleton.from_arrays(("a", "b"), (-1, 0), rot.identities(2), np.eye(3)[:2])

    def write(name: str, *links: str, seconds: float = 1.0) -> None:
        clip = Clip(name, skeleton, seconds, Tracks.uniform(np.array((0, 1)), np.zeros(1), rot.identities(1, 2)),
                    Tracks.empty(3), Tracks.empty(3))
        file = OgreSkeleton(skeleton, (clip,), np.arange(2), links=tuple(Link(f"{n}.skeleton", 1.0) for n in links))
        (folder / f"{name}.skeleton").write_bytes(ogre_binary.write(file))
    return write


def test_clips_of_linked_files_follow_those(tmp_path: Path, counts: Counter[str]) -> None:
    write, store = chain(tmp_path), ClipStore()

    def found() -> dict[str, Clip]:
        return {clip.name: clip for clip in Library([tmp_path], store=store).clips("one")[0]}

    write("one", "two")
    assert list(found()) == ["one"]
    write("two", "three")
    assert list(found()) == ["one", "two"]
    write("three", "four")
    first = found()
    assert list(first) == ["one", "two", "three"] and found() == first
    assert counts == {"one.skeleton": 1, "two.skeleton": 1, "three.skeleton": 1}
    write("three", seconds=2.0)
    assert found()["three"].duration_s == 2.0
    write("two", "four", "three")
    write("four", seconds=3.0)
    assert [(name, clip.duration_s) for name, clip in found().items()] == [
        ("one", 1.0), ("two", 1.0), ("four", 3.0), ("three", 2.0)]
    assert counts == {"one.skeleton": 1, "two.skeleton": 2, "three.skeleton": 2, "four.skeleton": 1}


def rewritten(path: Path, seconds: float) -> None:
    """Write the walk of a folder anew, as a clip of another length."""
    path.write_bytes(bvh.write(replace(build_clips("feet/Steps.skeleton.xml")[0], duration_s=seconds), 1 / 30))


def test_of_one_moment_all_files_stay_as_they_were_and_of_the_next_as_they_are(folder: Path) -> None:
    store, moments = ClipStore(), (object(), object())

    def lengths(moment: object, src: str = "walk") -> list[float]:
        return [round(clip.duration_s, 3) for clip in Library([folder], store=store, moment=moment).clips(src)[0]]

    rewritten(folder / "walk.bvh", 3.0)
    assert lengths(moments[0]) == [3.0]
    rewritten(folder / "walk.bvh", 4.0)
    assert lengths(moments[0]) == [3.0]
    assert lengths(None) == lengths(moments[1]) == [4.0]
    (folder / "walk.bvh").unlink()
    assert lengths(moments[1]) == [4.0]
    with pytest.raises(FileError, match="found no file"):
        lengths(object())


def test_what_was_not_there_is_looked_for_again_and_what_was_broken_read_again(folder: Path) -> None:
    store, moment = ClipStore(), object()

    def library() -> Library:
        return Library([folder], store=store, moment=moment)

    whole = (folder / "walk.bvh").read_bytes()
    with pytest.raises(FileError, match="found no file"):
        library().clips("new")
    (folder / "new.bvh").write_bytes(whole[:500])
    for _ in range(2):
        with pytest.raises(FileError, match=r"new\.bvh"):
            library().clips("new")
    (folder / "new.bvh").write_bytes(whole)
    first = library().clips("new")[0]
    assert library().clips("new")[0] == first


def test_that_only_blender_reads_a_file_is_not_kept(folder: Path) -> None:
    """Another reader of the same store may be Blender's."""
    store = ClipStore()
    (folder / "moves.blend").write_bytes(b"BLENDER")
    with pytest.raises(NeedsBlenderError, match="inside Blender only"):
        Library([folder], store=store).clips("moves")
    walk = clip_files.read_clip_file(folder / "walk.bvh")
    of_blender = {name: replace(entry, read=entry.read or (lambda _: walk)) for name, entry in FORMATS.items()}
    assert Library([folder], reading=Reading(formats=of_blender), store=store).clips("moves")[0]
    assert Library([folder], store=store).clips("moves")[0]


def test_of_one_moment_a_folder_is_looked_through_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither for clips nor for maps nor for the root that fits a score; a score file is read each time."""
    store, moment, looked = ClipStore(), object(), Counter[str]()
    (folder / "dances").mkdir()
    (folder / "turns.pha").write_text(TEXT, encoding="utf-8")

    def count_calls(room: object, name: str, real: Callable[..., Any]) -> None:
        def call(*given: Any) -> Any:
            looked[name] += 1
            return real(*given)
        monkeypatch.setattr(room, name, call)

    count_calls(files, "candidates", files.candidates)
    count_calls(library_room, "read_map", read_map)
    count_calls(store_room, "stamp", store_room.stamp)
    text = TEXT.replace("<procedure", '<include src="turns"/><procedure')
    (folder / "rig.map").write_text(write_map(find_map(build_rig())), encoding="utf-8")

    def play(moment: object) -> None:
        perform(text, folder / "dances" / "dance.pha", Library(store=store, moment=moment), Performer(build_rig(), UP))

    play(moment)
    assert looked["read_map"] == 1 and looked["stamp"] == 3
    looked.clear()
    play(moment)
    assert set(looked) == {"candidates"}
    assert looked["candidates"] == 5, "one for the included score, and four in the score's folder, where nothing lies"
    (folder / "dances" / "walk.bvh").write_bytes((folder / "walk.bvh").read_bytes())
    looked.clear()
    play(object())
    assert looked["read_map"] == 1 and looked["stamp"] == 3


def test_a_library_with_other_clips_knows_those_that_were_read(folder: Path, counts: Counter[str],
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    """But it looks again for what was not there, and asks whoever it is now given for the others."""
    stamps, asked = list[Path](), list[str]()

    def stamp(path: Path) -> store_room.Stamp:
        stamps.append(path)
        return 0, 0, 0

    monkeypatch.setattr(store_room, "stamp", stamp)
    first = Library([folder], moment=object())
    assert [clip.name for clip in first.clips("walk")[0]] == ["walk"]
    with pytest.raises(FileError):
        first.clips("run")

    def find(name: str) -> None:
        asked.append(name)

    second = first.with_other_clips(find)
    stamps.clear()
    assert second.clips("walk")[0] is first.clips("walk")[0]
    assert not stamps and counts == {"walk.bvh": 1}
    with pytest.raises(FileError):
        second.clips("run")
    assert asked == ["run"]
    (folder / "run.bvh").write_bytes((folder / "walk.bvh").read_bytes())
    assert [clip.name for clip in second.clips("run")[0]] == ["run"]


def test_a_file_beside_counts_too(folder: Path) -> None:
    store, paths, times = ClipStore(), (folder / "walk.bvh", folder / "steps.skeleton"), count(1)
    assert [store.read(paths, partial(next, times)) for _ in range(3)] == [1, 1, 1]
    os.utime(paths[1], ns=(5, 5))
    assert store.read(paths, partial(next, times)) == 2
    paths[0].unlink()
    with pytest.raises(FileError, match="cannot be opened"):
        store.read(paths, partial(read_file, paths[0]))


def test_what_was_not_asked_for_longest_goes_first() -> None:
    row = np.zeros(100)
    store, made = ClipStore(max_bytes=3 * row.nbytes), list[str]()

    def make(name: str) -> np.ndarray:
        made.append(name)
        return np.zeros(100)

    def ask(name: str) -> None:
        store.made(name, partial(make, name))

    for name in "abc":
        ask(name)
    ask("a")
    assert made == [*"abc"] and store.size == store.max_bytes
    ask("d")  # in place of b
    ask("a")
    ask("c")
    ask("d")
    assert made == [*"abcd"]
    ask("b")
    assert made == [*"abcdb"] and store.size == store.max_bytes


def test_more_than_the_store_holds_is_made_each_time_and_drives_nothing_out() -> None:
    store = ClipStore(max_bytes=1000)
    store.made("small", lambda: np.zeros(10))
    first, second = (store.made("large", lambda: np.zeros(1000)) for _ in range(2))
    assert first is not second and store.size == 80
    store.made("small", lambda: pytest.fail("was driven out"))


def test_a_store_too_small_plays_all_the_same(folder: Path, counts: Counter[str]) -> None:
    store = ClipStore(max_bytes=200_000)
    for _ in range(2):
        np.testing.assert_array_equal(played(store, folder).sample(np.array((0.5,))).rotations,
                                      played(ClipStore(), folder).sample(np.array((0.5,))).rotations)
        assert store.size <= store.max_bytes
    assert counts["steps.skeleton"] > 2


def test_the_bytes_counted_are_those_that_played_clips_take(folder: Path) -> None:
    """A clip that was sampled keeps its keys laid out: they are counted before they are there."""
    store = ClipStore()
    for interpolation in ("SLERP", "SQUAD"):
        played(store, folder, settings=Settings(interpolation=interpolation, translation="SPLINE"))
    for entry in store._entries.values():
        if isinstance(entry.value, Retargeted):
            true = arrays_in(entry.value.clip) - arrays_in(entry.value.clip.skeleton)
            assert 0.4 * entry.size <= true <= entry.size


def arrays_in(value: object, seen: set[int] | None = None) -> int:
    """Return the bytes of all arrays that a value holds, whatever made them."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else \
        vars(value).values() if hasattr(value, "__dict__") and not isinstance(value, type) else ()
    return sum(arrays_in(part, seen) for part in parts)


def test_bytes_are_counted_once_for_what_is_shared() -> None:
    row = np.zeros(4)
    assert bytes_of((row, [row], {"again": row})) == 32
    assert bytes_of(("text", None, 3, b"bytes")) == 0


@pytest.mark.slow
def test_threads_that_ask_for_the_same_get_the_same(folder: Path) -> None:
    store, together = ClipStore(), Barrier(8)

    def ask(_: int) -> tuple[object, object]:
        together.wait()
        motion = played(store, folder)
        return motion.clips[0], store.made("key", object)

    with ThreadPoolExecutor(8) as pool:
        clips, values = zip(*pool.map(ask, range(8)), strict=True)
    assert len(set(map(id, values))) == 1
    assert len(set(map(id, clips))) == 1
