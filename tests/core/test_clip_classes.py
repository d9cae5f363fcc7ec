"""Classes of clips: what people see in clips is found, whatever files do to them; tags are kept beside the clips."""

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from takt.benchmarks.clip_classes import others, own, score
from takt.core.classes import tags_file
from takt.core.classes.after import costs, end_poses, stacked
from takt.core.classes.find import classes_of
from takt.core.classes.matching import MOMENTS, NUMBERS, distances, features, fingerprint
from takt.core.classes.measures import Measures, followed, measure
from takt.core.classes.rules import Classes, classify
from takt.core.clips.clip import Clip
from takt.core.errors import FileError, TaktError
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, perform
from takt.core.retargeting.comparing.upright import scaled, turned
from takt.core.skeletons.hanim import UP
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.samples.clips import MODULES, build_clips
from takt.tests.core.test_reference import lying

WANTED, WANTED_WITHOUT_NAMES = 0.98, 0.95
CLIPS = [clip for module in MODULES for clip in build_clips(module)]


def share(scored: list[tuple[str, str, str]]) -> float:
    assert scored
    return sum(wanted == found for _, wanted, found in scored) / len(scored)


def classes(clip: Clip, name: str = "") -> Classes:
    found = classes_of(clip, find_map(clip.skeleton), name)
    assert found is not None
    return found


@pytest.mark.parametrize(("with_name", "wanted"), [(True, WANTED), (False, WANTED_WITHOUT_NAMES)])
def test_own_clips_get_the_classes_that_a_person_sees(with_name: bool, wanted: float) -> None:
    assert share([each for where, clip, label in own() if where != "as other files have them"
                  for each in score(clip, label, with_name=with_name)]) >= wanted


@pytest.mark.slow
@pytest.mark.parametrize(("with_name", "wanted"), [(True, WANTED), (False, WANTED_WITHOUT_NAMES)])
def test_so_do_they_as_other_files_have_them_and_clips_of_others(with_name: bool, wanted: float) -> None:
    assert share([each for _, clip, label in (*own(), *others())
                  for each in score(clip, label, with_name=with_name)]) >= wanted


def own_measures(name: str) -> Measures:
    clip = next(clip for clip in CLIPS if clip.name == name)
    body = followed(clip, find_map(clip.skeleton))
    assert body is not None
    return measure(body)


@pytest.mark.parametrize("name", ["side_step_left", "side_step_right"])
def test_one_step_that_moves_both_feet_is_a_gait_also_if_no_name_says_so(name: str) -> None:
    found = classify(own_measures(name))
    assert (found.gait, found.direction) == ("walk", "sideways")
    assert classify(replace(own_measures(name), carried=0.05)).gait == "gesture"  # a foot stays: a lunge


def test_who_moves_one_limb_alone_is_not_idle() -> None:
    waves = replace(own_measures("hello"), reach=0.1)
    assert max(waves.shares.values()) > 0.9 and classify(waves).gait == "gesture"
    even = dict.fromkeys(waves.shares, 1.0 / len(waves.shares))
    assert classify(replace(waves, shares=even)).gait == classify(replace(waves, energy=0.02)).gait == "idle"


def test_who_is_off_the_ground_most_of_the_time_jumps() -> None:
    low = replace(own_measures("jump"), rise=0.05, in_air_s=0.3)
    assert classify(replace(low, air_share=0.6)).gait == "jump" != classify(replace(low, air_share=0.4)).gait


@pytest.mark.parametrize("clip", CLIPS[::3], ids=lambda clip: clip.name)
def test_neither_unit_nor_axes_count(clip: Clip) -> None:
    plain = classes(clip)
    assert classes(scaled(clip, 100.0)) == plain
    about_x = turned(clip, rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.pi / 2.0))
    found = classes(about_x)
    assert (found.gait, found.turn, found.start, found.place) == (plain.gait, plain.turn, plain.start, plain.place)


def test_what_lies_is_said_to_lie_and_what_is_no_body_has_no_classes() -> None:
    assert classes(lying()).start == classes(lying()).end == "lying"
    chain = Skeleton.from_arrays(["a", "b"], [-1, 0], rot.identities(2), np.eye(2, 3))
    assert classes_of(replace(lying(), skeleton=chain), find_map(chain)) is None


def test_words_are_found_by_the_shelfs_search() -> None:
    assert {"travelling", "walk", "standing"} <= set(classes(CLIPS[0]).words)


def test_names_decide_what_numbers_leave_open_and_nothing_else() -> None:
    run = next(clip for clip in CLIPS if clip.name == "left_run")
    assert classes(replace(run, name="")).gait == "walk" and classes(replace(run, name=""), "gaits.run").gait == "run"
    wave = next(clip for clip in CLIPS if clip.name == "wave")
    assert classes(replace(wave, name="walk run")).gait == "gesture"


@cache
def prints() -> np.ndarray:
    found = [followed(clip, find_map(clip.skeleton)) for clip in CLIPS]
    return np.stack([fingerprint(body) for body in found if body is not None])


def test_features_are_27_numbers_of_each_moment() -> None:
    body = followed(CLIPS[0], find_map(CLIPS[0].skeleton))
    assert body is not None
    every = features(body)
    assert every.shape == (len(body.times_s), NUMBERS) and np.isfinite(every).all()
    assert prints().shape == (len(CLIPS), MOMENTS, NUMBERS)
    turn = rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), np.array(1.1))
    same = followed(turned(CLIPS[0], turn), find_map(CLIPS[0].skeleton.turned(turn)))
    assert same is not None
    np.testing.assert_allclose(features(same), every, atol=1e-6)


def test_the_most_alike_clip_is_the_one_that_does_the_same() -> None:
    names = [clip.name for clip in CLIPS]
    for name, nearest in (("left_step", {"right_step", "left_run"}), ("left_run", {"right_run", "left_step"}),
                          ("wave", {"hello"})):
        away = distances(prints()[names.index(name)], prints())
        assert away[names.index(name)] == pytest.approx(0.0, abs=1e-6)
        assert names[int(np.argsort(away)[1])] in nearest
    between = np.stack([distances(each, prints()) for each in prints()])
    np.testing.assert_allclose(between, between.T, atol=1e-6)


def test_a_part_of_a_clip_is_more_like_it_than_other_clips_are() -> None:
    jump = next(clip for clip in CLIPS if clip.name == "jump")
    away = distances(prints()[CLIPS.index(jump)], prints())
    assert int(np.argmin(away)) == CLIPS.index(jump)


def test_tags_are_kept_in_order_and_read_again(tmp_path: Path) -> None:
    tags_file.with_tags(tmp_path, "b.walk", ("slow", tags_file.FAVOURITE, "slow"))
    tags_file.with_tags(tmp_path, "a: odd name", ("für den König",))
    assert (tmp_path / tags_file.NAME).read_text(encoding="utf-8") == (
        "# Takt tags 1\na: odd name: für den König\nb.walk: slow, favourite\n")
    assert tags_file.read_lines(tmp_path)[0] == {"a: odd name": ("für den König",), "b.walk": ("slow", "favourite")}
    tags_file.with_tags(tmp_path, "b.walk", ())
    assert tags_file.read_lines(tmp_path)[0] == {"a: odd name": ("für den König",)}


def test_no_file_is_left_without_tags_but_for_comments(tmp_path: Path) -> None:
    path = tmp_path / tags_file.NAME
    tags_file.with_tags(tmp_path, "walk", ())
    assert not path.exists()
    tags_file.with_tags(tmp_path, "walk", ("slow",))
    tags_file.with_tags(tmp_path, "walk", ())
    assert not path.exists()
    path.write_text("# Takt tags 1\nwalk: slow\n# ask the king\nrun: fast\n", encoding="utf-8")
    tags_file.with_tags(tmp_path, "run", ())
    assert path.read_text(encoding="utf-8") == "# Takt tags 1\n# ask the king\nwalk: slow\n"
    tags_file.with_tags(tmp_path, "walk", ())
    assert path.read_text(encoding="utf-8") == "# Takt tags 1\n# ask the king\n"


@pytest.mark.parametrize(("text", "reason"), [
    (b"", "begins with"), (b"# Takt tags 2\n", "newer"), (b"# Takt tags x\n", "begins with"),
    (b"# Takt tags 1\nwalk\n", "expected a clip's name"), (b"\xff\xfe", "no text in UTF-8")])
def test_damaged_and_newer_tags_are_refused_and_stay(tmp_path: Path, text: bytes, reason: str) -> None:
    path = tmp_path / tags_file.NAME
    path.write_bytes(text)
    for attempt in (lambda: tags_file.parse(text, path), lambda: tags_file.with_tags(tmp_path, "a", ("b",))):
        with pytest.raises(FileError, match=reason):
            attempt()
    assert path.read_bytes() == text


def test_a_damaged_line_of_tags_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / tags_file.NAME
    path.write_bytes("\ufeff# Takt tags 1\r\na.walk: slow\r\nnothing\r\nb: für den König\r\n".encode())
    tags, damaged = tags_file.read_lines(tmp_path)
    assert tags == {"a.walk": ("slow",), "b": ("für den König",)}
    assert [str(each) for each in damaged] == [
        f"{path}:3: found 'nothing', expected a clip's name, a colon, and tags with commas between them"]
    assert tags_file.read_lines(tmp_path / "nowhere") == ({}, [])


def test_tags_that_another_blender_gives_meanwhile_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, count = os.fsync, [0]

    def other(descriptor: int) -> None:
        own(descriptor)
        count[0] += 1
        if count[0] == 1:
            (tmp_path / tags_file.NAME).write_text("# Takt tags 1\nrun: fast\n", encoding="utf-8")

    monkeypatch.setattr(os, "fsync", other)
    tags_file.with_tags(tmp_path, "walk", ("slow",))
    assert tags_file.read_lines(tmp_path)[0] == {"run": ("fast",), "walk": ("slow",)}


@pytest.mark.parametrize("tag", ["a,b", "a:b", "a\nb", " "])
def test_what_cannot_be_a_tag_is_refused(tmp_path: Path, tag: str) -> None:
    with pytest.raises(TaktError, match="cannot be a tag"):
        tags_file.with_tags(tmp_path, "walk", (tag,))
    assert not (tmp_path / tags_file.NAME).exists()


def exact_costs(first: Clip, others: list[Clip]) -> np.ndarray:
    """What seams cost as Fit measures them, on one body."""
    found = []
    for other in others:
        library = Library(other_clips={"a": (first,), "b": (other,)}.get)
        text = ('<pha tickLength="1"><load src="a"/><load src="b"/><procedure name="main"><call name="a" '
                f'duration="{first.duration_s}"/><call name="b" duration="{other.duration_s}"/></procedure></pha>')
        motion = perform(text, None, library, Performer(first.skeleton, UP), Settings(fit="SEARCH"))
        assert motion.cuts is not None
        found.append(float(motion.cuts.authored[0]))
    return np.array(found)


@pytest.mark.parametrize("name", ["left_step", *(pytest.param(name, marks=pytest.mark.slow)
                                                 for name in ("wave", "jump", "right_run"))])
def test_what_fits_after_a_clip_is_what_costs_least_as_fit_measures_it(name: str) -> None:
    first = next(clip for clip in CLIPS if clip.name == name)
    ends = [end_poses(body) for clip in CLIPS if (body := followed(clip, find_map(clip.skeleton))) is not None]
    told = costs(ends[CLIPS.index(first)][1], stacked([start for start, _ in ends]))
    exact = exact_costs(first, CLIPS)
    ranked = exact[np.argsort(told, kind="stable")]
    assert (ranked[:5] <= 1.3 * np.sort(exact)[:5] + 0.02).all()
