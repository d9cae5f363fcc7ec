"""USD made by hand: what is read of each encoding, what is left out, and every error with its place."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from takt.core.clips.clip_file import ClipFile
from takt.core.errors import FileError
from takt.core.formats import usd, usd_lz4
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core import usd_files
from takt.tests.core.usd_files import JOINTS, TIMES, TURNS, WAYS, array, crate, literal, packed, text


def package(data: bytes, name: str = "a.usda", compression: int = zipfile.ZIP_STORED) -> bytes:
    """Return a package with one file."""
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", compression) as made:
        made.writestr(name, data)
    return found.getvalue()


def assert_dances(file: ClipFile, unit_m: float = 1.0, rate: float = 24.0) -> None:
    """Check that it is the hand-made dance."""
    (clip,) = file.clips
    assert clip.name == "Dance" and set(clip.skeleton.names) == {path.rpartition("/")[2] for path in JOINTS}
    times = (np.array(TIMES) - 1.0) / rate
    assert clip.duration_s == pytest.approx(times[-1])
    pose = clip.sample(times)
    order = [clip.skeleton.index_of[path.rpartition("/")[2]] for path in JOINTS]
    assert rot.angle_between(pose.rotations[:, order], TURNS).max() < 1e-6
    np.testing.assert_allclose(clip.skeleton.rest_translations[order], unit_m * np.array(WAYS), atol=1e-6)
    np.testing.assert_allclose(pose.translations, 0.0, atol=1e-6)


@pytest.mark.parametrize("data", [text(), crate(), crate((0, 4)), crate((0, 6)), crate((0, 7)), package(text()),
                                  package(crate(), "b.usdc"), text().replace(b"\n", b"\r\n")])
def test_the_same_dance_is_read_from_every_encoding(data: bytes) -> None:
    file = usd.read(data)
    assert_dances(file)
    assert file.warnings == ()


def test_unit_and_rate_are_those_of_the_layer() -> None:
    assert_dances(usd.read(text(head="metersPerUnit = 0.5\n timeCodesPerSecond = 12")), 0.5, 12.0)
    assert_dances(usd.read(text(head="framesPerSecond = 30")), 0.01, 30.0)
    assert_dances(usd.read(crate(metersPerUnit=0.5, timeCodesPerSecond=12.0)), 0.5, 12.0)


def test_z_up_stands_upright() -> None:
    head = 'metersPerUnit = 1\n upAxis = "Z"'
    lying = "float3 xformOp:rotateXYZ = (90, 0, 0)\n uniform token[] xformOpOrder = [\"xformOp:rotateXYZ\"]"
    (clip,) = usd.read(text(head=head, body=lying)).clips
    world = world_from_pose(clip.skeleton, clip.sample(np.zeros(1)))[0, :, :, 3]
    np.testing.assert_allclose(world[clip.skeleton.index_of["Head"]], (0.0, 1.7, 0.0), atol=1e-6)


def test_what_stands_around_a_skeleton_and_moves_is_a_joint() -> None:
    moving = ("double3 xformOp:translate.timeSamples = { 1: (0, 0, 0), 25: (2, 0, 0) }\n"
              'uniform token[] xformOpOrder = ["xformOp:translate"]')
    (clip,) = usd.read(text(body=moving)).clips
    world = world_from_pose(clip.skeleton, clip.sample(np.array((0.0, 0.5, 1.0))))
    np.testing.assert_allclose(world[:, clip.skeleton.index_of["Hips"], 0, 3], (0.0, 1.0, 2.0), atol=1e-6)


def test_operations_are_taken_in_their_order_and_turned_round() -> None:
    operations = ('float xformOp:rotateZ = 90\n float3 xformOp:scale = (2, 2, 2)\n double3 xformOp:translate:pivot = '
                  '(3, 0, 0)\n quatf xformOp:orient = (0.7071068, 0, 0, 0.7071068)\n uniform token[] xformOpOrder = '
                  '["xformOp:translate:pivot", "xformOp:rotateZ", "!invert!xformOp:translate:pivot", '
                  '"!invert!xformOp:orient"]')
    moving = 'double3 xformOp:translate.timeSamples = { 1: (0, 0, 0), 25: (0, 1, 0) }'
    (clip,) = usd.read(text(body=operations.replace("float xformOp:rotateZ = 90",
                                                    "float xformOp:rotateZ.timeSamples = { 1: 90, 25: 180 }")
                            + "\n" + moving)).clips
    world = world_from_pose(clip.skeleton, clip.sample(np.array((0.0, 1.0)), "SLERP"))[:, :, :, 3]
    # The hips at (0, 1, 0) are turned by −90° to (1, 0, 0), and then about (3, 0, 0) by 90° and 180°.
    np.testing.assert_allclose(world[:, clip.skeleton.index_of["Hips"]], [(3.0, -2.0, 0.0), (5.0, 0.0, 0.0)], atol=1e-5)


def test_what_is_around_a_skeleton_scales_it_and_its_way() -> None:
    small = 'float3 xformOp:scale = (0.01, 0.01, 0.01)\n uniform token[] xformOpOrder = ["xformOp:scale"]'
    (dance,) = usd.read(text(head="metersPerUnit = 1")).clips
    (scaled,) = usd.read(text(head="metersPerUnit = 1", body=small)).clips
    times = np.linspace(0.0, dance.duration_s, 7)
    np.testing.assert_allclose(world_from_pose(scaled.skeleton, scaled.sample(times))[..., 3],
                               0.01 * world_from_pose(dance.skeleton, dance.sample(times))[..., 3], atol=1e-9)


def test_joints_that_an_animation_leaves_out_keep_their_rest() -> None:
    data = text().decode()
    begin = data.index("uniform token[] joints", data.index("SkelAnimation"))
    short = data[:begin] + data[begin:].replace(usd_files.names(JOINTS), usd_files.names(JOINTS[:2]))
    for turn in TURNS:
        short = short.replace(array(turn), array(turn[:2]))
    for whole in (WAYS, np.ones((len(JOINTS), 3))):
        short = short.replace(array(whole), array(whole[:2]))
    (clip,) = usd.read(short.encode()).clips
    moved = {clip.skeleton.names[joint] for joint in np.flatnonzero(clip.moved).tolist()}
    assert moved == {"Hips", "Spine"}


def test_further_animations_of_the_same_joints_are_clips_too() -> None:
    more = text().decode()
    begin = more.index("def SkelAnimation")
    second = more[begin:more.index("}\n    }\n}", begin) + 1].replace('"Dance"', '"Bow"')
    file = usd.read(text(more=second))
    assert [clip.name for clip in file.clips] == ["Dance", "Bow"]


@pytest.mark.parametrize(("more", "warning"), [
    ('def Xform "Set" ( references = @set.usd@</Set> )\n{\n}', "left out: references of '/Set'"),
    ('def Xform "Set" ( prepend payload = [@a.usd@, @b.usd@] )\n{\n}', "left out: payload of '/Set'"),
    ('def Xform "Set" {\n variantSet "look" = {\n "a" {\n def Skeleton "S" {\n}\n}\n }\n}', "left out: variants of"),
    ('over "Set" ( inherits = </Body> ) { }', "left out: inherits of '/Set'")])
def test_what_other_layers_bring_in_is_left_out_and_said(more: str, warning: str) -> None:
    file = usd.read(text(more=more))
    assert_dances(file)
    assert any(each.startswith(warning) for each in file.warnings)


def test_values_of_all_kinds_are_passed_over() -> None:
    body = '''custom string a = "one } ] ) ' \\" two" ( doc = """many
    lines ) " of it""" )
    asset b = @./a(b).png@
    asset[] c = [@a@, @@@b@c@@@]
    /* a comment ) } */
    double[] d = [1, 2, # three
      3]
    dictionary e = { int[] f = [1]
      string "g h" = "x" }
    int i.connect = </Body.j>
    add rel k = [</A>, </B>]
    rel l = None
    float m = None
    token n (allowedTokens = ["a", "b"])
    string o = \'\'\'it\'s\'\'\'
    matrix4d p = ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1) )
    string[] q.timeSamples = { 1: ["a", "}"], 2: None }
    float r.spline = { bezier, 1: 5; post held, }
    reorder nameChildren = ["Rig"]'''
    assert_dances(usd.read(text(body=body)))


@pytest.mark.parametrize(("change", "line", "message"), [
    (lambda data: data.replace(b"#usda", b"#xusd"), None, "this is no USD file"),
    (lambda data: data.replace(b"(1.0, 0.0, 0.0, 0.0)", b"(nan, 0.0, 0.0, 0.0)", 1), 16, "found 'nan', which is"),
    (lambda data: data.replace(b"1.0: [(", b"x: [(", 1), 24, "found 'x' where a time code"),
    (lambda data: data.replace(b"0.0, 0.0), (", b"0.0), (", 1), 16, "holds 143 numbers; a multiple of 16"),
    (lambda data: data[:data.index(b"quatf[]")], None, r"the file ends where .* is wanted: it is cut off"),
    (lambda data: data.replace(b"def SkelAnimation", b"def SkelAnimation {", 1), None, "found '{' where a prim's name"),
    (lambda data: data.replace(b'"Hips/Spine"', b'"Hips"', 1), 14, "has the joint 'Hips' twice"),
    (lambda data: data.replace(b"def Skeleton", b"over Skeleton"), 1, "has no Skeleton of UsdSkel"),
    (lambda data: data.replace(b"metersPerUnit = 1", b"metersPerUnit = 0"), 4, "metersPerUnit is 0; a number greater"),
    (lambda data: data.replace(usd_files.names(JOINTS).encode(), b"[7]", 1), 17, "where names are wanted"),
    (lambda data: data + b'def X "a" { string s = "no end\n}', None, "a text begins here that has no end")])
def test_what_is_wrong_with_a_text_is_refused_with_its_line(change: Callable[[bytes], bytes], line: int | None,
                                                            message: str) -> None:
    changed = change(text())
    assert changed != text()
    with pytest.raises(FileError, match=message) as caught:
        usd.read(changed, Path("a.usda"))
    if line is not None:
        assert caught.value.problems[0].place.line == line


def test_a_text_that_is_cut_anywhere_is_refused_or_read_as_far_as_it_goes() -> None:
    data = text()
    for end in range(0, len(data), 7):
        try:
            usd.read(data[:end])
        except FileError:
            continue


@pytest.mark.slow
def test_a_crate_that_is_cut_or_flipped_anywhere_is_refused_with_its_byte_or_read() -> None:
    data = crate()
    for end in range(0, len(data) - 1, 3):
        with pytest.raises(FileError, match=r"byte|no USD file"):
            usd.read(data[:end])
    for at in range(0, len(data), 5):
        broken = bytearray(data)
        broken[at] ^= 1 << at % 8
        try:
            usd.read(bytes(broken))
        except FileError:
            continue


@pytest.mark.parametrize(("data", "message"), [
    (package(b"x", "a.png"), "has no layer of USD among its 1 files"),
    (package(text(), compression=zipfile.ZIP_DEFLATED), "compressed or encrypted"),
    (package(text())[:300], "cannot be read"), (b"", "begins with"), (b"PXR-USDC" + bytes(80), "version 0.0")])
def test_packages_and_headers_that_are_none_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        usd.read(data)


def test_a_block_that_would_grow_without_end_is_refused() -> None:
    bomb = b"\x1fa\x01\x00" + b"\xff" * 100_000 + b"\x00"
    with pytest.raises(ValueError, match="holds more than 1000 bytes"):
        usd_lz4.block(bomb, 1000)
    for damaged, message in ((b"\x10a\x05\x00", "before its beginning"), (b"\x50ab", "ends within"),
                             (b"\xf0", "cut off")):
        with pytest.raises(ValueError, match=message):
            usd_lz4.block(damaged, 1000)


def test_integers_come_back_in_all_widths() -> None:
    rng = np.random.default_rng(4)
    for scale in (1, 100, 10_000, 2**30):
        wanted = rng.integers(-scale, scale, 100)
        np.testing.assert_array_equal(usd_lz4.integers(packed(wanted.tolist())[8:], 100), wanted)
    with pytest.raises(ValueError, match="hold no 100 integers"):
        usd_lz4.integers(literal(b"\1\0\0\0"), 100)


def test_two_skeletons_each_have_their_own_dance() -> None:
    one = text().decode()
    two = one[one.index("def SkelRoot"):].replace('"Body"', '"Other"').replace("/Body/", "/Other/")
    file = usd.read((one + two.replace('"Dance"', '"Waltz"').replace("Rig/Dance", "Rig/Waltz")).encode())
    assert [clip.name for clip in file.clips] == ["Dance", "Waltz"]
    assert file.clips[0].skeleton is not file.clips[1].skeleton
