"""OGRE's meshes and materials: bytes made by hand, OGRE's own converter, the real one, damaged files."""

import os
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.errors import FileError, TaktError
from takt.core.formats import ogre_binary, ogre_material, ogre_mesh_binary, ogre_mesh_xml
from takt.core.formats import xml as xml_room
from takt.core.formats.ogre_mesh import (
    TRIANGLE_FAN,
    TRIANGLE_LIST,
    TRIANGLE_STRIP,
    Geometry,
    OgreMesh,
    Submesh,
    Weights,
    triangles_of,
)
from takt.tests.beside import ogre_converter, real_file
from takt.tests.core.ogre_cases import FLOAT32, sinbad, small

CUTS = int(os.environ.get("TAKT_CUTS", "200"))
XYZ = np.array(((0.0, 0, 0), (1, 0, 0), (1, 2, 0), (0, 2, 0.5)))
NORMALS = np.array(((0.0, 0, 1), (0, 0, 1), (0, 1, 0), (1, 0, 0)))
UVS = np.array(((0.0, 0), (1, 0), (1, 0.25), (0, 0.25)))


def chunk(number: int, payload: bytes, order: str = "<") -> bytes:
    return struct.pack(f"{order}HI", number, len(payload) + 6) + payload


def floats(values: np.ndarray, order: str = "<") -> bytes:
    return values.astype(f"{order}f4").tobytes()


def element(*numbers: int, order: str = "<") -> bytes:
    return chunk(0x5110, struct.pack(f"{order}5H", *numbers), order)


def geometry(order: str = "<") -> bytes:
    """Positions and normals in one buffer, texture coordinates in another."""
    declaration = chunk(0x5100, element(0, 2, 1, 0, 0, order=order) + element(0, 2, 4, 12, 0, order=order)
                        + element(1, 1, 7, 0, 0, order=order), order)
    buffers = b"".join(chunk(0x5200, struct.pack(f"{order}HH", i, data.shape[1] * 4)
                             + chunk(0x5210, floats(data, order), order), order)
                       for i, data in enumerate((np.concatenate((XYZ, NORMALS), axis=1), UVS)))
    return chunk(0x5000, struct.pack(f"{order}I", 4) + declaration + buffers, order)


def old_geometry(order: str = "<") -> bytes:
    return chunk(0x5000, struct.pack(f"{order}I", 4) + floats(XYZ, order) + chunk(0x5100, floats(NORMALS, order), order)
                 + chunk(0x5200, bytes(16), order)
                 + chunk(0x5300, struct.pack(f"{order}H", 2) + floats(UVS, order), order), order)


def submesh(material: bytes, own: bytes, *indices: int, kind: str = "H", more: bytes = b"", order: str = "<") -> bytes:
    head = material + b"\n" + struct.pack(f"{order}?I?", not own, len(indices), kind == "I")
    return chunk(0x4000, head + struct.pack(f"{order}{len(indices)}{kind}", *indices) + own + more, order)


def weight(vertex: int, bone: int, value: float, number: int = 0x4100, order: str = "<") -> bytes:
    return chunk(number, struct.pack(f"{order}IHf", vertex, bone, value), order)


def mesh(*chunks: bytes, version: str = "1.100", order: str = "<") -> bytes:
    return (struct.pack(f"{order}H", 0x1000) + f"[MeshSerializer_v{version}]\n".encode()
            + chunk(0x3000, b"\x01" + b"".join(chunks), order))


def body(order: str = "<", shape: bytes = b"") -> list[bytes]:
    """Two submeshes: one with vertices of its own, one of the shared ones, as a strip."""
    shape = shape or geometry(order)
    link = chunk(0x6000, b"small.skeleton\n", order)
    names = chunk(0xA000, chunk(0xA100, struct.pack(f"{order}H", 1) + b"coat\n", order), order)
    strip = chunk(0x4010, struct.pack(f"{order}H", TRIANGLE_STRIP), order)
    alias = chunk(0x4200, b"a\nb\n", order)
    weights = b"".join(weight(*row, order=order) for row in ((0, 1, 0.75), (0, 0, 0.25), (2, 2, 1.0)))
    return [shape, submesh(b"Skin", shape, 0, 1, 2, more=weights, order=order),
            submesh(b"Coat", b"", 0, 1, 3, 2, kind="I", more=strip + alias, order=order), link,
            weight(3, 2, 1.0, 0x7000, order), chunk(0x8000, b"anything", order), chunk(0x9000, bytes(28), order), names]


def assert_is_body(found: OgreMesh) -> None:
    assert found.skeleton == "small.skeleton"
    assert [(s.name, s.material, s.geometry) for s in found.submeshes] == [("", "Skin", 1), ("coat", "Coat", 0)]
    assert [s.triangles.tolist() for s in found.submeshes] == [[[0, 1, 2]], [[0, 1, 3], [3, 1, 2]]]
    for part in found.geometries:
        assert part.normals is not None and part.uvs is not None
        np.testing.assert_allclose(part.positions, XYZ, rtol=FLOAT32)
        np.testing.assert_allclose(part.normals, NORMALS, rtol=FLOAT32)
        np.testing.assert_allclose(part.uvs, UVS, rtol=FLOAT32)
    shared, own = (part.weights for part in found.geometries)
    assert [shared.vertices.tolist(), shared.handles.tolist(), shared.values.tolist()] == [[3], [2], [1.0]]
    assert [own.vertices.tolist(), own.handles.tolist()] == [[0, 0, 2], [1, 0, 2]]
    assert own.values.tolist() == [0.75, 0.25, 1.0]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", ["1.30", "1.40", "1.41", "1.8", "1.100"])
def test_versions_and_byte_orders(version: str, order: str) -> None:
    assert_is_body(ogre_mesh_binary.read(mesh(*body(order), version=version, order=order)))


@pytest.mark.parametrize("order", ["<", ">"])
def test_version_1_20(order: str) -> None:
    assert_is_body(ogre_mesh_binary.read(mesh(*body(order, old_geometry(order)), version="1.20", order=order)))


def test_version_1_10_has_v_upwards() -> None:
    found = ogre_mesh_binary.read(mesh(*body("<", old_geometry()), version="1.10"))
    uvs = found.geometries[0].uvs
    assert uvs is not None
    np.testing.assert_allclose(uvs, UVS * np.array((1, -1)) + np.array((0, 1)), rtol=FLOAT32)


XML = """<mesh>
 <sharedgeometry vertexcount="4"><vertexbuffer positions="true" normals="true">{vertices}</vertexbuffer>
  <vertexbuffer texture_coords="1" texture_coord_dimensions_0="2">{uvs}</vertexbuffer></sharedgeometry>
 <submeshes>
  <submesh material="Skin" usesharedvertices="false"><faces count="1"><face v1="0" v2="1" v3="2"/></faces>
   <geometry vertexcount="4"><vertexbuffer {flags}>{both}</vertexbuffer></geometry>
   <boneassignments><vertexboneassignment vertexindex="0" boneindex="1" weight="0.75"/>
    <vertexboneassignment vertexindex="0" boneindex="0" weight="0.25"/>
    <vertexboneassignment vertexindex="2" boneindex="2" weight="1"/></boneassignments></submesh>
  <submesh material="Coat" usesharedvertices="true" operationtype="triangle_strip">
   <faces count="2"><face v1="0" v2="1" v3="3"/><face v1="2"/></faces></submesh>
 </submeshes>
 <skeletonlink name="small.skeleton"/>
 <boneassignments><vertexboneassignment vertexindex="3" boneindex="2" weight="1"/></boneassignments>
 <submeshnames><submeshname name="coat" index="1"/></submeshnames>
</mesh>
"""
FLAGS = 'positions="true" normals="true" texture_coords="1" texture_coord_dimensions_0="2"'
POSITION = [f'<position x="{x}" y="{y}" z="{z}"/>' for x, y, z in XYZ]
NORMAL = [f'<normal x="{x}" y="{y}" z="{z}"/>' for x, y, z in NORMALS]
TEXCOORD = [f'<texcoord u="{u}" v="{v}"/>' for u, v in UVS]


def xml(text: str = XML) -> bytes:
    def vertices(*columns: list[str]) -> str:
        return "".join(f"<vertex>{''.join(row)}</vertex>" for row in zip(*columns, strict=True))

    return text.format(vertices=vertices(POSITION, NORMAL), uvs=vertices(TEXCOORD),
                       both=vertices(POSITION, NORMAL, TEXCOORD), flags=FLAGS).encode()


def test_xml() -> None:
    assert_is_body(ogre_mesh_xml.read(xml()))


def test_more_rows_than_elements_may_be_kept_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vertices, faces and weights go past the tree of elements, for which there would not be room."""
    monkeypatch.setattr(ogre_mesh_xml, "MAX_ELEMENTS", 24)
    assert_is_body(ogre_mesh_xml.read(xml()))
    with pytest.raises(FileError, match="more than 24 elements"):
        ogre_mesh_xml.read(xml().replace(b"vertexbuffer", b"buffer"))
    monkeypatch.setattr(xml_room, "MAX_ROWS", 10)
    with pytest.raises(FileError, match="more than 10 rows in tables"):
        ogre_mesh_xml.read(xml())


def converted(source: Path, target: Path) -> None:
    """Let OGRE's own tool convert a file."""
    subprocess.run([ogre_converter(), "-q", str(source), str(target)], check=True, capture_output=True,
                   cwd=source.parent)
    assert target.exists()


def test_ogre_reads_our_xml_as_we_do(tmp_path: Path) -> None:
    (tmp_path / "a.mesh.xml").write_bytes(xml())
    converted(tmp_path / "a.mesh.xml", tmp_path / "a.mesh")
    found = ogre_mesh_binary.read((tmp_path / "a.mesh").read_bytes())
    assert found.skeleton == "small.skeleton"
    assert [s.material for s in found.submeshes] == ["Skin", "Coat"]
    assert sorted(map(len, (s.triangles for s in found.submeshes))) == [1, 2]
    whole = found.whole()
    corners = whole.positions[whole.triangles].reshape(-1, 3)
    assert {tuple(p) for p in corners.tolist()} == {tuple(p) for p in XYZ.tolist()}


def real_mesh() -> bytes:
    return real_file("ogre", "Sinbad.mesh").read_bytes()


def test_the_real_mesh() -> None:
    skeleton = ogre_binary.read(sinbad().read_bytes())
    found = ogre_mesh_binary.read(real_mesh())
    whole = found.whole()
    assert found.skeleton == "Sinbad.skeleton"
    assert (len(found.submeshes), len(whole.positions), len(whole.triangles)) == (7, 5534, 7612)
    names = ("Eyes", "Body", "Gold", "Teeth", "Sheaths", "Spikes", "Clothes")
    assert whole.materials == tuple(f"Sinbad/{name}" for name in names)
    influences = whole.influences(skeleton.skeleton, skeleton.handles)
    np.testing.assert_allclose(influences.weights.sum(axis=1), 1.0)
    # Faces wind as their normals say.
    corners = whole.positions[whole.triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert whole.normals is not None
    assert (np.sum(across * whole.normals[whole.triangles].sum(axis=1), axis=1) >= 0.0).mean() > 0.97


def test_ogres_xml_of_the_real_mesh_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "Sinbad.mesh").write_bytes(real_mesh())
    converted(tmp_path / "Sinbad.mesh", tmp_path / "Sinbad.mesh.xml")
    ours = ogre_mesh_binary.read(real_mesh()).whole()
    theirs = ogre_mesh_xml.read((tmp_path / "Sinbad.mesh.xml").read_bytes()).whole()
    np.testing.assert_array_equal(ours.triangles, theirs.triangles)
    np.testing.assert_allclose(ours.positions, theirs.positions, rtol=1e-5, atol=1e-5)
    assert ours.uvs is not None and theirs.uvs is not None and ours.normals is not None and theirs.normals is not None
    np.testing.assert_allclose(ours.uvs, theirs.uvs, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(ours.normals, theirs.normals, rtol=1e-5, atol=1e-5)
    skeleton = ogre_binary.read(sinbad().read_bytes())
    np.testing.assert_allclose(ours.influences(skeleton.skeleton, skeleton.handles).dense(69),
                               theirs.influences(skeleton.skeleton, skeleton.handles).dense(69), atol=1e-5)


# Values

def test_strips_and_fans() -> None:
    row = np.arange(5)
    assert triangles_of(row, TRIANGLE_LIST).tolist() == [[0, 1, 2]]
    assert triangles_of(row, TRIANGLE_STRIP).tolist() == [[0, 1, 2], [2, 1, 3], [2, 3, 4]]
    assert triangles_of(row, TRIANGLE_FAN).tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4]]
    assert triangles_of(np.array((0, 1, 1, 2)), TRIANGLE_STRIP).tolist() == []
    for operation in (1, 2, 3, 99):
        assert triangles_of(row, operation).shape == (0, 3)


def with_weights(*rows: tuple[int, int, float]) -> OgreMesh:
    vertices, handles, values = zip(*rows, strict=True)
    weights = Weights(np.array(vertices), np.array(handles), np.array(values, dtype=np.float64))
    return OgreMesh((Geometry(XYZ, weights=weights),), (Submesh("", "m", 0, np.array(((0, 1, 2),))),), "")


def test_influences_are_the_four_strongest_as_ogre_takes_them() -> None:
    ogre = small()
    rows = [(0, 0, 0.5), (0, 1, 0.25), (0, 1, 0.5), (2, 2, 0.2)]
    found = with_weights(*rows).whole().influences(ogre.skeleton, ogre.handles)
    np.testing.assert_allclose(found.dense(3), ((0.4, 0.6, 0), (0, 0, 0), (0, 0, 1), (0, 0, 0)))
    skeleton = ogre_binary.read(sinbad().read_bytes())
    many = with_weights(*[(1, handle, 0.1 * (handle + 1)) for handle in range(6)]).whole()
    np.testing.assert_allclose(many.influences(skeleton.skeleton, skeleton.handles).weights[1],
                               np.array((0.6, 0.5, 0.4, 0.3)) / 1.8)


def test_influences_of_an_unknown_bone() -> None:
    ogre = small()
    with pytest.raises(TaktError, match="moved by bone 7, which the skeleton 'small' does not have; it has 3 bones"):
        with_weights((0, 7, 1.0)).whole().influences(ogre.skeleton, ogre.handles)


def test_parts_without_normals_get_zeros() -> None:
    part = Submesh("", "m", 0, np.array(((0, 1, 2),)))
    whole = OgreMesh((Geometry(XYZ, NORMALS), Geometry(XYZ)), (part, Submesh("", "n", 1, part.triangles))).whole()
    assert whole.normals is not None and whole.uvs is None
    np.testing.assert_array_equal(whole.normals[4:], 0.0)
    assert whole.triangles.tolist() == [[0, 1, 2], [4, 5, 6]]
    assert (whole.materials, whole.material.tolist()) == (("m", "n"), [0, 1])


# What is refused

@pytest.mark.parametrize(("data", "message"), [
    (b"", "begins with bytes none"),
    (b"PK", "this is no OGRE mesh: it begins with bytes 50 4b"),
    (b"\x00\x10[MeshSerializer_v1.100", "the file ends inside the version"),
    (b"\x00\x10[MeshSerializer_v2.1 R2]\n", r"version '\[MeshSerializer_v2.1 R2\]'; read are"),
    (b"\x00\x10[MeshSerializer_v1.100]\n", "holds no mesh"),
    (mesh(chunk(0x1234, b"")), "chunk 0x1234 is unknown"),
    (mesh(submesh(b"m", b"", 0, 1, 2)), "submesh 0 uses the shared vertices, but the mesh has none"),
    (mesh(submesh(b"m", geometry(), 0, 1, 9)), "a face names vertex 9; there are 4 vertices"),
    (mesh(submesh(b"m", geometry(), 0, 1, 2, more=weight(4, 0, 1.0))), "a bone assignment names vertex 4; there are 4"),
    (mesh(submesh(b"m", geometry(), 0, 1, 2, more=weight(0, 0, np.nan))), "has the weight nan"),
    (mesh(submesh(b"m", chunk(0x4321, b""), 0, 1, 2)), "a submesh without vertices"),
    (mesh(chunk(0x5000, struct.pack("<I", 4))), "a geometry without positions of three floats"),
    (mesh(chunk(0x5000, struct.pack("<I", 4) + chunk(0x5200, struct.pack("<HH", 0, 12)))), "a buffer without data"),
    (mesh(chunk(0x5000, struct.pack("<I", 1) + chunk(0x5100, element(0, 2, 1, 4, 0)) + chunk(0x5200, struct.pack(
        "<HH", 0, 12) + chunk(0x5210, bytes(12))))), "reaches to byte 16 of a vertex of 12 bytes"),
    (mesh(chunk(0x5000, struct.pack("<I", 2**32 - 1)) + bytes(40), version="1.20"), "positions take 51539607540"),
    (mesh(chunk(0x5000, struct.pack("<I", 0) + chunk(0x5300, struct.pack("<H", 9))), version="1.20"), "9 dimensions"),
    (mesh(chunk(0x8000, b"")[:2] + struct.pack("<I", 999)), "says that it is 999 bytes long"),
    (mesh(weight(0, 0, 1.0, 0x7000)[:-1]), "inside a bone assignment"),
    (mesh(chunk(0x5000, struct.pack("<I", 1) + floats(np.array((0, np.inf, 0)))), version="1.20"),
     r"the position of vertex 0 is \(0.0, inf, 0.0\)"),
])
def test_binary_mistakes(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        ogre_mesh_binary.read(data, Path("x.mesh"))


OWN = '<geometry vertexcount="4"><vertexbuffer {flags}>{both}</vertexbuffer></geometry>'


@pytest.mark.parametrize(("old", "new", "message"), [
    ("<mesh>", "<skeleton>", "its root is <skeleton>"),
    ('v3="2"', 'v3="-2"', r"x.mesh.xml:5:\d+: v3 of <face> is '-2'; a whole number"),
    ('v3="2"', 'v3="99999999999"', "v3 of <face> is '99999999999'"),
    ('v3="2"', 'v3="4"', "a face names vertex 4; there are 4"),
    ('weight="0.75"', 'weight="much"', "weight of <vertexboneassignment> is 'much'; a number between"),
    ('weight="0.75"', "", "<vertexboneassignment> has no weight"),
    ('weight="0.75"', 'weight="1e300"', "a number between -3.40282e\\+38 and 3.40282e\\+38 is wanted"),
    ("triangle_strip", "quads", "operationtype is 'quads'; triangle_list"),
    ("{uvs}", '<vertex><texcoord u="1"/></vertex>', "1 uvs for 4 positions"),
    ("{uvs}", '<vertex><texcoord u="1"/></vertex><vertex/>', "a vertex without <texcoord>, which the first one has"),
    (OWN, "", "a submesh without vertices"),
])
def test_xml_mistakes(old: str, new: str, message: str) -> None:
    text = XML.replace(old, new, 1)
    if new == "<skeleton>":
        text = text.replace("</mesh>", "</skeleton>")
    with pytest.raises(FileError, match=message):
        ogre_mesh_xml.read(xml(text), Path("x.mesh.xml"))


def test_cut_anywhere_it_is_refused_or_right() -> None:
    data = mesh(*body())
    for end in range(len(data)):
        try:
            ogre_mesh_binary.read(data[:end])
        except FileError:
            continue


def test_the_real_mesh_damaged() -> None:
    data = real_mesh()
    rng = np.random.default_rng(5)
    for place in rng.integers(0, len(data), CUTS).tolist():
        flipped = bytearray(data)
        flipped[place] ^= 1 << int(rng.integers(8))
        for broken in (data[:place], bytes(flipped)):
            try:
                whole = ogre_mesh_binary.read(broken).whole()
            except FileError:
                continue
            assert np.isfinite(whole.positions).all()


def test_a_geometry_of_no_vertices_is_told_of() -> None:
    declaration = chunk(0x5100, element(0, 2, 1, 0, 0))
    buffer = chunk(0x5200, struct.pack("<HH", 0, 12) + chunk(0x5210, b""))
    none = chunk(0x5000, struct.pack("<I", 0) + declaration + buffer)
    with pytest.raises(FileError):
        ogre_mesh_binary.read(mesh(submesh(b"m", none, 0, 1, 2))).whole()
    assert not len(ogre_mesh_binary.read(mesh(submesh(b"m", none))).whole().positions)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_small_meshes_damaged(data: st.DataObject) -> None:
    broken = bytearray(mesh(*body()) if data.draw(st.booleans()) else mesh(*body("<", old_geometry()), version="1.20"))
    for _ in range(data.draw(st.integers(1, 4))):
        broken[data.draw(st.integers(25, len(broken) - 1))] = data.draw(st.integers(0, 255))
    try:
        ogre_mesh_binary.read(bytes(broken)).whole()
    except FileError as error:
        assert str(error)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_xml_damaged(data: st.DataObject) -> None:
    text = xml()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 60)))
    filling = data.draw(st.sampled_from((b"", b'"', b"<", b"/>", b"nan", b"1e999", b"<vertex/>", b"\xff", text[:40])))
    try:
        ogre_mesh_xml.read(text[:start] + filling + text[end:]).whole()
    except FileError as error:
        assert str(error)


# Materials

SCRIPT = """
// comment { material Not }
import * from "other.material"
material Sinbad/Body
{
    /* technique { */
    technique { pass {
        ambient 0 0 0
        diffuse 1 0.5 0.25 1
        texture_unit base
        {
            texture sinbad_body.tga 2d
            scale 1 1
        }
        texture_unit { texture second.png }
    } pass { diffuse 0 0 0 } }
}
abstract material "Big Coat" : Sinbad/Body { technique { pass { diffuse 2 -1 0.5
  texture_unit { texture "my coat.png" } } } }
material Plain : Sinbad/Body {
}
material Odd { technique { pass { diffuse red } } }
"""


def test_material() -> None:
    found = ogre_material.read(SCRIPT)
    assert list(found) == ["Sinbad/Body", "Big Coat", "Plain", "Odd"]
    skin, coat, plain, odd = (ogre_material.inherited(found, name) for name in found)
    assert skin is not None and coat is not None and plain is not None and odd is not None
    assert (skin.diffuse, skin.texture) == ((1.0, 0.5, 0.25), "sinbad_body.tga")
    assert (coat.diffuse, coat.texture, coat.parent) == ((1.0, 0.0, 0.5), "my coat.png", "Sinbad/Body")
    assert (plain.diffuse, plain.texture) == ((1.0, 0.5, 0.25), "sinbad_body.tga")
    assert (odd.diffuse, odd.texture) == (None, None)
    assert ogre_material.inherited(found, "Nobody") is None


def test_materials_in_a_circle() -> None:
    found = ogre_material.read("material A : B {\n}\nmaterial B : A {\n}")
    assert ogre_material.inherited(found, "A") is not None


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from('{}"/*\n :material diffuse texture_unit pass 1 x'), max_size=300))
def test_any_text_is_read(text: str) -> None:
    for name in (found := ogre_material.read(text)):
        ogre_material.inherited(found, name)


def test_deep_and_long_scripts_take_no_time() -> None:
    assert ogre_material.read("{" * 1_000_000) == {}
    assert ogre_material.read('/*"' * 300_000) == {}
    assert ogre_material.read("material a\n" * 100_000) == {}
