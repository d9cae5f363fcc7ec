"""Buffers compressed by meshopt: what its own library has compressed, our own groups, damaged data, whole files."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.clips.clip import Clip
from takt.core.errors import FileError
from takt.core.formats import gltf
from takt.core.formats.format import Source
from takt.core.formats.meshopt import decompressed
from takt.tests.core.gltf_files import figure, packed

TIMES = (np.arange(24) / 30).astype("<f4")
INTS = np.column_stack((np.arange(40) ** 2 * 7, -np.arange(40) * 300)).astype("<i2")
SIGNS = (np.where(np.arange(24) % 3 == 0, 1.0, -1.0) * 0.5 ** (np.arange(24) % 5)).astype("<f4")
ANGLES = 0.3 * np.arange(16)
TURNS = np.stack((np.zeros(16), np.sin(ANGLES / 2), np.zeros(16), np.cos(ANGLES / 2)), axis=1)
MOVES = np.column_stack((np.arange(16) * 0.01, np.ones(16), -np.arange(16) * 3.0))
TURN_BITS, MOVE_SHARE = 2.0**-10, 2.0**-14
# By meshopt_encodeVertexBufferLevel of meshoptimizer, version 0 at its default level and version 1 at level 3; TURNS by
# meshopt_encodeFilterQuat with 12 bits, MOVES by meshopt_encodeFilterExp with 15 bits and one exponent for each vector.
COMPRESSED: dict[str, tuple[str, Any]] = {
    "0, bytes, of floats": (
        "pa%f$0EmY~L`2IXA|fIpA|n6)008ap?eFdH?e7Nw?*NF0L_|c(A|fIpA|fRJ{{R5*?eFdH?eFae01*F(ctk`*G$JA*A|fIr|Nj605E2j)5E2"
        "j)0Wg370(t-d00000000000000000000000000000000000000", TIMES),
    "0, bytes, of integers": (
        "pdSDZDn?>{nzqvJ_1V3lg=tMO6$T<cT6U7I%I5vy#i{?_0050~RXH6RHYorCA}SyvBqAgtLPSDDL_`1p0018VS65e8S65e8S65e8S65e8S65"
        "e8S65e8S65e8S65g6{{R42S65e8S65dRHC<KJ0|NtHRn=Vs0|Qr800093000000000000000000000000000000000000000", INTS),
    "1, pairs of bytes, of floats": (
        "p+5la0EmY~L`2IXA|fIpA|mbY?eFdH?e75Y0Emc0L`2LYA|fIpA|meY?(XjH?(P5(0El=*L_{<qA|fIpA|wzJ5E2j)5E20f0D1uc00000000"
        "000000000000000000003", TIMES),
    "1, pairs of bytes, of integers": (
        "p?3fdDn?>{nzqvJ3MN8cdX}=z>INb{T6U7I%H{$dI#zOys>b5}8a5>W00mW6s;d730|NsyGc!a000000S65e8S65e8S65e8S65e8S65e8S65"
        "e8S65e8S65e8S65e8S65dRDypigs;a80s;U40000000000000000000000000000001", INTS),
    "1, exclusive or, of floats": (
        "p=kvXMHEp*6aWAU0WowF7eO&}6Bj`-0000000000000000000000000000000DwOd", SIGNS),
}
OF_TURNS = ("pa1{^0G+Yf@T8>8^1`N^ro{Hi0s=xp0~0Yb6951K01N;C0{{R300000000000000000000000000000000000{|5")
OF_MOVES = ("paKsM|N5%0WMonk6ci^d0003h2m$~A0Y3}@03Qzr0{{Uk2m$~A0uK-W`@6qYRbLnv7ce#f5C8xG0V)Ur00000000000000000000"
            "0000000000^8g?K^8f$<^8")


@pytest.mark.parametrize("how", COMPRESSED)
def test_what_meshopts_own_library_has_compressed_is_read_to_the_last_bit(how: str) -> None:
    data, wanted = COMPRESSED[how]
    assert decompressed(base64.b85decode(data), len(wanted), wanted.nbytes // len(wanted)) == wanted.tobytes()


def test_rotations_and_floats_of_fewer_bits_are_read_as_near_as_these_say() -> None:
    turns = np.frombuffer(decompressed(base64.b85decode(OF_TURNS), 16, 8, "QUATERNION"), "<i2").reshape(-1, 4) / 32767.0
    assert np.abs(np.linalg.norm(turns, axis=1) - 1.0).max() < 1e-4
    assert np.abs(turns * np.sign((turns * TURNS).sum(axis=1))[:, None] - TURNS).max() < TURN_BITS
    moves = np.frombuffer(decompressed(base64.b85decode(OF_MOVES), 16, 12, "EXPONENTIAL"), "<f4").reshape(-1, 3)
    assert (np.abs(moves - MOVES).max(axis=1) <= MOVE_SHARE * np.abs(MOVES).max(axis=1)).all()


def compressed(elements: np.ndarray) -> bytes:
    """Compress bytes (N, stride) as version 0, with as few bits for each group as it can."""
    count, stride = elements.shape
    steps = np.diff(np.vstack((elements[:1], elements)), axis=0).astype(np.uint8)
    zigzag = (steps << 1) ^ np.where(steps & 0x80, 0xff, 0).astype(np.uint8)
    most, out = min(8192 // stride // 16 * 16, 256), bytearray(b"\xa0")
    for start in range(0, count, most):
        block = zigzag[start:start + most]
        block = np.vstack((block, np.zeros((-len(block) % 16, stride), np.uint8)))
        for position in range(stride):
            groups = [group(own) for own in block[:, position].reshape(-1, 16)]
            header = [mode for mode, _ in groups] + [0] * (-len(groups) % 4)
            out += bytes(sum(mode << 2 * i for i, mode in enumerate(header[at:at + 4]))
                         for at in range(0, len(header), 4))
            out += b"".join(data for _, data in groups)
    return bytes(out) + bytes(max(32 - stride, 0)) + bytes(elements[0])


def group(values: np.ndarray) -> tuple[int, bytes]:
    """Return how 16 differences are stored in the fewest bytes."""
    found = [(3, values.tobytes())]
    if not values.any():
        return 0, b""
    for mode, bits in ((1, 2), (2, 4)):
        full = (1 << bits) - 1
        short = np.minimum(values, full)
        fields = [sum(int(v) << (8 - bits - bits * i) for i, v in enumerate(part))
                  for part in short.reshape(-1, 8 // bits)]
        found.append((mode, bytes(fields) + values[values >= full].tobytes()))
    return min(found, key=lambda each: len(each[1]))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 600), st.integers(1, 10), st.sampled_from((0, 1, 3, 30, 256)), st.integers(0, 2**31))
def test_groups_of_all_widths_are_read(count: int, words: int, reach: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = rng.integers(-reach, reach + 1, (count, 4 * words)) * (rng.random((count, 4 * words)) < 0.7)
    elements = np.cumsum(steps, axis=0).astype(np.uint8)
    assert decompressed(compressed(elements), count, 4 * words) == elements.tobytes()


def test_damaged_data_is_refused() -> None:
    data = base64.b85decode(COMPRESSED["0, bytes, of integers"][0])
    for length in range(len(data)):
        with pytest.raises(ValueError, match=r"damaged|cut off|no compressed numbers"):
            decompressed(data[:length], 40, 4)
    for count, stride, kind, says in ((39_999, 4, "NONE", "cut off or damaged"), (40, 6, "NONE", "byteStride is 6"),
                                      (40, 4, "COLOR", "'COLOR'; one of NONE, QUATERNION, EXPONENTIAL is read")):
        with pytest.raises(ValueError, match=says):
            decompressed(data, count, stride, kind)
    channels = base64.b85decode(COMPRESSED["1, exclusive or, of floats"][0])
    with pytest.raises(ValueError, match="mode 3, which there is not"):
        decompressed(channels[:-1] + b"\3", 24, 4)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from((0xa0, 0xa1)), st.integers(0, 700), st.integers(1, 8))
def test_rubbish_is_read_or_refused_and_nothing_else(data: bytes, first: int, count: int, words: int) -> None:
    try:
        assert len(decompressed(bytes((first,)) + data, count, 4 * words)) == 4 * words * count
    except ValueError as error:
        assert str(error)


def clips_of(document: Any, binary: bytes) -> tuple[Clip, ...]:
    return gltf.read(Source(packed(json.dumps(document).encode(), binary), Path("bow.glb"))).clips


@pytest.mark.parametrize("extension", ["EXT_meshopt_compression", "KHR_meshopt_compression"])
def test_compressed_motion_of_a_file_is_read_as_the_plain_one(extension: str) -> None:
    made = figure()
    document, binary = json.loads(json.dumps(made.document())), bytearray()
    sizes = {"SCALAR": 4, "VEC3": 12, "VEC4": 16, "MAT4": 64}
    for accessor in document["accessors"]:
        view = document["bufferViews"][accessor["bufferView"]]
        stride = 4 if accessor["componentType"] == 5121 else sizes[accessor["type"]]
        plain = made.binary[view["byteOffset"]:view["byteOffset"] + view["byteLength"]]
        data = compressed(np.frombuffer(bytes(plain), np.uint8).reshape(-1, stride))
        view |= {"buffer": 1, "byteOffset": 2 * view["byteOffset"], "extensions": {extension: {
            "buffer": 0, "byteOffset": len(binary), "byteLength": len(data), "byteStride": stride,
            "count": len(plain) // stride, "mode": "ATTRIBUTES"}}}
        binary += data
    document["buffers"] = [{"byteLength": len(binary)}, {"byteLength": 10**6}]
    document["extensionsRequired"] = [extension]
    (plain_clip,), (clip,) = clips_of(made.document(), bytes(made.binary)), clips_of(document, bytes(binary))
    times = np.linspace(0.0, 1.0, 7)
    for ours, theirs in zip(vars(clip.sample(times)).values(), vars(plain_clip.sample(times)).values(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert clip.skin is not None
    how = document["bufferViews"][-4]["extensions"][extension]
    for key, value, says in (("mode", "TRIANGLES", "mode is 'TRIANGLES'; ATTRIBUTES is wanted"),
                             ("byteLength", 10**9, "bytes at .* are not in buffer 0"), ("filter", "COLOR", "filter"),
                             ("count", 7 * 10**7, "whole number"), ("byteStride", 3, "byteStride is 3")):
        kept = dict(how)
        how[key] = value
        refused = [view for view in document["bufferViews"] if view["extensions"][extension] is how]
        assert refused
        document["animations"][0]["samplers"][0]["input"] = document["accessors"].index(next(
            each for each in document["accessors"] if document["bufferViews"][each["bufferView"]] in refused))
        with pytest.raises(FileError, match=rf"bufferViews\[\d+\]\.extensions\.{extension}: .*{says}"):
            clips_of(document, bytes(binary))
        how.clear()
        how.update(kept)
