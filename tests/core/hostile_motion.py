"""Files of motion made to hurt: glTF and BVH whose few lines make very much, or that are very long.

Each family yields cases; a case is called and either returns or raises TaktError, soon, in little memory.
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from takt.core.formats import bvh, gltf
from takt.core.formats.format import Source

Case = Callable[[], object]
FLOATS: Final = 5126
STRIDE: Final = 16


def read_gltf(data: bytes, named: Callable[[str], bytes] | None = None) -> object:
    """Read a glTF file; named: returns the files that it names."""
    assert gltf.FORMAT.read is not None
    return gltf.FORMAT.read(Source(data, Path("made.gltf"), named=named))


def document(**lists: Any) -> bytes:
    """Return a glTF file of what it lists."""
    return json.dumps({"asset": {"version": "2.0"}, **lists}).encode()


def accessor(count: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"componentType": FLOATS, "count": count, "type": kind, **more}


def star(count: int) -> list[dict[str, Any]]:
    """Return nodes of which the first has all others as its children."""
    return [{"children": list(range(1, count))}, *[{}] * (count - 1)]


def chain(count: int) -> list[dict[str, Any]]:
    """Return nodes of which each has the next as its child."""
    return [*({"children": [at + 1]} for at in range(count - 1)), {}]


def turned(nodes: int, inputs: int = 1) -> dict[str, Any]:
    """Return an animation that turns so many nodes, by accessors 0 (times; the first so many) and then rotations."""
    return {"samplers": [{"input": at, "output": inputs} for at in range(inputs)],
            "channels": [{"sampler": node % inputs, "target": {"node": node, "path": "rotation"}}
                         for node in range(nodes)]}


def many_buffers(uri: str, count: int) -> bytes:
    """Return a file with so many buffers, all of one uri, in each of which some key's times and rotations lie."""
    return document(
        buffers=[{"uri": uri, "byteLength": 4096}] * count, nodes=star(count),
        bufferViews=[{"buffer": at, "byteLength": 4096} for at in range(count)],
        accessors=[*(accessor(2, "SCALAR", bufferView=at) for at in range(count)), accessor(2, "VEC4", bufferView=0)],
        animations=[turned(count, count)])


def one_bit_groups(count: int) -> bytes:
    """Compress elements of STRIDE bytes that are all 0 by meshopt, in groups of one bit a difference."""
    most, out = min(8192 // STRIDE // 16 * 16, 256), bytearray(b"\xa1")
    for start in range(0, count, most):
        groups = -(-min(most, count - start) // 16)
        out += bytes(STRIDE // 4)
        out += (b"\x55" * -(-groups // 4) + b"\0\0" * groups) * STRIDE
    return bytes(out) + bytes(max(STRIDE + STRIDE // 4, 24))


def compressed(count: int) -> bytes:
    """Return a file that turns nodes by such groups."""
    data = one_bit_groups(count)
    how = {"buffer": 0, "byteLength": len(data), "byteStride": STRIDE, "count": count, "mode": "ATTRIBUTES"}
    view = {"buffer": 1, "byteLength": count * STRIDE, "extensions": {"EXT_meshopt_compression": how}}
    return document(buffers=[{"uri": "data:," + base64.b64encode(data).decode(), "byteLength": len(data)},
                             {"byteLength": count * STRIDE}],
                    bufferViews=[view], nodes=star(9), animations=[turned(9)],
                    accessors=[accessor(2, "SCALAR"), accessor(2, "VEC4", bufferView=0)])


def moving(**lists: Any) -> bytes:
    """Return a file of what it lists, whose accessors 0 and 1 are two times and two rotations, half a turn apart."""
    keys = np.array((0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0), "<f4").tobytes()
    views = [{"buffer": 0, "byteLength": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": 32}]
    own = [accessor(2, "SCALAR", bufferView=0), accessor(2, "VEC4", bufferView=1)]
    return document(**lists | {"accessors": own + lists.get("accessors", [])}, bufferViews=views,
                    buffers=[{"uri": "data:," + base64.b64encode(keys).decode(), "byteLength": len(keys)}])


def gltfs() -> Mapping[str, Callable[[], object]]:
    """Return files whose lists, buffers or groups multiply, as what reads each."""
    joints = {"joints": list(range(5_000))}
    return {
        "one file in many buffers": partial(read_gltf, many_buffers("z.bin", 100), lambda _: bytes(64 * 2**20)),
        "files in many buffers": partial(read_gltf, many_buffers("z.bin", 9).replace(b'"z.bin"', b'"%d.bin"').replace(
            b"%d", b"a", 1).replace(b"%d", b"b", 1).replace(b"%d", b"c"), lambda _: bytes(120 * 2**20)),
        "data in many buffers": partial(read_gltf, many_buffers(
            "data:," + base64.b64encode(bytes(1_000_000)).decode(), 50)),
        "groups of one bit": partial(read_gltf, compressed(500_000)),
        "more groups than are read": partial(read_gltf, compressed(4_000_000)),
        "empty lists": partial(read_gltf, b'{"asset": {"version": "2.0"}, "x": [' + b"[]," * 10_000_000 + b"[]]}"),
        "many skins of many joints": partial(read_gltf, document(nodes=star(5_000), skins=[joints] * 400)),
        "many skins with matrices": partial(read_gltf, document(
            nodes=star(5_000), accessors=[accessor(5_000, "MAT4")], skins=[joints | {"inverseBindMatrices": 0}] * 400)),
        "skins that span all nodes": partial(read_gltf, document(nodes=chain(20_000), skins=[
            {"joints": [0, 19_999]}] * 1_000)),
        "many skins of one joint": partial(read_gltf, document(nodes=chain(20_000), skins=[
            {"joints": [at]} for at in range(1_000)])),
        "a skin of nodes of one name": partial(read_gltf, document(nodes=[{"name": "a"}] * 20_000, skins=[
            {"joints": list(range(20_000))}])),
        "many channels": partial(read_gltf, moving(nodes=star(2_000), animations=[turned(2_000)] * 200)),
        "many animations of many bodies": partial(read_gltf, moving(
            nodes=[{"children": list(range(at + 1, at + 9))} if at % 9 == 0 else {} for at in range(900)],
            animations=[turned(900)] * 100)),
        "bodies below many moving nodes": partial(read_gltf, moving(
            nodes=[*chain(10_000)[:-1], {"children": list(range(10_000, 19_000, 9))},
                   *({"children": list(range(at + 1, at + 9))} if at % 9 == 1 else {} for at in range(10_000, 19_000))],
            animations=[turned(19_000)], skins=[
                {"joints": list(range(at, at + 9))} for at in range(10_000, 19_000, 9)])),
        "a mesh of many parts": partial(read_gltf, moving(
            nodes=[*star(60)[:1], *[{"mesh": 0, "skin": 0}] * 59], skins=[{"joints": list(range(60))}],
            meshes=[{"primitives": [{"attributes": {"POSITION": 2, "JOINTS_0": 3, "WEIGHTS_0": 3}}] * 5_000}],
            accessors=[accessor(1_000, "VEC3"), accessor(1_000, "VEC4")], animations=[turned(60)])),
    }


def _bvh(frames: str, count: int, *, joints: int = 1, head: str = "") -> bytes:
    channels = "OFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
    hierarchy = "".join(f"{'JOINT' if at else 'ROOT'} j{at}\n{{\n{channels}" for at in range(joints)) + (
        "End Site\n{\nOFFSET 0 1 0\n}\n" + "}\n" * joints)
    return f"HIERARCHY\n{head}{hierarchy}MOTION\nFrames: {count}\nFrame Time: 0.01\n{frames}".encode()


def bvhs() -> Mapping[str, Callable[[], object]]:
    """Return files of many frames, long lines, deep hierarchies, as what reads each."""
    return {
        "many frames": lambda: bvh.read(_bvh("0 0 0\n" * 1_000_000, 1_000_000)),
        "more frames than are read": lambda: bvh.read(_bvh("0 0 0\n" * 3_000_000, 3_000_000)),
        "more frames than announced": lambda: bvh.read(_bvh("0 0 0\n" * 100_000, 1)),
        "long numbers": lambda: bvh.read(_bvh("1.2345678901234 -0.5e-3 123.45678901\n" * 100_000, 100_000)),
        "one number of many digits": lambda: bvh.read(_bvh("0 0 " + "1" * 20_000_000, 1)),
        "one long line": lambda: bvh.read(_bvh("0 " * 3_000_000, 1_000_000)),
        "blank lines": lambda: bvh.read(_bvh("\n" * 30_000_000, 1)),
        "many joints in joints": lambda: bvh.read(_bvh(" ".join(["0 0 0"] * 5_000), 1, joints=5_000)),
        "many joints": lambda: bvh.read(_bvh("", 1, joints=100_000)),
        "braces": lambda: bvh.read(_bvh("0 0 0", 1, head="{" * 20_000_000)),
        "offsets": lambda: bvh.read(_bvh("0 0 0", 1).replace(b"OFFSET", b"OFFSET 0 0 0\n" * 1_000_000 + b"OFFSET", 1)),
        "blanks": lambda: bvh.read(b"HIERARCHY\n" + b" " * 30_000_000),
        "blanks behind the frame time": lambda: bvh.read(_bvh("0 0 0", 1).replace(
            b"0.01", b"0.01" + b" " * 1_000_000 + b"x")),
        "a frame time of many digits": lambda: bvh.read(_bvh("0 0 0", 1).replace(
            b"0.01", b"0." + b"0" * 1_000_000 + b"1")),
    }


def family(files: Callable[[], Mapping[str, Callable[[], object]]]) -> Iterator[Case]:
    """Yield a case for each of some files."""
    made = dict(files())
    while made:  # what was tried need not be kept
        yield made.pop(next(iter(made)))
