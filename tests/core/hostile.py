"""Input made to hurt: damaged files, XML that is nearly right, bombs, endless things, paths out of the library.

Each family yields cases; a case is called and either returns or raises TaktError, soon, in little memory.
"""

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import FileError
from takt.core.formats import (
    bvh,
    collada,
    gltf,
    ogre_binary,
    ogre_material,
    ogre_mesh_binary,
    ogre_mesh_xml,
    ogre_xml,
    ogre_xml_keys,
    rite,
    x3d,
)
from takt.core.formats.format import Source
from takt.core.library.library import Library
from takt.core.music.beats import find_beats
from takt.core.music.onsets import RATE_HZ
from takt.core.music.waveform import Waveform
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import find_map, read_map, write_map
from takt.samples.skeleton import build_skeleton
from takt.tests.core import collada_files, hostile_formats, hostile_motion, hostile_scores
from takt.tests.core.gltf_files import figure, packed
from takt.tests.core.scores import STEPS, X, procedure, score, turning
from takt.tests.core.test_rite import CLIP, MODEL
from takt.tests.core.x3d_files import clock, dancer, humanoid, in_classic, in_xml, joint

Case = Callable[[], object]
Read = Callable[[bytes], object]

_TAG = re.compile(rb"<[^<>]*>")
_VALUE = re.compile(rb'="[^"]*"')
_VALUES = (b"", b"0", b"-0", b"-1", b"1e308", b"1e-320", b"nan", b"-inf", b"1e9", b"1000000000", b"9" * 5000,
           b"x" * 5000, b"..", b"../../etc/passwd", b"/etc/passwd", b"&#0;", b"&lt;", b"&#x10FFFF;",
           "ß\u202e".encode(), b"1_0", b"true")
_NUMBERS = ("1000000000", "1e308", "1e309", "-1e308", "1e-320", "nan", "NaN", "inf", "-0", "-0.0", "0", "9" * 1000,
            "1e999999", "9" * 100_000, "0x10", "1_0", "٣")
_SOURCES = ("out", "zero", "random", "round", "tty", "proc", "pipe", "folder.secret", "..", "../outside/secret", "...",
            "..outside.secret", "/etc/passwd", "C:\\secret", "inside/../../x", "a" * 5000, "con", "NUL",
            "\u2025.secret", ".", "", " ")
_PIECES = ("{", "}", "material", ":", "texture_unit", '"', "/*", "//", "*/", "nan", "1e999", "x" * 5000, "\n", "pass",
           "diffuse")


SEED = 0
"""Of all that is drawn; another one makes other cases."""
RITE = Path("made.raa")
POSE = "\nReference pose\nl_shoulder = 0.9239 0 0 -0.3827, 1 0 0\nr_shoulder = 0.9239 0 0 0.3827\n"
BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 1 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Leg
  {
    OFFSET 0.1 -0.5 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -0.5 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.033333
0 1 0 0 0 0 10 20 30
0.1 1.1 0 5 5 5 20.5 -30.25 40
0.2 1 0 10 0 0 30 40 50
"""
VERSION_2 = ('''<pha version="2" tickLength="0.5"><load src="feet.Steps"/><tempo tick="2" tickLength="0.4" over="1"/>'''
             '''<mask name="torso" body="spine + arms - hands" fade="1"/><let name="bars" value="4"/>'''
             '''<procedure name="half"><param name="times" default="2"/><loop times="times" index="i">'''
             '''<if test="i == 1"><call name="left" duration="2"/></if><else><call name="nod" duration="2" '''
             '''transition="0.5"/></else></loop></procedure><procedure name="main"><call name="half" duration="bars">'''
             '''<with times="3"/></call><together duration="4"><lane body="lower"><call name="left" duration="1" '''
             '''repeat="4"/></lane><lane body="torso" mode="mix" weight="0" weightEnd="1" ease="0.5">'''
             '''<wait duration="1"/><call name="nod" duration="3"/></lane></together>'''
             '''<call name="right" duration="2" reverse="yes" from="0" to="0.5"/><pick><call name="nod" duration="1" '''
             '''weight="2"/><call name="left" duration="1"/></pick></procedure></pha>''')


def play(text: str | bytes, library: Library = STEPS) -> object:
    """Read a score and unfold it."""
    return expand(resolve(parse(text), library))


def damaged(data: bytes, read: Read, count: int) -> Iterator[Case]:
    """Cut a file off at places, and flip bits of it, as many each."""
    random = np.random.default_rng((SEED, 7))
    for cut in random.integers(0, len(data), count).tolist():
        yield partial(read, data[:cut])
    for bit in random.integers(0, len(data) * 8, count).tolist():
        broken = bytearray(data)
        broken[bit // 8] ^= 1 << bit % 8
        yield partial(read, bytes(broken))


def mutated(data: bytes, read: Read, count: int) -> Iterator[Case]:
    """Change a document tag by tag, so that it mostly stays XML: values, names, elements doubled, moved, left out."""
    random = np.random.default_rng((SEED, 8))
    tags = [match.span() for match in _TAG.finditer(data)]
    for _ in range(count):
        text = data
        for _ in range(int(random.integers(1, 4))):
            begin, end = tags[int(random.integers(len(tags)))]
            tag, other = text[begin:end], data[slice(*tags[int(random.integers(len(tags)))])]
            value = _VALUES[int(random.integers(len(_VALUES)))]
            changed = (_VALUE.sub(b'="' + value + b'"', tag, count=int(random.integers(1, 3))), tag + tag, b"", other,
                       tag + other, tag.replace(b'="', b'x="', 1), tag.replace(b"<", b"<x", 1),
                       tag[:-1] + value[:20] + tag[-1:])
            text = text[:begin] + changed[int(random.integers(len(changed)))] + text[end:]
        yield partial(read, text)


def bombs(way: tuple[str, ...], read: Read) -> Iterator[Case]:
    """Give a reader of XML what has no end, or comes from elsewhere.

    way: from the outermost element that it wants to where it reads the most.
    """
    root, opened = way[0], "".join(f"<{tag}>" for tag in way)
    closed = "".join(f"</{tag}>" for tag in reversed(way))
    inner = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "lol"}">' for i in range(12))
    for text in (
            f"<!DOCTYPE {root} [{inner}]><{root}>&e11;</{root}>",
            f'<!DOCTYPE {root} [<!ENTITY x SYSTEM "file:///etc/passwd">]><{root}>&x;</{root}>',
            f'<!DOCTYPE {root} [<!ENTITY % x SYSTEM "file:///dev/zero">%x;]><{root}/>',
            f'<!DOCTYPE {root} SYSTEM "http://localhost/x.dtd"><{root}/>',
            f"<{root}>" * 100_000 + f"</{root}>" * 100_000,
            f"<{root}>" + "<a>" * 100_000,
            f"<{'a' * 1_000_000}/>",
            f"<{root} {'a' * 1_000_000}='1'/>",
            f"<{root} a='{'a' * 1_000_000}'/>",
            f"<{root} " + " ".join(f"a{i}='1'" for i in range(100_000)) + "/>",
            f"<{root}>" + "&#x41;" * 1_000_000 + f"</{root}>",
            f"<{root}>" + "x<!--x-->" * 300_000 + f"</{root}>",
            opened + "<a>" * 100_000 + "</a>" * 100_000 + closed,
            opened + "<a/>" * 600_000 + closed,
            opened + f"<vertex {'a' * 1_000_000}='1'/><keyframe time='{'1' * 1_000_000}'/>" + closed,
            opened + "<keyframe time='0'>" + "<a>" * 600_000,
            "\ufeff" + " " * 10_000_000 + f"<{root}/>"):
        yield partial(read, text.encode())


def numbers() -> Iterator[Case]:
    """Play scores whose numbers are too large, too small, or none; procedures too many, too deep, in a circle."""
    for value in _NUMBERS:
        for attribute in ("duration", "transition", "repeat"):
            duration = "" if attribute == "duration" else ' duration="1"'
            yield partial(play, score(procedure("main", f'left {attribute}="{value}"{duration}', 'nod duration="1"')))
        yield partial(play, score(procedure("main", 'left duration="1"')).replace('"1.0"', f'"{value}"', 1))
    yield partial(play, score(procedure("main", *(f'nod duration="{d}"' for d in ("1e308", "1e-308", "1e308")))))
    yield partial(play, score(procedure("main", *(f'no{i} duration="1"' for i in range(50_000)))))
    for count, last, repeat in ((300, 'nod duration="1"', 1_000_000), (20_000, 'nod duration="1"', 1),
                                (5000, 'p0 duration="1"', 1)):
        chain = (procedure(f"p{i}", f'p{i + 1} duration="1" repeat="{repeat}"') for i in range(count))
        yield partial(play, score(*chain, procedure(f"p{count}", last), procedure("main", 'p0 duration="1"')))


def version_2() -> Iterator[Case]:
    """Play scores of version 2 with too much in them, or nearly: blocks, lanes, loops, names, mistakes."""
    call = '<call name="nod" duration="1"/>'
    lanes = f'<lane mode="mix">{call}</lane>' * 2
    for inside in (
            f'<loop times="1000"><loop times="1000">{call}</loop></loop>',
            "".join(f'<together duration="{1 + at / 5000}">{lanes}</together>' for at in range(5000)),
            f'<loop times="100000"><together>{lanes}</together></loop>',
            f'<loop times="10000" index="i"><together duration="i + 1">{lanes}</together></loop>',
            f'<together>{lanes * 150}</together>',
            "".join(f'<call name="nod" duration="{at % 7 + 1} * 2"/>' for at in range(40_000)),
            "".join(f'<let name="v{at}" value="1"/>' for at in range(20_000)) + call,
            "".join(f'<call name="no{at}" duration="1"/>' for at in range(40_000)),
            "".join(f'<call name="nod" duration="v{at}"/>' for at in range(40_000)),
            '<call name="main" duration="1"><with n="2"/></call>' * 20_000,
            '<call name="main" duration="1"/>' * 40_000,
            "".join(f'<let name="v" value="{at}"/>' for at in range(20_000)) + call,
            '<together><lane body="nobody">' * 30 + call + "</lane></together>" * 30,
            f'<loop times="9999999999">{call}</loop>', '<call name="nod" duration="9//0"/>',
            f'<call name="nod" duration="{"(" * 400}1{")" * 400}"/>', '<call name="nod" duration="9**9**9"/>',
            f'<call name="nod" duration="{"9" * 900}"/>', f'<call name="nod" duration="{"1+" * 499}1"/>'):
        head = '<pha version="2" tickLength="1"><load src="feet.Steps"/>'
        yield partial(play, f'{head}<procedure name="main">{inside}</procedure></pha>')


def maps_in_library(data: str, count: int) -> Iterator[Case]:
    """Change a skeleton map, and play by what it says; cases are to be called as they come."""
    skeleton = build_skeleton()
    clip = Clip("still", skeleton, 1.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.map"

        def play_by(text: bytes) -> object:
            path.write_bytes(text)
            library = Library([Path(folder)])
            found = library.skeleton_map(skeleton)
            retarget(clip, skeleton, source_map=found, target_map=found)
            if damaged_maps := library.damaged_maps:
                raise FileError(*damaged_maps)
            return found

        yield from damaged(data.encode(), play_by, (count + 2) // 3)
        yield from reworded(data, play_by, (count + 2) // 3)


def paths_out() -> Iterator[Case]:
    """Ask a library for what lies outside of it, and for what is no file; include in circles and diamonds.

    Cases are to be called as they come: their files are there only as long as not all of them have.
    """
    with tempfile.TemporaryDirectory() as folder:
        outside, inside = Path(folder) / "outside", Path(folder) / "inside"
        outside.mkdir()
        inside.mkdir()
        (outside / "secret.pha").write_text(score(procedure("secret", 'left duration="1"')))
        for name, target in (("out", outside / "secret.pha"), ("zero", "/dev/zero"), ("random", "/dev/random"),
                             ("round", inside / "round.pha"), ("tty", "/dev/tty"), ("proc", "/proc/self/environ")):
            (inside / f"{name}.pha").symlink_to(target)
        (inside / "folder").symlink_to(outside)
        os.mkfifo(inside / "pipe.pha")
        library = Library([inside], other_clips={"feet.Steps": (turning("left", X, (0.0, 1.0)),)}.get)
        for src in (*_SOURCES, str(outside / "secret")):
            for tag in ("include", "load"):
                yield partial(play, score(procedure("main", 'secret duration="1"'), head=f'<{tag} src="{src}"/>'),
                              library)
        for at in range(400):  # each includes the next two, the last the first ones
            head = "".join(f'<include src="d{(at + step) % 400}"/>' for step in (1, 2)) + '<load src="feet.Steps"/>'
            (inside / f"d{at}.pha").write_text(score(procedure(f"p{at}", 'left duration="1"'), head=head))
        yield partial(play, score(procedure("main", 'p7 duration="1"'), head='<include src="d0"/>'), library)


def reworded(text: str, read: Read, count: int) -> Iterator[Case]:
    """Change a text word by word, and cut it off."""
    random = np.random.default_rng((SEED, 11))
    words = re.findall(r"\s+|[^\s]+", text)
    pieces = (*words, *_WORDS)
    for _ in range(count):
        changed = list(words)
        for _ in range(int(random.integers(1, 6))):
            at = int(random.integers(len(changed)))
            changed[at:at + int(random.integers(0, 3))] = [pieces[int(random.integers(len(pieces)))]]
        yield partial(read, "".join(changed[:int(random.integers(len(changed))) if random.random() < 0.2 else None]
                                    ).encode("utf-8", "surrogatepass"))


def sounds(count: int) -> Iterator[Case]:
    """Look for beats in samples that are no sound: of any length, with numbers beyond all measure."""
    random = np.random.default_rng((SEED, 12))
    for _ in range(count):
        length = int(random.choice((0, 1, 2, 63, 64, 65, 1000, RATE_HZ, 10 * RATE_HZ)))
        samples = random.normal(0.0, 1.0, length) * float(random.choice((0.0, 1e-300, 1.0, 1e300)))
        strange = random.integers(0, max(length, 1), 3 if length else 0)
        samples[strange] = random.choice((np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0), len(strange))
        yield partial(_heard, samples)


def _heard(samples: np.ndarray) -> object:
    Waveform.of(samples, float(RATE_HZ)).columns(np.linspace(-1.0, 20.0, 50))
    return find_beats(samples)


def materials(text: str, count: int) -> Iterator[Case]:
    """Change a material script word by word."""
    random = np.random.default_rng((SEED, 9))
    words = re.findall(r"\s+|[{}]|[^\s{}]+", text)
    for _ in range(count):
        changed = list(words)
        for _ in range(int(random.integers(1, 9))):
            changed[int(random.integers(len(changed)))] = _PIECES[int(random.integers(len(_PIECES)))]
        yield partial(read_material, "".join(changed).encode())
    chain = "".join(f"material m{i} : m{i + 1} {{ }}\n" for i in range(20_000))
    for bad in ("{" * 1_000_000, "material a : a { " * 50_000, "/*" * 1_000_000, '"' * 1_000_000, chain,
                "material " + "a" * 1_000_000, "\n" * 4_000_000):
        yield partial(read_material, bad.encode())


def gltfs(count: int) -> Iterator[Case]:
    """Damage a glTF file, change the values in its JSON, and give it nodes and numbers without end."""
    made = figure()
    yield from damaged(made.glb(), read_gltf, count)
    random = np.random.default_rng((SEED, 10))
    bones = {bone: {"node": node} for node, bone in enumerate(("hips", "spine", "chest", "neck", "head"), start=1)}
    text = json.dumps(made.document("motion.bin") | {"extensions": {"VRMC_vrm": {"humanoid": {"humanBones": bones}}}})
    values = list(re.finditer(r'(?<=: )(-?[\d.e+-]+|"[^"]*"|\[[^\[\]]*\]|true|null)', text))
    for _ in range(count):
        begin, end = values[int(random.integers(len(values)))].span()
        yield partial(read_gltf, packed((text[:begin] + str(random.choice(_JSON)) + text[end:]).encode(),
                                        bytes(made.binary)))
    deep: list[dict[str, list[int]]] = [{"children": [i + 1]} for i in range(19_999)]
    wide = [{"children": list(range(1, 20_000))}]
    accessors = [{"componentType": 5126, "count": 10**7, "type": kind} for kind in ("SCALAR", "VEC4")]
    channels = [{"sampler": 0, "target": {"node": node, "path": "rotation"}} for node in range(99)]
    moved = {"accessors": accessors, "animations": [{"samplers": [{"input": 0, "output": 1}], "channels": channels}]}
    skins = [{"joints": list(range(20_000))}] * 5
    trees: tuple[list[Any], ...] = ([*deep, {}], [*wide, *[{}] * 19_999], [{}] * 10**6, [{"children": [0]}],
                                    [*deep, {"children": [0]}])
    for nodes in trees:
        yield partial(read_gltf, json.dumps({"asset": {"version": "2.0"}, "nodes": nodes, "skins": skins}).encode())
        yield partial(read_gltf, json.dumps({"asset": {"version": "2.0"}, "nodes": nodes, **moved}).encode())
    for bad in (b"[" * 10**6, b'{"a":' * 10**6, b"9" * 10**6, b'{"asset": {"version": "2.0"}, "nodes": ' + b"9" * 5000,
                b"glTF", b"glTF" + b"\xff" * 100):
        yield partial(read_gltf, bad)


_WORDS = (*_NUMBERS[:9], "9" * 400, "-", "=", "{", "}", "\n", "\n\n", " ", "#", "x" * 500, "\x00", "\ud800", "MOTION",
          "Frames:", "End Site", "Reference pose", "track", "key", "0,5", "٣", "1e-320", "-1e-9")
_JSON = ("-1", "0", "1e400", "NaN", "1e30", "null", "true", "[]", "[0, 0]", "[-1]", "{}", '"x"', "9999999999", "0.5",
         "[1e400, 0, 0]", "5126", "5121", '"VEC4"', '"CUBICSPLINE"', "7")


def read_gltf(data: bytes) -> object:
    """Read a glTF file without others beside it."""
    return gltf.FORMAT.read(Source(data, Path("made.glb"))) if gltf.FORMAT.read else None


def endless_collada() -> Iterator[Case]:
    """Give COLLADA nodes, channels and keys without end."""
    channels = {name: collada_files.as_channels(way) for name, way in collada_files.JOINTS.items()}
    leg = collada_files.leg(channels)
    turn = collada_files.animation("a", "Leg_id/rotateX.ANGLE", (0.0, 1e30), (0.0, 1e30), "BEZIER")
    again = '<channel source="#a_s" target="Leg_id/rotateX.ANGLE"/>'
    used = '<instance_node url="#n{}"/>'
    doubling = "".join(f'<node id="n{i}">{used.format(i + 1) * 2}</node>' for i in range(60))
    clips = '<animation_clip start="0" end="1"><instance_animation url="#a"/></animation_clip>' * 20_000
    skins = collada_files.worn("body") * 3000
    names = collada_files.skin("body", list(channels), collada_files.bound())
    cases: tuple[tuple[str, str, dict[str, Any]], ...] = (
            (leg, turn, {}), (leg, turn.replace("</animation>", again * 50_000 + "</animation>"), {}),
            (leg + '<node><instance_node url="#n0"/></node>', turn, {"library": doubling + '<node id="n60"/>'}),
            (leg, turn, {"clips": clips}), (leg + skins, turn, {"controllers": names}),
            (leg * 3000, turn, {}), ("<node>" * 90 + "</node>" * 90, turn, {}),
            (leg, "<animation>" * 90 + turn + "</animation>" * 90, {}), (leg, turn * 3000, {}),
            (leg.replace("1 0 0 0<", "1 0 0 " + "9" * 10**6 + "<"), turn, {}),
            (leg, turn.replace("0.0 1e+30", "0 " * 10**6), {}))
    for nodes, moves, more in cases:
        yield partial(collada.read, collada_files.document(nodes, moves, **more))


def x3d_words(count: int) -> Iterator[Case]:
    """Change a file in the classic encoding word by word, and give it brackets, routes and joints without end."""
    random = np.random.default_rng(11)
    parts = re.findall(r"\s+|[{}\[\]]|[^\s{}\[\]]+", in_classic(*dancer()).decode())
    for _ in range(count):
        changed = list(parts)
        for _ in range(int(random.integers(1, 6))):
            changed[int(random.integers(10, len(changed)))] = str(random.choice(_CLASSIC))
        yield partial(x3d.read_classic, "".join(changed).encode())
    head = "#X3D V4.0 utf8\n"
    for bad in ("[" * 10**6, "{" * 10**6, "Group { children [ " * 10**5, "PROTO P [ ] { " * 10**5, '"' * 10**6,
                "#" * 10**6, "DEF a " * 10**5, "ROUTE a.b TO c.d\n" * 3 * 10**5, "Group { } " * 3 * 10**5,
                "Group { a [ " + "1 " * 4 * 10**6 + "] }", "Group { a " + "1 " * 10**6 + "}", "Group { a IS " * 10**5,
                "HAnimJoint { children USE a } " * 10**5, "Script { " + "[" * 10**6, "UNIT length x 1e-300\n" * 10**5):
        yield partial(x3d.read_classic, (head + bad).encode())
    flat = joint("root", (0, 1, 0), *(joint(f"j{i}", (0, i, 0)) for i in range(3000)))
    shared = [humanoid(flat), *(humanoid(name=f"h{i}", inside=[("skeleton", "h_root")]) for i in range(3000))]
    clocks = [clock(f"c{i}", 1.0) for i in range(300)]
    nodes, routes = dancer()
    many = [(f"c{i % 300}", "fraction_changed", "Bend", "set_fraction") for i in range(300)] + [
        ("Bend", "value_changed", f"h_j{i}", "set_rotation") for i in range(3000)]
    for made, ways in ((shared, []), ([humanoid(flat), *clocks, *nodes[1:]], [*routes[:1], *many])):
        yield partial(x3d.read, in_xml(made, ways))
        yield partial(x3d.read_classic, in_classic(made, ways))


_CLASSIC = ("{", "}", "[", "]", '"', "USE h_l_hip", "DEF x", "nan", "1e999", "-1", "9" * 500, "ROUTE", "PROTO", "IS",
            "Script", "NULL", "TRUE", "#", "\0", "HAnimJoint { }", 'Inline { url "/etc/passwd" }', "h.h", "1e30", "0")


def read_material(data: bytes) -> object:
    """Read a script, and look up what its materials inherit."""
    known = ogre_material.read(data.decode("utf-8", "replace"))
    return [ogre_material.inherited(known, name) for name in list(known)[:100]]


def families(count: int, skeleton: bytes, xml: bytes, mesh: bytes, mesh_xml: bytes,
             material: str) -> dict[str, Callable[[], Iterator[Case]]]:
    """Return all families; count: how many cases of those that are drawn; the rest: good files of each kind."""
    text = score(procedure("walk", 'left duration="1"', 'right duration="2" transition="0.5"'),
                 procedure("main", 'walk duration="3" repeat="4"', 'nod duration="1"')).encode()
    skeleton_map = write_map(find_map(build_skeleton())) + POSE
    found: dict[str, Callable[[], Iterator[Case]]] = {
        ".skeleton, cut and flipped": partial(damaged, skeleton, ogre_binary.read, count),
        ".skeleton.xml, mutated": partial(mutated, xml, ogre_xml.read, count),
        ".skeleton.xml, bombs": partial(bombs, ogre_xml_keys.Keys.tag_path, ogre_xml.read),
        ".mesh, cut and flipped": partial(damaged, mesh, ogre_mesh_binary.read, count),
        ".mesh.xml, mutated": partial(mutated, mesh_xml, ogre_mesh_xml.read, count),
        ".mesh.xml, bombs": partial(bombs, ("mesh", "sharedgeometry", "vertexbuffer"), ogre_mesh_xml.read),
        ".material": partial(materials, material, count),
        ".glb, damaged": partial(gltfs, count),
        ".x3d, mutated": partial(mutated, in_xml(*dancer()), x3d.read, count),
        ".x3d, bombs": partial(bombs, ("X3D", "Scene", "HAnimHumanoid"), x3d.read),
        ".x3dv, cut and flipped": partial(damaged, in_classic(*dancer()), x3d.read_classic, count),
        ".x3dv, word by word": partial(x3d_words, count),
        ".dae, mutated": partial(mutated, collada_files.walking(), collada.read, count),
        ".dae, bombs": partial(bombs, ("COLLADA", "library_visual_scenes", "visual_scene"), collada.read),
        ".dae, without end": endless_collada,
        ".pha, cut and flipped": partial(damaged, text, play, count),
        ".pha, mutated": partial(mutated, text, play, count),
        ".pha, bombs": partial(bombs, ("pha", "procedure"), play),
        ".pha, numbers": numbers,
        ".pha, version 2": version_2,
        ".pha, paths out of the library": paths_out,
        ".pha, values": partial(hostile_scores.family, hostile_scores.values),
        ".pha, expressions": partial(hostile_scores.family, hostile_scores.expressions),
        ".pha, masks and tempo": partial(hostile_scores.family, hostile_scores.masks_and_tempo),
        ".pha, calls": partial(hostile_scores.family, hostile_scores.calls),
        ".pha, folders": hostile_scores.in_folders,
        ".pha 2, mutated": partial(mutated, VERSION_2.encode(), hostile_scores.perform_score, count),
        ".gltf, multiplied": partial(hostile_motion.family, hostile_motion.gltfs),
        ".bvh, cut and flipped": partial(damaged, BVH.encode(), bvh.read, count),
        ".bvh, reworded": partial(reworded, BVH, bvh.read, count),
        ".bvh, multiplied": partial(hostile_motion.family, hostile_motion.bvhs),
        ".raa, reworded": partial(reworded, CLIP, lambda data: rite.read(data, RITE, MODEL.encode(), RITE), count),
        ".ram, reworded": partial(reworded, MODEL, lambda data: rite.read(CLIP.encode(), RITE, data, RITE), count),
        ".map, reworded": partial(reworded, skeleton_map, read_map, count),
        ".map, in a library": partial(maps_in_library, skeleton_map, count),
        "sounds": partial(sounds, count),
    }
    return found | hostile_formats.families(count, damaged, mutated)
