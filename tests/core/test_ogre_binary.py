"""OGRE's binary skeletons: bytes made by hand, trips there and back, OGRE's own tools, damaged files."""

import os
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import FileError, TaktError
from takt.core.formats import ogre_binary, ogre_xml
from takt.core.formats.ogre import Base, Link, OgreSkeleton
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.beside import ogre_converter
from takt.tests.core.ogre_cases import FLOAT32, assert_same, assert_same_motion, of_ogre, sinbad, skeletons, small

OGRE_UNITS = 2e-5
"""Greatest distance from OGRE's own joint positions, in units of a Sinbad ten units tall."""

CUTS = int(os.environ.get("TAKT_CUTS", "200"))
"""Places at which the real file is cut off, and bits of it that are flipped."""


def chunk(number: int, payload: bytes, order: str = "<", length: int | None = None) -> bytes:
    return struct.pack(f"{order}HI", number, len(payload) + 6 if length is None else length) + payload


def bone(name: bytes, handle: int, position: tuple[float, ...] = (0, 0, 0), xyzw: tuple[float, ...] = (0, 0, 0, 1),
         scale: tuple[float, ...] = (), order: str = "<") -> bytes:
    payload = struct.pack(f"{order}H{7 + len(scale)}f", handle, *position, *xyzw, *scale)
    return chunk(0x2000, name + b"\n" + payload, order, 6 + len(payload))


def key(time: float, xyzw: tuple[float, ...] = (0, 0, 0, 1), move: tuple[float, ...] = (0, 0, 0),
        scale: tuple[float, ...] = (), order: str = "<") -> bytes:
    return chunk(0x4110, struct.pack(f"{order}{8 + len(scale)}f", time, *xyzw, *move, *scale), order)


def track(handle: int, *keys: bytes, order: str = "<") -> bytes:
    return chunk(0x4100, struct.pack(f"{order}H", handle) + b"".join(keys), order)


def animation(name: bytes, length: float, *tracks: bytes, order: str = "<") -> bytes:
    return chunk(0x4000, name + b"\n" + struct.pack(f"{order}f", length) + b"".join(tracks), order)


def parent(child: int, above: int, order: str = "<") -> bytes:
    return chunk(0x3000, struct.pack(f"{order}HH", child, above), order)


HEAD = b"\x00\x10[Serializer_v1.80]\n"
HEAD_BIG = b"\x10\x00[Serializer_v1.10]\n"


def failure(data: bytes) -> str:
    with pytest.raises(FileError) as caught:
        ogre_binary.read(data, Path("a.skeleton"))
    return str(caught.value)


@pytest.mark.parametrize(("head", "order"), [(HEAD, "<"), (HEAD_BIG, ">")])
def test_reads_what_the_bytes_say_in_both_orders(head: bytes, order: str) -> None:
    half = 0.5 ** 0.5
    data = (head + bone(b"hand", 7, (0, 2, 0), order=order)
            + bone(b"arm", 3, (1, 2, 3), (half, 0, 0, half), (1, 2, 1), order)
            + parent(7, 3, order) + animation(b"wave hand", 2.0, track(
                7, key(0.0, order=order), key(0.5, (0, half, 0, half), (1, 0, 0), (2, 2, 2), order), order=order),
                order=order))
    ogre = ogre_binary.read(data, Path("x/wave.skeleton"))
    assert (ogre.skeleton.name, ogre.skeleton.names) == ("wave", ("arm", "hand"))
    assert ogre.skeleton.parents.tolist() == [-1, 0]
    assert ogre.handles.tolist() == [3, 7]
    np.testing.assert_allclose(ogre.skeleton.rest_rotations[0], (half, half, 0, 0), atol=FLOAT32)
    np.testing.assert_array_equal(ogre.skeleton.rest_translations, ((1, 2, 3), (0, 2, 0)))
    np.testing.assert_array_equal(ogre.skeleton.rest_scales, ((1, 2, 1), (1, 1, 1)))
    clip, = ogre.clips
    assert (clip.name, clip.duration_s, clip.rotations.joints.tolist()) == ("wave hand", 2.0, [1])
    np.testing.assert_array_equal(clip.rotations.times_s, (0.0, 0.5))
    np.testing.assert_allclose(clip.rotations.values[1], (half, 0, half, 0), atol=FLOAT32)
    np.testing.assert_array_equal(clip.translations.values, ((0, 0, 0), (1, 0, 0)))
    np.testing.assert_array_equal(clip.scales.values, ((1, 1, 1), (2, 2, 2)))
    held = clip.sample(np.array((1.9,)))
    np.testing.assert_allclose(held.translations[0, 1], (1, 0, 0))


def test_parents_after_their_children_are_put_first() -> None:
    data = HEAD + bone(b"toe", 0) + bone(b"foot", 1) + bone(b"leg", 2) + parent(0, 1) + parent(1, 2)
    skeleton = ogre_binary.read(data).skeleton
    assert (skeleton.names, skeleton.parents.tolist()) == (("leg", "foot", "toe"), [-1, 0, 1])


def test_signs_are_made_continuous_and_times_sorted() -> None:
    q = (0.0, 0.6, 0.0, 0.8)
    minus = tuple(-v for v in q)
    data = HEAD + bone(b"b", 0) + animation(b"a", 1, track(0, key(1.0, minus), key(0.0, q), key(0.5, minus)))
    rotations = ogre_binary.read(data).clips[0].rotations
    assert rotations.times_s.tolist() == [0.0, 0.5, 1.0]
    assert (rotations.values[:, 0] > 0.0).all()


def test_tracks_that_only_hold_still_are_no_tracks() -> None:
    clip = ogre_binary.read(HEAD + bone(b"b", 0) + animation(b"a", 1, track(0, key(0), key(1)))).clips[0]
    assert (len(clip.rotations), len(clip.translations), len(clip.scales)) == (1, 0, 0)


def test_a_track_without_keys_moves_nothing() -> None:
    assert not ogre_binary.read(HEAD + bone(b"b", 0) + animation(b"a", 1, track(0))).clips[0].moved.any()


def test_long_runs_of_mixed_keys_keep_their_order() -> None:
    scales = [(2, 2, 2) if i % 97 in (0, 1, 5) or i > 900 else () for i in range(1000)]
    data = HEAD + bone(b"b", 0) + animation(b"a", 9, track(0, *(key(i / 100, scale=s) for i, s in enumerate(scales))))
    clip = ogre_binary.read(data).clips[0]
    np.testing.assert_allclose(clip.scales.times_s, np.arange(1000) / 100, rtol=FLOAT32)
    np.testing.assert_array_equal(clip.scales.values[:, 0], [2.0 if s else 1.0 for s in scales])


def test_links_blend_mode_and_base_come_back() -> None:
    ogre = small()
    whole = OgreSkeleton(ogre.skeleton, ogre.clips, np.array((4, 9, 1)), "CUMULATIVE", (Link("other.skeleton", 0.5),),
                         {"walk": Base("still", 0.25)})
    for byte_order in ("LITTLE", "BIG"):
        back = ogre_binary.read(ogre_binary.write(whole, "1.80", byte_order))
        assert_same(whole, back)
        assert (back.links, back.bases) == (whole.links, whole.bases)


def test_a_base_is_taken_out_of_the_keys_that_are_played() -> None:
    ogre = small()
    walk, _ = ogre.clips
    played = OgreSkeleton(ogre.skeleton, ogre.clips, ogre.handles, bases={"walk": Base("", 1.0)}).played
    pose = played[0].sample(np.array((1.0,)))
    np.testing.assert_allclose(np.abs(pose.rotations[0, :, 0]), 1.0, atol=1e-12)
    np.testing.assert_allclose(pose.translations, 0.0, atol=1e-12)
    np.testing.assert_allclose(pose.scales, 1.0, atol=1e-12)
    base, start = walk.rotations.values[2], walk.rotations.values[0]
    np.testing.assert_allclose(played[0].rotations.values[0], rot.multiply(rot.conjugate(base), start), atol=1e-12)
    np.testing.assert_allclose(played[0].translations.values[1] - played[0].translations.values[0], (0, 0.5, 3.0))


@given(skeletons(), st.sampled_from(("LITTLE", "BIG")))
@settings(max_examples=60, deadline=None)
def test_there_and_back(ogre: OgreSkeleton, byte_order: ogre_binary.ByteOrder) -> None:
    back = ogre_binary.read(ogre_binary.write(ogre, "1.80", byte_order))
    assert dict(zip(back.skeleton.names, back.handles, strict=True)) == dict(
        zip(ogre.skeleton.names, ogre.handles, strict=True))
    assert_same_motion(ogre, back)
    assert_same(back, ogre_binary.read(ogre_binary.write(back)))


def test_clips_with_different_times_per_channel_are_keyed_at_all_of_them() -> None:
    ogre = small()
    clip = Clip("two", ogre.skeleton, 2.0, ogre.clips[0].rotations, Tracks(
        np.array((1, 2)), np.array((0, 2, 4)), np.array((0.25, 1.5, 0.0, 1.0)), np.arange(12.0).reshape(4, 3)),
        Tracks.empty(3))
    back = ogre_binary.read(ogre_binary.write(OgreSkeleton.of(ogre.skeleton, (clip,)))).clips[0]
    times = np.array((0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0))
    np.testing.assert_allclose(back.sample(times).translations, clip.sample(times).translations, atol=1e-5)


TWO = HEAD + bone(b"b", 0) + bone(b"c", 1)


@pytest.mark.parametrize(("data", "message"), [
    (b"\x00", "a file of 1 bytes; an OGRE skeleton begins with 0x1000"),
    (b"PK\x03\x04", "this is no OGRE skeleton: it begins with bytes 50 4b"),
    (b"\x00\x10[Serializer_v1.00]\n", "version '[Serializer_v1.00]'; read are [Serializer_v1.10] and"),
    (b"\x00\x10" + b"x" * 1000, "(byte 2): the file ends inside the version: no line feed"),
    (TWO[:-3], "the file ends inside bone 'c'"),
    (TWO + b"\x00\x20\x00", "(byte 97): the file ends inside a chunk's header: 6 bytes are wanted, 3 are left"),
    (TWO + chunk(0x7777, b""), "(byte 97): chunk 0x7777 is unknown"),
    (TWO + bone(b"b", 2), "bone 'b': an earlier bone has that name"),
    (TWO + bone(b"d", 1), "bone 'd': an earlier bone has the handle 1"),
    (TWO + bone(b"d", 2, (0, float("nan"), 0)), "finite values and a rotation that is not zero"),
    (TWO + bone(b"d", 2, xyzw=(0, 0, 0, 0)), "finite values and a rotation that is not zero"),
    (TWO + parent(0, 5), "a parent is given with bone 5, which the file does not hold"),
    (TWO + parent(0, 1) + parent(1, 0), "bone 'b' is its own ancestor; the parents form a cycle"),
    (TWO + parent(0, 1) + parent(0, 1), "bone 'b' gets a second parent, 'c'; it has 'c'"),
    (TWO + chunk(0x1010, b"\x05\x00"), "blend mode 5; 0 (average) and 1 (cumulative)"),
    (TWO + chunk(0x5000, b"x\n" + struct.pack("<f", float("inf"))), "a linked skeleton's scale of inf"),
    (TWO + animation(b"a", -1.0), "animation 'a' lasts -1 s; a finite length of at least 0"),
    (TWO + animation(b"a", float("nan")), "animation 'a' lasts nan s"),
    (TWO + animation(b"a", 1) + animation(b"a", 1), "a second animation named 'a'"),
    (TWO + animation(b"a", 1, track(9, key(0))), "animation 'a' moves bone 9, which the file does not hold"),
    (TWO + animation(b"a", 1, track(1, key(0)), track(1, key(0))), "animation 'a' has a second track of bone 'c'"),
    (TWO + animation(b"a", 1, track(1, key(0), key(float("inf")))), "(byte 155): a key (time, rotation wxyz"),
    (TWO + animation(b"a", 1, track(1, key(0, (0, 0, 0, 0)))), "a rotation that is not zero are wanted"),
    (TWO + animation(b"a", 1, track(1, key(0)))[:-1], "but the file ends after"),
    (TWO + track(1), "chunk 0x4100 stands outside of an animation"),
    (TWO + animation(b"a", 1, key(0)), "chunk 0x4110 stands outside of a track"),
    (TWO + animation(b"a", 1, chunk(0x4010, b"a\n" + struct.pack("<f", float("nan")))), "a base key time of nan"),
    (TWO + animation(b"a", 1, chunk(0x4010, b"z\n" + struct.pack("<f", 0))), "animation 'a' is relative to 'z'"),
])
def test_says_what_is_wrong_and_where(data: bytes, message: str) -> None:
    text = failure(data)
    assert text.startswith("a.skeleton (byte ")
    assert message in text


@pytest.mark.filterwarnings("error")
def test_a_signalling_nan_is_refused_without_a_warning() -> None:
    data = TWO + animation(b"a", 1, track(1, key(0, scale=(2, 2, 2))))
    for place in (4, 8, 24, 36):
        at = len(data) - 44 + place
        assert "finite values" in failure(data[:at - 4] + b"\x01\x00\x80\x7f" + data[at:])


def test_a_key_cut_off_in_a_file_whose_lengths_lie_is_found() -> None:
    data = TWO + chunk(0x4000, b"a\n\0\0\0\0", length=12) + chunk(0x4100, b"\1\0", length=8) + key(0)
    assert len(ogre_binary.read(data).clips[0].rotations.times_s) == 1
    assert "the file ends after 37" in failure(data[:-1])


@pytest.mark.parametrize(("change", "version", "message"), [
    ({"blend_mode": "CUMULATIVE"}, "1.10", "holds neither the cumulative blend mode nor base animations"),
    ({"handles": np.array((0, 1, 70_000))}, "1.80", "a bone's handle of 70000; 0 to 65535 fit"),
    ({"links": (Link("a\nb", 1.0),)}, "1.80", r"the name 'a\\nb' holds a line feed"),
    ({"links": (Link("a", 1e39),)}, "1.80", "the number 1e[+]39 does not fit"),
])
def test_what_the_file_cannot_hold_is_refused(change: dict[str, object], version: ogre_binary.Version,
                                              message: str) -> None:
    ogre = small()
    fields = {"skeleton": ogre.skeleton, "clips": ogre.clips, "handles": ogre.handles} | change
    with pytest.raises(TaktError, match=message):
        ogre_binary.write(OgreSkeleton(**fields), version)  # type: ignore[arg-type]


def test_the_value_checks_itself() -> None:
    ogre, other = small(), small()
    with pytest.raises(TaktError, match="1 handles for 3 joints"):
        OgreSkeleton(ogre.skeleton, (), np.zeros(1, np.int64))
    with pytest.raises(TaktError, match="clip 'walk' belongs to another skeleton"):
        OgreSkeleton.of(ogre.skeleton, other.clips)


class TestSinbad:
    """The real file."""

    def test_is_read_in_full_and_written_back(self) -> None:
        data = sinbad().read_bytes()
        ogre = ogre_binary.read(data)
        assert (len(ogre.skeleton), len(ogre.clips)) == (69, 13)
        assert {c.name for c in ogre.clips if c.duration_s == 0.0} == {"HandsClosed", "HandsRelaxed"}
        written = ogre_binary.write(ogre, "1.10")
        assert len(written) == len(data)
        assert_same(ogre, ogre_binary.read(written))
        assert_same(ogre, ogre_binary.read(ogre_binary.write(ogre, "1.80", "BIG")))

    @pytest.mark.slow
    def test_cut_off_anywhere_or_with_a_bit_flipped_it_is_read_or_refused(self) -> None:
        data = sinbad().read_bytes()
        rng = np.random.default_rng(7)
        for cut in rng.integers(0, len(data), CUTS):
            read_or_refuse(data[:cut])
        for bit in rng.integers(0, len(data) * 8, CUTS):
            broken = bytearray(data)
            broken[bit // 8] ^= 1 << bit % 8
            read_or_refuse(bytes(broken))


def test_the_small_file_cut_off_at_every_byte_is_read_or_refused() -> None:
    data = ogre_binary.write(small())
    for cut in range(len(data)):
        read_or_refuse(data[:cut])


@given(st.binary(max_size=400))
@settings(max_examples=100, deadline=None)
def test_noise_after_the_header_is_read_or_refused(noise: bytes) -> None:
    read_or_refuse(HEAD + noise)
    read_or_refuse(TWO + noise)


def read_or_refuse(data: bytes) -> None:
    try:
        ogre_binary.read(data, Path("a.skeleton"))
    except FileError as error:
        assert "byte" in str(error)


def converted(source: Path, ending: str) -> Path:
    """Let OGRE's own converter turn a file from one form into the other."""
    result = source.with_name(source.name.split(".")[0] + "2" + ending)
    done = subprocess.run([ogre_converter(), "-q", str(source), str(result)], cwd=source.parent,
                          capture_output=True, text=True, timeout=60, check=False)
    assert result.exists(), done.stdout + done.stderr
    return result


class TestConverter:
    """OGRE's converter reads what we write, and we read what it writes."""

    UNITS = 2e-3  # it prints six digits of angles that are arc cosines of float32 numbers

    def both(self, ogre: OgreSkeleton, folder: Path, version: ogre_binary.Version,
             byte_order: ogre_binary.ByteOrder) -> None:
        ours = folder / "ours.skeleton"
        ours.write_bytes(ogre_binary.write(ogre, version, byte_order))
        xml = converted(ours, ".skeleton.xml")
        self.close(ogre, ogre_xml.read(xml.read_bytes()))
        ours_xml = folder / "own.skeleton.xml"
        ours_xml.write_bytes(ogre_xml.write(ogre))
        self.close(ogre, ogre_binary.read(converted(ours_xml, ".skeleton").read_bytes()))

    def close(self, a: OgreSkeleton, b: OgreSkeleton) -> None:
        assert a.skeleton.names == b.skeleton.names
        by_name = {clip.name: clip for clip in b.clips}
        assert by_name.keys() == {clip.name for clip in a.clips}
        for clip in a.clips:
            times = np.linspace(0.0, clip.duration_s, 20)
            x = world_from_pose(a.skeleton, clip.sample(times))
            y = world_from_pose(b.skeleton, by_name[clip.name].sample(times))
            np.testing.assert_allclose(x, y, rtol=0.0, atol=self.UNITS)

    @pytest.mark.parametrize("version", ["1.10", "1.80"])
    @pytest.mark.parametrize("byte_order", ["LITTLE", "BIG"])
    def test_reads_ours_and_we_read_its(self, tmp_path: Path, version: ogre_binary.Version,
                                        byte_order: ogre_binary.ByteOrder) -> None:
        self.both(small(), tmp_path, version, byte_order)

    def test_on_the_real_file(self, tmp_path: Path) -> None:
        self.both(ogre_binary.read(sinbad().read_bytes()), tmp_path, "1.80", "LITTLE")

    def test_links_bases_and_blend_mode(self, tmp_path: Path) -> None:
        ogre = small()
        whole = OgreSkeleton(ogre.skeleton, ogre.clips, ogre.handles, "CUMULATIVE", (Link("other.skeleton", 0.5),),
                             {"walk": Base("still", 0.25)})
        path = tmp_path / "a.skeleton"
        path.write_bytes(ogre_binary.write(whole))
        there = ogre_xml.read(converted(path, ".skeleton.xml").read_bytes())
        assert (there.blend_mode, there.links, dict(there.bases)) == (whole.blend_mode, whole.links, whole.bases)


@pytest.mark.ogre
class TestOgre:
    """OGRE 14 evaluates the poses; ours agree on every clip."""

    def distance(self, ogre: OgreSkeleton, path: Path, samples: int = 60) -> dict[str, float]:
        theirs = of_ogre(path, samples)
        assert theirs.keys() == {clip.name for clip in ogre.clips}
        far = {}
        for clip in ogre.played:
            poses = theirs[clip.name]["poses"]
            places = np.array([[pose[name][:3] for name in clip.skeleton.names] for pose in poses])
            ours = world_from_pose(clip.skeleton, clip.sample(np.array(theirs[clip.name]["times"])))[..., 3]
            far[clip.name] = float(np.abs(ours - places).max())
        return far

    def test_agrees_on_the_real_file(self) -> None:
        path = sinbad()
        far = self.distance(ogre_binary.read(path.read_bytes()), path)
        assert max(far.values()) < OGRE_UNITS, far

    def test_agrees_on_ours_with_early_ends_and_a_base(self, tmp_path: Path) -> None:
        ogre = small()
        skeleton = Skeleton.from_arrays(ogre.skeleton.names, ogre.skeleton.parents, ogre.skeleton.rest_rotations,
                                        ogre.skeleton.rest_translations)
        walk, still = ogre.clips
        both = Tracks.uniform(np.array((0, 1)), np.zeros(1), walk.rotations.values[None, 1:3])
        clips = (Clip("walk", skeleton, 2.0, walk.rotations, walk.translations, Tracks.empty(3)),
                 Clip("still", skeleton, 0.0, still.rotations, Tracks.empty(3), Tracks.empty(3)),
                 Clip("stand", skeleton, 0.0, both, Tracks.empty(3), Tracks.empty(3)))
        path = tmp_path / "own.skeleton"
        for bases in ({}, {"walk": Base("stand", 0.0)}, {"walk": Base("", 0.5)}):
            whole = OgreSkeleton(skeleton, clips, np.arange(3), bases=bases)
            path.write_bytes(ogre_binary.write(whole))
            far = self.distance(ogre_binary.read(path.read_bytes()), path)
            assert max(far.values()) < OGRE_UNITS, (bases, far)
