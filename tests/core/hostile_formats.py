"""Hostile files of USD, and of characters in X3D and COLLADA; see hostile.py."""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from takt.core.formats import collada, collada_character, gltf, usd, x3d
from takt.core.formats.format import Source
from takt.core.formats.gzipped import MAX_UNPACKED
from takt.core.formats.xml import MAX_KEPT_BYTES, MAX_TAG_BYTES
from takt.tests.core import collada_files, usd_files
from takt.tests.core.gltf_files import packed
from takt.tests.core.test_vrm import file_of
from takt.tests.core.x3d_files import dancer, in_classic, in_vrml, in_xml

Case = Callable[[], object]
Change = Callable[[bytes, Callable[[bytes], object], int], Iterator[Case]]

_PIECES = ("{", "}", "[", "]", "(", ")", "=", ":", ",", "<", ">", '"', "'''", '"""', "@", "@@@", "#", "/*", "nan",
           "1e999", "-1", "None", "def", "over", "rel", "variantSet", "timeSamples", "x" * 5000, "9" * 5000,
           "</Body>", "\0", "uniform", "quatf[]", "token[]", "prepend")
DRESSED = """<X3D><Scene><HAnimHumanoid DEF="h" name="Ann">
<Coordinate DEF="p" containerField="skinCoord" point="0 1 0, 1 1 0, 1 2 0, 0 2 0"/>
<HAnimJoint DEF="r" containerField="skeleton" name="humanoid_root" center="0 1 0" skinCoordIndex="0 1 2 3"
 skinCoordWeight="1 .5 .25 1"><HAnimJoint name="l_hip" center="0.1 0.9 0"><HAnimSegment><Transform rotation="0 0 1 1">
<Shape DEF="s"><TriangleStripSet stripCount="3"><Coordinate point="0 0 0 1 0 0 0 1 0"/></TriangleStripSet></Shape>
</Transform><Shape USE="s"/></HAnimSegment></HAnimJoint></HAnimJoint><Shape containerField="skin"><Appearance>
<Material diffuseColor="1 .5 0"/><ImageTexture url='"data:image/png;base64,AAEC" "a.png"'/></Appearance>
<IndexedFaceSet coordIndex="0 1 2 3 -1" texCoordIndex="0 1 2 3 -1"><Coordinate USE="p"/>
<TextureCoordinate point="0 0 1 0 1 1 0 1"/><Normal vector="0 0 1 0 0 1 0 0 1 0 0 1"/></IndexedFaceSet></Shape>
</HAnimHumanoid></Scene></X3D>"""


def read_x3d(data: bytes) -> object:
    """Read the characters of an X3D file."""
    read = x3d.FORMAT.read_characters
    return read(Source(data, Path("made.x3d"))) if read else None


def usd_words(count: int) -> Iterator[Case]:
    """Change a text word by word, and give it brackets, texts and prims without end."""
    random = np.random.default_rng(12)
    words = re.findall(r"\s+|[\[\](){}=,]|[^\s\[\](){}=,]+", usd_files.text().decode())
    for _ in range(count):
        changed = list(words)
        for _ in range(int(random.integers(1, 6))):
            at = int(random.integers(2, len(changed)))
            changed[at] = str(random.choice(_PIECES)) if random.random() < 0.7 else changed[int(random.integers(at))]
        yield partial(usd.read, "".join(changed).encode())
    head = "#usda 1.0\n"
    for bad in ("[" * 10**6, "(" * 10**6, 'def "a" {' * 10**5, 'def "a" {}\n' * 2 * 10**5, '"' * 10**6, "'''" * 10**5,
                "#" * 10**6, "/*" * 10**6, "@" * 10**6, "<" * 10**6, 'def "a" { int a = ' + "[" * 10**6,
                'def "a" { int a.timeSamples = { ' + "1: 1, " * 10**6 + "} }",
                'def "a" { float a = [' + "1, " * 4 * 10**6 + "] }", 'def "a" { rel a = [' + "</a>, " * 10**6 + "] }",
                "(" + "a = 1\n" * 10**6, 'variantSet "a" = ' + "{ " * 10**6, 'def "a" { ' + "int a = 1\n" * 10**6,
                "a" * 10**7, "a:" * 10**6, ";" * 10**7, "\n" * 10**7, 'def "' + "a/" * 10**5 + '" {}'):
        yield partial(usd.read, (head + bad).encode())
    joints = ", ".join(f'"{"/".join(["a"] * (i % 90 + 1))}{i}"' for i in range(9_000))
    rig = 'def Skeleton "R{}" {{ uniform token[] joints = [' + joints + "] }}\n"
    yield partial(usd.read, (head + rig.format(0)).encode())
    yield partial(usd.read, (head + "".join(rig.format(i) for i in range(60))).encode())
    dance = usd_files.text()[usd_files.text().index(b"def SkelAnimation"):-8].decode()
    dances = "".join(dance.replace('"Dance"', f'"D{i}"') for i in range(1500))
    yield partial(usd.read, usd_files.text(more=dances))
    ops = "".join(f"double3 xformOp:translate:a{i}.timeSamples = {{ 1: (0, 0, 0), 1e8: (1, 1, 1) }}\n"
                  for i in range(500))
    order = ", ".join(f'"xformOp:translate:a{i}"' for i in range(500))
    yield partial(usd.read, usd_files.text(body=ops + f"uniform token[] xformOpOrder = [{order}]"))


def crates_without_end() -> Iterator[Case]:
    """Give crate files counts, sizes and blocks of which more would come than there is."""
    data = usd_files.crate()
    random = np.random.default_rng(13)
    table = int.from_bytes(data[16:24], "little")
    for _ in range(60):  # the sections' places and the counts at their beginnings
        broken = bytearray(data)
        number = int(random.integers(6))
        entry = table + 8 + 32 * number
        begin = int.from_bytes(data[entry + 16:entry + 24], "little")
        at = int(random.choice((16, table, entry + 16, begin, begin + 8, begin + 16)))
        value = int(random.choice((0, 1, 2**16, 2**31, 2**40, 2**62, 2**63 - 1, len(data), begin)))
        broken[at:at + 8] = value.to_bytes(8, "little")
        yield partial(usd.read, bytes(broken))
    for bomb in (b"\x1fa\x01\x00" + b"\xff" * 4 * 10**6 + b"\x00", b"\x10a\x01\x00" * 10**6, b"\xff" * 4 * 10**6,
                 b"\x00" * 4 * 10**6):
        for number in range(6):
            entry = table + 8 + 32 * number
            packed = b"\0" + bomb
            begin = len(data)
            for sizes in ((1000, 2**26, len(packed)), (200_000, len(packed)), (200_000, 200_000, len(packed))):
                broken = bytearray(data) + b"".join(size.to_bytes(8, "little") for size in sizes) + packed
                broken[entry + 16:entry + 24] = begin.to_bytes(8, "little")
                yield partial(usd.read, bytes(broken))


def dented(corners: int, count: int) -> str:
    """Return shapes with a polygon of so many corners each, every second of which turns back."""
    angles = np.arange(corners) * 2.0 * np.pi / corners
    points = np.stack((np.cos(angles), np.sin(angles), 0.0 * angles), axis=1) * (1.0 + np.arange(corners) % 2)[:, None]
    return (f'<Shape><IndexedFaceSet coordIndex="{" ".join(map(str, range(corners)))}"><Coordinate point="'
            f'{" ".join(f"{value:.5g}" for value in points.ravel())}"/></IndexedFaceSet></Shape>') * count


def characters_without_end() -> Iterator[Case]:
    """Give characters shapes, points and materials without end."""
    shape = '<Shape USE="s"/>'
    text = DRESSED.replace("<HAnimSegment>", "<HAnimSegment>" + shape * 40_000)
    yield partial(read_x3d, text.encode())
    group = "".join(f'<Group DEF="g{i}"><Group USE="g{i + 1}"/><Group USE="g{i + 1}"/></Group>' for i in range(60))
    yield partial(read_x3d, DRESSED.replace("<HAnimSegment>", f"<HAnimSegment>{group}").encode())
    yield partial(read_x3d, DRESSED.replace("<HAnimSegment>", '<HAnimSegment><Group DEF="g"><Group USE="g"/></Group>'
                                            ).encode())
    yield partial(read_x3d, DRESSED.replace('stripCount="3"', 'stripCount="' + "9 " * 10**6 + '"').encode())
    yield partial(read_x3d, DRESSED.replace("0 1 2 3 -1", "0 1 2 " * 10**6).encode())
    yield partial(read_x3d, DRESSED.replace("AAEC", "A" * 10**7).encode())
    for corners, count in ((100_000, 1), (1_000, 10), (60, 2_000), (5, 10_000)):
        yield partial(read_x3d, DRESSED.replace("<HAnimSegment>", f"<HAnimSegment>{dented(corners, count)}").encode())
        shape = dented(corners * min(count, 2_000), 1)
        yield partial(read_x3d, DRESSED.replace("<HAnimSegment>", f"<HAnimSegment>{shape}").encode())
    leg = collada_files.dressed().decode()
    loop = " ".join(f"{3 * (number % 2)} 0 0" for number in range(100_000))
    yield partial(collada_character.read, re.sub("<triangles(.*?)<p>.*?</p></triangles>", lambda found: (
        f"<polygons{found[1]}<p>{loop}</p></polygons>"), leg).encode())
    worn = leg[leg.index('<node id="Left_node">'):leg.index('<node id="Right_node">')]
    for before, after in (("<vcount>", "<vcount>" + "9 " * 10**6), ("<v>", "<v>" + "0 " * 10**6),
                          ('set="0"/><p>', 'set="0"/><p>' + "0 " * 10**6), (worn, worn * 5_000),
                          ('<instance_geometry url="#Hat"/>', '<instance_geometry url="#Hat"/>' * 50_000),
                          ("<source>surface</source>", "<source>sampler</source>")):
        yield partial(collada_character.read, leg.replace(before, after).encode())


def read_compressed(data: bytes) -> object:
    """Read a compressed X3D file."""
    read = x3d.COMPRESSED.read
    return read(Source(data, Path("made.x3dz"))) if read else None


def endlessly(begin: bytes, piece: bytes, size: int) -> bytes:
    """Compress a beginning and then a piece over and over, up to a size, without ever having all of it.

    After a full flush the packer knows nothing of what came before, so a packed block may follow itself.
    """
    packer, block = zlib.compressobj(9, wbits=-15), piece * (2**20 // len(piece))
    first = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    count, crc = (size - len(begin)) // len(block), zlib.crc32(begin)
    for _ in range(count):
        crc = zlib.crc32(block, crc)
    ending = crc.to_bytes(4, "little") + (len(begin) + count * len(block)).to_bytes(4, "little")
    return b"\x1f\x8b\x08" + bytes(5) + b"\x02\xff" + first + packed * count + packer.flush() + ending


def compressed_bombs() -> Iterator[Case]:
    """Compress what is far larger than it looks, also twice, in thousands of parts, and up to the limit."""
    head = b"#X3D V3.3 utf8\n"
    for begin, piece in ((b"", b"\0"), (b"<X3D><Scene>", b"<a/>"), (b"<X3D>", b"<a>"), (b"<X3D a='", b"9 "),
                         (head, b" "), (head, b"#"), (head, b"Group{}"), (head, b"["), (head, b'"'),
                         (head + b"A { b [", b"1 "), (head, b"\n"), (head, b"a"),
                         (head + b"DEF a ", b"Group { children [ ")):
        for size in (MAX_UNPACKED - 99, 4 * MAX_UNPACKED):
            data = endlessly(begin, piece, size)
            yield partial(read_compressed, data)
            yield partial(read_compressed, gzip.compress(data))
            yield partial(read_compressed, data + data)
    yield partial(read_compressed, gzip.compress(b"") * 10**6)
    yield partial(read_compressed, gzip.compress(b" " * 10**5) * 999)


def names_without_end() -> Iterator[Case]:
    """Give one DEF to thousands of nodes, and lead thousands of routes to nothing and to what cannot take them."""
    nodes, routes = dancer()
    sent, taken = routes[1][0], routes[1][2]
    for more in ("".join(f'<Group DEF="{taken}"/>' for _ in range(40_000)),
                 '<ROUTE fromNode="a" fromField="b" toNode="c" toField="d"/>' * 40_000,
                 f'<ROUTE fromNode="{sent}" fromField="value_changed" toNode="{taken}" toField="set_scale"/>' * 40_000):
        yield partial(x3d.read, in_xml(nodes, routes, more))
    for count in (40_000, 60_000):
        yield partial(x3d.read_classic, in_classic(nodes, routes, "ROUTE a.b TO c.d\n" * count))


def tags_without_end() -> Iterator[Case]:
    """Fill tags, comments and instructions up to what a file may hold."""
    most = MAX_KEPT_BYTES - 200
    for begin, piece, end in (('<a b="', "1 ", '"/>'), ('<a b="&amp;', "1 ", '"/>'), ('<a b="', "\n", '"/>'),
                              ("<a b='", '"', "'/>"), ("<a b='", 'c="1" ', "'/>"), ("<!--", "1 ", "-->"),
                              ("<?a ", "1 ", "?>"), ("<a ", "a", "/>"), ("<a ", 'a="1" ', "/>"), ("<", "a", "/>")):
        for size in (most, MAX_TAG_BYTES - 999):
            tag = begin + piece * ((size - len(begin) - len(end)) // len(piece)) + end
            yield partial(x3d.read, f"<X3D><Scene>{tag * (most // len(tag))}</Scene></X3D>".encode())


def vrmas(count: int, damaged: Change) -> Iterator[Case]:
    """Damage a dance of VRM's bones, and give it tables of bones that are not there, or without end."""
    document, binary = file_of("VRMC_vrm_animation")

    def read(data: bytes) -> object:
        return gltf.read(Source(data, Path("made.vrma")))

    yield from damaged(packed(json.dumps(document).encode(), binary), read, count)
    table: object
    for table in ({f"bone{i}": {"node": i % 17} for i in range(10**5)}, {"hips": {"node": 10**9}}, {"hips": []}, [], 7,
                  {"hips": {"node": 1}, "spine": {"node": 1}}, {"hips": {"node": -1}}, {"hips": {"node": 1e300}}):
        document["extensions"] = {"VRMC_vrm_animation": {"humanoid": {"humanBones": table}}}
        yield partial(read, packed(json.dumps(document).encode(), binary))


def misnamed() -> Iterator[Case]:
    """Call files by the endings of others, and give them nothing, blanks and noise as large as files may be."""
    noise, large = np.random.default_rng(14).bytes(10**6), bytes(200 * 2**20)
    for entry in (x3d.FORMAT, x3d.CLASSIC, x3d.VRML, x3d.COMPRESSED, gltf.FORMAT, gltf.VRMA, collada.FORMAT,
                  usd.FORMAT):
        read = entry.read
        assert read is not None
        for data in (b"", b" " * 10**7, noise, large, in_xml(*dancer()), usd_files.crate(), b"<", b"{", b"#",
                     b"PK\x03\x04", b"\xff\xfe" + noise, b"\xfe\xff", b"\xef\xbb\xbf", gzip.compress(noise)):
            yield partial(read, Source(data, Path(f"made{entry.endings[0]}")))


def families(count: int, damaged: Change, mutated: Change) -> dict[str, Callable[[], Iterator[Case]]]:
    """Return the families; damaged, mutated: those of hostile.py."""
    return {".usda, cut and flipped": partial(damaged, usd_files.text(), usd.read, count),
            ".usda, word by word": partial(usd_words, count),
            ".usdc, cut and flipped": partial(damaged, usd_files.crate(), usd.read, count),
            ".usdc, without end": crates_without_end,
            ".wrl, cut and flipped": partial(damaged, in_vrml(*dancer()), x3d.read_classic, count),
            ".x3dz, cut and flipped": partial(damaged, gzip.compress(in_xml(*dancer())), read_compressed, count),
            ".x3dz, bombs": compressed_bombs,
            ".x3d, names without end": names_without_end,
            ".x3d, tags without end": tags_without_end,
            ".vrma, damaged": partial(vrmas, count, damaged),
            "misnamed": misnamed,
            "characters of .x3d, mutated": partial(mutated, DRESSED.encode(), read_x3d, count),
            "characters of .dae, mutated": partial(mutated, collada_files.dressed(), collada_character.read, count),
            "characters without end": characters_without_end}
