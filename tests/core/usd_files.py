"""USD made by hand: a skeleton of joints in each other with an animation, as text and as a crate file."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from takt.core.maths.arrays import FloatArray

JOINTS = ("Hips", "Hips/Spine", "Hips/Spine/Head", "Hips/LegL", "Hips/LegL/FootL", "Hips/LegR", "Hips/LegR/FootR",
          "Hips/Spine/ArmL", "Hips/Spine/ArmR")
WAYS = ((0, 1, 0), (0, 0.4, 0), (0, 0.3, 0), (0.1, -0.1, 0), (0, -0.8, 0), (-0.1, -0.1, 0), (0, -0.8, 0),
        (0.3, 0.2, 0), (-0.3, 0.2, 0))
TIMES = (1.0, 13.0, 25.0)
TURNS = np.array([[(np.cos(a), np.sin(a), 0.0, 0.0)] * len(JOINTS) for a in (0.0, 0.1, 0.05)])


def bound() -> FloatArray:
    """Return where joints are, (J, 4, 4) for row vectors."""
    found = np.tile(np.eye(4), (len(JOINTS), 1, 1))
    for joint, path in enumerate(JOINTS):
        parts = path.split("/")
        found[joint, 3, :3] = np.sum([WAYS[JOINTS.index("/".join(parts[:n + 1]))] for n in range(len(parts))], axis=0)
    return found


def resting() -> FloatArray:
    """Return joints in their parents' space, (J, 4, 4) for row vectors."""
    found = np.tile(np.eye(4), (len(JOINTS), 1, 1))
    found[:, 3, :3] = WAYS
    return found


def rows(values: Sequence[Any] | FloatArray) -> str:
    """Write numbers in round brackets, row in row."""
    return "(" + ", ".join(rows(each) if np.ndim(each) else repr(float(each)) for each in values) + ")"


def array(values: Sequence[Any] | FloatArray) -> str:
    """Write an array."""
    return "[" + ", ".join(rows(each) if np.ndim(each) else repr(float(each)) for each in values) + "]"


def names(words: Sequence[str]) -> str:
    """Write names."""
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def text(head: str = 'metersPerUnit = 1\n    upAxis = "Y"', rig: str = "", dance: str = "", more: str = "",
         body: str = "") -> bytes:
    """Return a file of text. head: the layer's metadata; rig, dance, body, more: further lines in prims, and prims."""
    turns = "".join(f"{time}: {array(turn)},\n" for time, turn in zip(TIMES, TURNS, strict=True))
    return f"""#usda 1.0
(
    "made by hand"
    {head}
    customLayerData = {{ dictionary a = {{ string b = "}}" }} }}
)

def SkelRoot "Body" (
    prepend apiSchemas = ["SkelBindingAPI"]
)
{{
    {body}
    def Skeleton "Rig" # a skeleton
    {{
        uniform matrix4d[] bindTransforms = {array(bound())}
        uniform token[] joints = {names(JOINTS)}
        uniform matrix4d[] restTransforms = {array(resting())}
        rel skel:animationSource = </Body/Rig/Dance>
        {rig}
        def SkelAnimation "Dance"
        {{
            uniform token[] joints = {names(JOINTS)}
            quatf[] rotations.timeSamples = {{
{turns}            }}
            half3[] scales = {array(np.ones((len(JOINTS), 3)))}
            float3[] translations = {array(WAYS)}
            {dance}
        }}
    }}
}}
{more}
""".encode()


def literal(data: bytes) -> bytes:
    """Return a block of LZ4 in which all stands as it is, after the 0 that says that there is one."""
    if len(data) < 15:
        return bytes((0, len(data) << 4)) + data
    rest = len(data) - 15
    return bytes((0, 0xF0)) + b"\xff" * (rest // 255) + bytes((rest % 255,)) + data


def packed(values: Sequence[int]) -> bytes:
    """Return integers as a crate file has them, with their length before them."""
    steps = np.diff(np.array(values, np.int64), prepend=0)
    codes, body = [], b""
    for step in steps.tolist():
        code = 0 if step == 1 else 1 if -128 <= step < 128 else 2 if -32768 <= step < 32768 else 3
        codes.append(code)
        body += b"" if not code else struct.pack("<" + "bhi"[code - 1], step)
    codes += [0] * (-len(codes) % 4)
    bits = bytes(sum(code << 2 * place for place, code in enumerate(codes[at:at + 4]))
                 for at in range(0, len(codes), 4))
    data = literal(struct.pack("<i", 1) + bits + body)
    return struct.pack("<Q", len(data)) + data


class Crate:
    """Collects values and specs, and writes the file."""

    def __init__(self, version: tuple[int, int] = (0, 8)) -> None:
        self.version, self._tokens, self._body = version, {"": 0}, bytearray(88)
        self._fields: list[tuple[int, int]] = []
        self._sets: list[int] = []
        self._specs: dict[str, tuple[int, int]] = {}

    def token(self, word: str) -> int:
        """Return the number of a token."""
        return self._tokens.setdefault(word, len(self._tokens))

    def named(self, word: str) -> int:
        """Return the value of a token."""
        return 1 << 62 | 11 << 48 | self.token(word)

    def number(self, value: float) -> int:
        """Return the value of a number."""
        return 1 << 62 | 9 << 48 | int(struct.unpack("<I", struct.pack("<f", value))[0])

    def put(self, data: bytes) -> int:
        """Keep bytes; return where they stand."""
        at = len(self._body)
        self._body += data
        return at

    def array(self, kind: int, values: np.ndarray) -> int:
        """Return the value of an array of numbers, of a type."""
        size = struct.pack("<Q" if self.version >= (0, 7) else "<I", len(values))
        rank = b"" if self.version >= (0, 5) else b"\1\0\0\0"
        return 1 << 63 | kind << 48 | self.put(rank + size + values.tobytes())

    def names(self, words: Sequence[str]) -> int:
        """Return the value of an array of tokens."""
        return self.array(11, np.array([self.token(word) for word in words], "<u4"))

    def samples(self, times: Sequence[float], values: Sequence[int]) -> int:
        """Return the value of time samples."""
        of_times = self.put(struct.pack("<Q", len(times)) + np.array(times, "<f8").tobytes())
        at = self.put(struct.pack("<q", 8) + struct.pack("<Q", 48 << 48 | of_times) + struct.pack("<q", 8)
                      + struct.pack("<Q", len(values)) + np.array(values, "<u8").tobytes())
        return 46 << 48 | at

    def spec(self, path: str, kind: int, fields: Mapping[str, int]) -> None:
        """Add a spec."""
        first = len(self._sets)
        for name, rep in fields.items():
            self._sets.append(len(self._fields))
            self._fields.append((self.token(name), rep))
        self._sets.append(-1)
        self._specs[path] = kind, first

    def paths(self, *targets: str) -> int:
        """Return the value of paths of a relationship; they are given their numbers when the file is written."""
        return 34 << 48 | self.put(bytes((3,)) + struct.pack("<Q", len(targets)) + b"".join(
            struct.pack("<I", sorted(self._specs).index(path)) for path in targets))

    def written(self) -> bytes:
        """Return the file."""
        paths = sorted(self._specs)
        numbers, words, jumps = list[int](), list[int](), list[int]()

        def below(path: str) -> list[str]:
            return [each for each in paths if each != "/" and (
                each.rpartition("." if "." in each else "/")[0] or "/") == path]

        def walk(path: str, is_last: bool) -> None:
            own = below(path)
            here = len(numbers)
            numbers.append(paths.index(path))
            name = path.rpartition("." if "." in path else "/")[2]
            words.append(-self.token(name) if "." in path else self.token(name))
            jumps.append(0)
            for each in own:
                walk(each, each == own[-1])
            size = len(numbers) - here
            jumps[here] = (-2 if not own else -1) if is_last else size if own else 0

        walk("/", True)
        specs = [self._specs[path] for path in paths]
        texts = b"".join(word.encode() + b"\0" for word in self._tokens)
        reps = literal(np.array([rep for _, rep in self._fields], "<u8").tobytes())
        count = struct.pack("<Q", len(paths))
        sections = {
            "TOKENS": struct.pack("<QQQ", len(self._tokens), len(texts), len(literal(texts))) + literal(texts),
            "STRINGS": struct.pack("<Q", 0),
            "FIELDS": struct.pack("<Q", len(self._fields)) + packed([name for name, _ in self._fields])
            + struct.pack("<Q", len(reps)) + reps,
            "FIELDSETS": struct.pack("<Q", len(self._sets)) + packed(self._sets),
            "PATHS": count + count + packed(numbers) + packed(words) + packed(jumps),
            "SPECS": count + packed(list(range(len(paths)))) + packed([first for _, first in specs])
            + packed([kind for kind, _ in specs])}
        table = struct.pack("<Q", len(sections))
        for name, data in sections.items():
            table += struct.pack("<16sqq", name.encode(), self.put(data), len(data))
        at = self.put(table)
        self._body[:24] = b"PXR-USDC" + bytes((*self.version, 0, 0, 0, 0, 0, 0)) + struct.pack("<q", at)
        return bytes(self._body)


def crate(version: tuple[int, int] = (0, 8), **layer: float) -> bytes:
    """Return the same as a crate file; layer: numbers of its metadata."""
    made = Crate(version)
    is_def = 1 << 62 | 42 << 48
    for path in ("/Body", "/Body/Rig", "/Body/Rig/Dance"):
        made.spec(path, 6, {"specifier": is_def})
    made.spec("/", 7, {"upAxis": made.named("Y")} | {name: made.number(value) for name, value in (
        {"metersPerUnit": 1.0} | layer).items()})
    for path, kind in (("/Body", "SkelRoot"), ("/Body/Rig", "Skeleton"), ("/Body/Rig/Dance", "SkelAnimation")):
        made.spec(path, 6, {"specifier": is_def, "typeName": made.named(kind)})

    def attribute(path: str, kind: str, field: str, rep: int) -> None:
        made.spec(path, 1, {"typeName": made.named(kind), field: rep})

    matrices = {"bindTransforms": bound(), "restTransforms": resting()}
    for name, values in matrices.items():
        attribute(f"/Body/Rig.{name}", "matrix4d[]", "default", made.array(15, values.reshape(-1, 16).astype("<f8")))
    for prim in ("/Body/Rig", "/Body/Rig/Dance"):
        attribute(f"{prim}.joints", "token[]", "default", made.names(JOINTS))
    turns = [made.array(17, turn[:, (1, 2, 3, 0)].astype("<f4")) for turn in TURNS]
    attribute("/Body/Rig/Dance.rotations", "quatf[]", "timeSamples", made.samples(TIMES, turns))
    attribute("/Body/Rig/Dance.scales", "half3[]", "default", made.array(25, np.ones((len(JOINTS), 3), "<f2")))
    attribute("/Body/Rig/Dance.translations", "float3[]", "default", made.array(24, np.array(WAYS, "<f4")))
    made.spec("/Body/Rig.skel:animationSource", 8, {})
    made.spec("/Body/Rig.skel:animationSource", 8, {"targetPaths": made.paths("/Body/Rig/Dance")})
    return made.written()
