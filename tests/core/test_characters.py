"""Characters out of X3D and COLLADA: what is seen of them, by values, and every error with its line."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from takt.core.errors import FileError, TaktError
from takt.core.formats import FORMATS, collada_character
from takt.core.formats.character import Character, CharacterFile, Look, SkinnedMesh, joined, rigid
from takt.core.formats.format import Source
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core import collada_files

POINTS = "0 1 0, 1 1 0, 1 2 0, 0 2 0"
SKIN = f"""<HAnimHumanoid DEF="h" name="Ann">
<Coordinate DEF="p" containerField="skinCoord" point="{POINTS}"/>
<HAnimJoint DEF="r" containerField="skeleton" name="humanoid_root" center="0 1 0" skinCoordIndex="0 1 2"
 skinCoordWeight="1 .5 .25"><HAnimJoint name="l_hip" center="0.1 0.9 0" skinCoordIndex="1 2" skinCoordWeight=".5 .75">
SEGMENT</HAnimJoint></HAnimJoint>
<Shape containerField="skin"><Appearance>LOOK</Appearance>SHAPE</Shape></HAnimHumanoid>"""
QUAD = '<IndexedFaceSet coordIndex="0 1 2 3 -1" MORE><Coordinate USE="p"/>INSIDE</IndexedFaceSet>'


def x3d(shape: str = QUAD, look: str = "<Material/>", segment: str = "", more: str = "", inside: str = "",
        around: str = "{}") -> CharacterFile:
    """Read a humanoid with a skin of one shape."""
    text = SKIN.replace("SHAPE", shape).replace("LOOK", look).replace("SEGMENT", segment)
    text = text.replace("MORE", more).replace("INSIDE", inside)
    read = FORMATS["X3D"].read_characters
    assert read is not None
    return read(Source(f"<X3D><Scene>\n{around.format(text)}</Scene></X3D>".encode(), Path("ann.x3d")))


def mesh(file: CharacterFile, number: int = 0) -> SkinnedMesh:
    return file.characters[0].meshes[number]


def test_a_skin_has_its_points_faces_and_weights() -> None:
    (character,) = x3d().characters
    assert character.name == "Ann" and character.skeleton.names == ("humanoid_root", "l_hip")
    (found,) = character.meshes
    np.testing.assert_allclose(found.positions, [(0, 1, 0), (1, 1, 0), (1, 2, 0), (0, 2, 0)])
    assert found.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    np.testing.assert_allclose(found.influences.dense(2), [(1, 0), (0.5, 0.5), (0.25, 0.75), (0, 0)])
    assert found.uvs is None and found.normals is None


@pytest.mark.parametrize(("shape", "triangles"), [
    ('<IndexedTriangleSet index="0 1 2 2 3 0"><Coordinate USE="p"/></IndexedTriangleSet>', [[0, 1, 2], [2, 3, 0]]),
    ('<IndexedTriangleStripSet index="0 1 3 2 -1"><Coordinate USE="p"/></IndexedTriangleStripSet>',
     [[0, 1, 3], [3, 1, 2]]),
    ('<IndexedTriangleFanSet index="0 1 2 3 -1"><Coordinate USE="p"/></IndexedTriangleFanSet>',
     [[0, 1, 2], [0, 2, 3]]),
    ('<TriangleStripSet stripCount="4"><Coordinate USE="p"/></TriangleStripSet>', [[0, 1, 2], [2, 1, 3]]),
    ('<TriangleFanSet fanCount="4"><Coordinate USE="p"/></TriangleFanSet>', [[0, 1, 2], [0, 2, 3]]),
    ('<QuadSet><Coordinate USE="p"/></QuadSet>', [[0, 1, 2], [0, 2, 3]]),
    ('<TriangleSet><Coordinate USE="p"/></TriangleSet>', [[0, 1, 2]]),
    ('<IndexedFaceSet coordIndex="0 1 2 -1 -1 1 1 2 -1 2 3 0" ccw="false"><Coordinate USE="p"/></IndexedFaceSet>',
     [[2, 1, 0], [0, 3, 2]])])
def test_every_kind_of_faces_is_read(shape: str, triangles: list[list[int]]) -> None:
    assert mesh(x3d(shape)).triangles.tolist() == triangles


def test_corners_have_the_texture_coordinates_and_normals_that_the_file_gives() -> None:
    inside = '<TextureCoordinate point="0 0 1 0 1 1 0 1"/><Normal vector="0 0 2 0 1 0"/>'
    found = mesh(x3d(more='texCoordIndex="3 2 1 0 -1" normalIndex="0 0 1 1 -1"', inside=inside))
    assert found.uvs is not None and found.normals is not None
    assert found.uvs.tolist() == [[[0, 1], [1, 1], [1, 0]], [[0, 1], [1, 0], [0, 0]]]
    np.testing.assert_allclose(found.normals, [[(0, 0, 1), (0, 0, 1), (0, 1, 0)], [(0, 0, 1), (0, 1, 0), (0, 1, 0)]])


@pytest.mark.parametrize(("look", "wanted"), [
    ('<Material DEF="Red" diffuseColor="1 .5 0"/>', Look("Red", (1.0, 0.214041, 0.0))),
    ('<PhysicalMaterial baseColor="1 .5 0"/>', Look("", (1.0, 0.5, 0.0))),
    ("", Look("", (0.603827, 0.603827, 0.603827))),
    ("""<ImageTexture url='"http://a/b.png" "skin%201.png"'/>""", Look("", (0.603827,) * 3, "skin 1.png")),
    ("""<Material><ImageTexture containerField="normalTexture" url="n.png"/>
     <ImageTexture containerField="diffuseTexture" url='"data:image/png;base64,AAEC"'/></Material>""",
     Look("", (0.603827,) * 3, "", b"\0\1\2"))])
def test_a_look_is_that_of_the_material_and_its_first_texture(look: str, wanted: Look) -> None:
    (found,) = mesh(x3d(look=look)).looks
    assert (found.name, found.texture, found.image) == (wanted.name, wanted.texture, wanted.image)
    np.testing.assert_allclose(found.colour, wanted.colour, atol=1e-6)


FACE = """<Shape containerField="skin" {}><IndexedTriangleSet index="{}"><Coordinate USE="p"/></IndexedTriangleSet>
</Shape>"""


@pytest.mark.parametrize(("shapes", "names", "triangles"), [
    ((('DEF="Skin"', "0 1 2"),), ["Skin"], [[[0, 1, 2]]]),  # all points are kept, as with no name
    ((("", "0 1 2"),), ["Ann"], [[[0, 1, 2]]]),
    ((('DEF="A"', "0 1 2"), ('DEF="B"', "3 4 5")), ["A", "B"], [[[0, 1, 2]], [[0, 1, 2]]]),
    ((("", "0 1 2"), ('DEF="B"', "5 3 4")), ["Ann", "B"], [[[0, 1, 2]], [[2, 0, 1]]]),
    ((("", "0 1 2"), ("", "3 4 5")), ["Ann"], [[[0, 1, 2], [3, 4, 5]]]),
    ((('DEF="A"', "0 1 2"), ('DEF="B"', "6 7 8"), ('DEF="C"', "2 3 4")), ["Ann", "B"],
     [[[0, 1, 2], [2, 3, 4]], [[0, 1, 2]]]),
    ((('DEF="A"', "0 1 2"), ('DEF="B"', "6 7 8"), ('DEF="C"', "2 7 4")), ["Ann"], [[[0, 1, 2], [6, 7, 8], [2, 7, 4]]])])
def test_shapes_that_are_called_and_lie_apart_are_meshes(shapes: tuple[tuple[str, str], ...], names: list[str],
                                                         triangles: list[list[list[int]]]) -> None:
    points = " ".join(f"{number} 0 {number * number}" for number in range(9))
    text = "".join(FACE.format(*each) for each in shapes)
    read = FORMATS["X3D"].read_characters
    assert read is not None
    joint = '<HAnimJoint containerField="skeleton" name="humanoid_root" skinCoordIndex="7 8" skinCoordWeight="1 .5"/>'
    data = (f'<X3D><Scene><HAnimHumanoid name="Ann"><Coordinate DEF="p" containerField="skinCoord" point="{points}"/>'
            f"{joint}{text}</HAnimHumanoid></Scene></X3D>")
    (character,) = read(Source(data.encode(), Path("ann.x3d"))).characters
    assert [each.name for each in character.meshes] == names
    assert [each.triangles.tolist() for each in character.meshes] == triangles
    for found in character.meshes:  # each point has its own weights still
        np.testing.assert_allclose(found.influences.weights[:, 0], found.positions[:, 0] >= 7.0)


def test_shapes_of_segments_go_with_their_joint_alone() -> None:
    shape = '<Shape><TriangleSet><Coordinate point="0 0 0 1 0 0 0 1 0"/></TriangleSet></Shape>'
    around = f'<Transform translation="1 0 0" rotation="0 0 1 1.5707963">{shape}</Transform>'
    found = mesh(x3d(segment=f'<HAnimSegment name="l_thigh">{around}{shape}</HAnimSegment>'), 1)
    assert found.name == "Ann segments"
    np.testing.assert_allclose(found.positions[:3], [(1, 0, 0), (1, 1, 0), (0, 0, 0)], atol=1e-6)
    np.testing.assert_allclose(found.positions[3:], [(0, 0, 0), (1, 0, 0), (0, 1, 0)], atol=1e-6)
    assert found.influences.joints.tolist() == [[1]] * 6


def test_a_lying_humanoid_of_another_unit_is_set_upright() -> None:
    lying = '<Transform rotation="1 0 0 -1.5707963" scale=".01 .01 .01">{}</Transform>'
    found = x3d(around=lying).characters[0]
    np.testing.assert_allclose(found.meshes[0].positions[0], (0, 0, -0.01), atol=1e-6)
    plain = x3d().characters[0]
    hip, own = (each.skeleton.rest_world[1, :, 3] for each in (plain, found))
    np.testing.assert_allclose(own, (0.01 * hip[0], 0.01 * hip[2], -0.01 * hip[1]), atol=1e-6)


@pytest.mark.parametrize(("more", "inside", "message"), [
    ('coordIndex="0 1 7 -1"', "", "its faces name point 7; there are 4"),
    ('texCoordIndex="0 1 2 9 -1"', '<TextureCoordinate point="0 0 1 0 1 1"/>', "texture coordinate 9; there are 3"),
    ('texCoordIndex="0 1"', '<TextureCoordinate point="0 0"/>', "texCoordIndex has 2 numbers, coordIndex 5"),
    ("", '<Normal vector="0 0 1"/>', "its faces name normal 1; there are 1")])
def test_faces_of_what_is_not_there_are_refused(more: str, inside: str, message: str) -> None:
    shape = QUAD.replace('coordIndex="0 1 2 3 -1"', "") if "coordIndex" in more else QUAD
    with pytest.raises(FileError, match=rf"ann\.x3d:7: .*{message}"):
        x3d(shape, more=more, inside=inside)


@pytest.mark.parametrize(("name", "data"), [("X3D", SKIN), ("COLLADA", collada_files.dressed().decode())])
def test_a_file_that_is_cut_off_says_where_it_ends(name: str, data: str) -> None:
    text = f"<X3D><Scene>\n{data}" if name == "X3D" else data
    read = FORMATS[name].read_characters
    assert read is not None
    for share in (0.3, 0.6, 0.95):
        cut = text[:int(len(text) * share)]
        line = 1 + cut.count("\n")
        message = rf"a\.b:{line}: the file ends here, within <\w+> of line \d+: it is cut off"
        with pytest.raises(FileError, match=message):
            read(Source(cut.encode(), Path("a.b")))


def test_what_is_left_out_is_said() -> None:
    file = x3d("<Text/>")
    assert file.characters[0].meshes == ()
    assert file.warnings[0] == "line 7: left out: shapes of 'Text'"
    assert "Ann has no skin that is read" in file.warnings[1]


def test_the_classic_encoding_gives_the_same() -> None:
    text = """#X3D V4.0 utf8
DEF h HAnimHumanoid { name "Ann" skinCoord DEF p Coordinate { point [ 0 1 0, 1 1 0, 1 2 0, 0 2 0 ] }
skeleton [ HAnimJoint { name "humanoid_root" center 0 1 0 skinCoordIndex [ 0 1 2 ] skinCoordWeight [ 1 .5 .25 ]
children [ HAnimJoint { name "l_hip" center 0.1 0.9 0 skinCoordIndex [ 1 2 ] skinCoordWeight [ .5 .75 ] } ] } ]
skin [ Shape { appearance Appearance { material Material { diffuseColor 1 .5 0 } texture ImageTexture { url "a.png" } }
geometry IndexedFaceSet { coordIndex [ 0 1 2 3 -1 ] coord USE p } } ] }"""
    read = FORMATS["X3D_CLASSIC"].read_characters
    assert read is not None
    ours, theirs = mesh(read(Source(text.encode(), Path("a.x3dv")))), mesh(x3d())
    np.testing.assert_allclose(ours.positions, theirs.positions)
    np.testing.assert_allclose(ours.influences.dense(2), theirs.influences.dense(2))
    assert ours.triangles.tolist() == theirs.triangles.tolist() and ours.looks[0].texture == "a.png"


def skinned(character: Character, number: int, time_s: float) -> np.ndarray:
    """Return where a mesh's vertices are in a character's first clip."""
    skeleton, found = character.skeleton, character.meshes[number]
    world = world_from_pose(skeleton, character.clips[0].sample(np.array((time_s,))))[0]
    square = np.tile(np.eye(4), (2, len(skeleton), 1, 1))
    square[0, :, :3], square[1, :, :3] = world, skeleton.rest_world
    points = np.column_stack((found.positions, np.ones(len(found.positions))))
    palette = square[0] @ np.linalg.inv(square[1])
    moved = np.einsum("vj,jab,vb->va", found.influences.dense(len(skeleton)), palette, points)
    return np.asarray((moved @ character.placed.T)[:, :3])


def test_collada_in_any_axes_and_unit_is_the_same_character() -> None:
    (plain,) = collada_character.read(collada_files.dressed()).characters
    assert [each.name for each in plain.meshes] == ["Left", "Right", "Hat"]
    for up, turn in (("Z_UP", rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), -np.pi / 2)),
                     ("X_UP", rot.from_axis_angle(np.array((0.0, 0.0, 1.0)), np.pi / 2))):
        (other,) = collada_character.read(collada_files.dressed(up=up, meter=0.5)).characters
        for number in range(3):
            for time_s in (0.0, 0.3, 1.0):
                np.testing.assert_allclose(skinned(other, number, time_s),
                                           0.5 * rot.rotate(turn, skinned(plain, number, time_s)), atol=1e-9)


def test_a_node_around_a_collada_character_makes_it_as_large_as_it_says() -> None:
    text = collada_files.dressed().decode()
    (plain,) = collada_character.read(text.encode()).characters
    around = text.replace('<visual_scene id="Scene">', '<visual_scene id="Scene"><node id="Rig"><scale>2 2 2</scale>')
    for data in (around, around.replace('semantic="INV_BIND_MATRIX"', 'semantic="NONE"')):
        (large,) = collada_character.read(data.replace("</visual_scene>", "</node></visual_scene>").encode()).characters
        np.testing.assert_allclose(large.placed, np.eye(4), atol=1e-12)
        np.testing.assert_allclose(large.skeleton.rest_world[..., 3], 2.0 * plain.skeleton.rest_world[..., 3],
                                   atol=1e-9)
        for number in range(3):
            for time_s in (0.0, 0.3, 1.0):
                np.testing.assert_allclose(skinned(large, number, time_s), 2.0 * skinned(plain, number, time_s),
                                           atol=1e-9)


def test_a_skin_that_was_modelled_elsewhere_is_where_it_is_bound() -> None:
    (shifted,) = collada_character.read(collada_files.dressed(shift=(0.3, 0.1, -0.2))).characters
    (plain,) = collada_character.read(collada_files.dressed(shift=(0.0, 0.0, 0.0))).characters
    np.testing.assert_allclose(shifted.meshes[1].positions, plain.meshes[1].positions + np.array((0.3, 0.1, -0.2)),
                               atol=1e-12)
    np.testing.assert_allclose(shifted.meshes[0].positions, plain.meshes[0].positions, atol=1e-12)


@pytest.mark.parametrize(("change", "message"), [
    (lambda text: text.replace('offset="2" set="0"/><p>', 'offset="2" set="0"/><p>9 0 '), "holds 74 numbers; a mult"),
    (lambda text: text.replace('set="0"/><p>', 'set="0"/><p>99 0 0 1 0 0 2 0 0 '), "names position 99; there are 24"),
    (lambda text: text.replace('set="0"/><p>', 'set="0"/><p>1 9 0 1 0 0 2 0 0 '), "names normal 9; there are 1"),
    (lambda text: text.replace("<v>", "<v>9 "), "<v> holds 97 numbers"),
    (lambda text: text.replace("<v>", "<v>9 0 ").replace("<vcount>2", "<vcount>3"), "names joint 9; there are 3"),
    (lambda text: text.replace("<v>", "<v>0 999 ").replace("<vcount>2", "<vcount>3"), "names weight 999; there are 48"),
    (lambda text: text.replace("<v>", "<v>-2 0 ").replace("<vcount>2", "<vcount>3"), "names joint -2; there are 3"),
    (lambda text: text.replace('#Left_p"/>', '#no"/>', 1), "refers to '#no'"),
    (lambda text: text.replace('semantic="VERTEX"', 'semantic="X"'), "has no input VERTEX"),
    (lambda text: text.replace('semantic="POSITION"', 'semantic="X"'), "has no input POSITION"),
    (lambda text: text.replace("1 0.5 0 1</color>", "1 0</color>"), "<color> holds 2 numbers; 4 are wanted"),
    (lambda text: text.replace('offset="2" set', 'offset="64" set'), "offset is 64; up to 63")])
def test_what_is_wrong_with_a_mesh_is_refused_with_its_line(change: Callable[[str], str], message: str) -> None:
    text = collada_files.dressed().decode()
    assert change(text) != text
    with pytest.raises(FileError, match=rf"leg\.dae:\d+: .*{message}"):
        collada_character.read(change(text).encode(), Path("leg.dae"))


def test_a_vertex_that_no_joint_moves_and_one_of_the_shape_itself_stay() -> None:
    text = collada_files.dressed().decode()
    first = text.index("<v>") + 3
    pair = text[first:].split(" ", 2)
    changed = text[:first] + f"-1 {pair[1]} " + text[first + len(f"{pair[0]} {pair[1]} "):]
    ours = collada_character.read(changed.encode()).characters[0].meshes[0]
    assert ours.influences.weights[0].tolist() == [1.0, 0.0]  # of what is left


def test_geometry_on_no_skeleton_is_left_out_and_said() -> None:
    text = collada_files.dressed().decode().replace(
        "</visual_scene>", '<node id="Floor" name="Floor"><instance_geometry url="#Hat"/></node></visual_scene>')
    file = collada_character.read(text.encode())
    assert len(file.characters) == 1 and len(file.characters[0].meshes) == 3
    assert file.warnings == ("left out: 'Floor', on no skeleton",)


def test_polygons_of_all_kinds_are_the_same_triangles() -> None:
    text = collada_files.dressed().decode()
    begin = text.index('<triangles count="2" material="skin">')
    inputs = text[begin:].split("<p>")[0].replace("<triangles", "<TAG").replace('count="2"', 'count="1"')
    corners = ["0 0 0", "1 0 1", "2 0 2", "3 0 3"]
    end = text.index("</triangles>", begin) + len("</triangles>")
    found = []
    for tag, body in (("polylist", f"<vcount>4</vcount><p>{' '.join(corners)}</p>"), ("polygons",
                      f"<p>{' '.join(corners)}</p>"), ("trifans", f"<p>{' '.join(corners)}</p>"), ("tristrips",
                      f"<p>{' '.join(corners[at] for at in (0, 1, 3, 2))}</p>")):
        changed = text[:begin] + inputs.replace("TAG", tag) + body + f"</{tag}>" + text[end:]
        hat = collada_character.read(changed.encode()).characters[0].meshes[2]
        found.append({frozenset(triangle) for triangle in hat.triangles.tolist()})
    assert found[0] == found[1] == found[2] == {frozenset((0, 1, 2)), frozenset((0, 2, 3))}
    assert found[3] == {frozenset((0, 1, 3)), frozenset((3, 1, 2))}


def test_meshes_are_checked_and_joined() -> None:
    one = SkinnedMesh("a", np.zeros((3, 3)), np.array([[0, 1, 2]]), np.zeros(1, np.int64), (Look("x"),), None, None,
                      rigid(0, 3))
    two = SkinnedMesh("b", np.ones((3, 3)), np.array([[2, 1, 0]]), np.zeros(1, np.int64), (Look("y"),),
                      np.ones((1, 3, 2)), None, rigid(1, 3))
    both = joined("c", (one, two, one))
    assert both.triangles.tolist() == [[0, 1, 2], [5, 4, 3], [6, 7, 8]] and both.material.tolist() == [0, 1, 0]
    assert both.uvs is not None and both.uvs[:, 0, 0].tolist() == [0, 1, 0] and both.normals is None
    for change, message in (({"triangles": np.array([[0, 1, 3]])}, "has vertex 3; there are 3"),
                            ({"material": np.array([1])}, "has look 1; there are 1"),
                            ({"uvs": np.zeros((3, 2))}, "uvs of mesh 'a' have shape"),
                            ({"influences": rigid(0, 2)}, "weights for 2")):
        with pytest.raises(TaktError, match=message):
            SkinnedMesh(**({key: getattr(one, key) for key in one.__dataclass_fields__} | change))


L_SHAPE = (0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (2.0, 1.0, 0.0), (1.0, 1.0, 0.0), (1.0, 2.0, 0.0), (0.0, 2.0, 0.0)
DART = (0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.0, 2.0, 0.0)


def areas(found: SkinnedMesh) -> tuple[float, float]:
    """Return the area of triangles, and that of what they cover where none is turned round."""
    a, b, c = found.positions[found.triangles].swapaxes(0, 1)
    crossed = np.cross(b - a, c - a) / 2.0
    return float(np.linalg.norm(crossed, axis=1).sum()), float(np.linalg.norm(crossed.sum(axis=0)))


@pytest.mark.parametrize(("tag", "points", "wanted"), [
    ('IndexedFaceSet coordIndex="4 5 0 1 2 3 -1"', L_SHAPE, 3.0),
    ('IndexedFaceSet ccw="false" coordIndex="-1 5 4 3 2 1 0"', L_SHAPE, 3.0),
    ('IndexedQuadSet index="1 2 3 0"', DART, 1.0), ("QuadSet", (*DART[1:], DART[0]), 1.0)])
def test_faces_of_x3d_with_dents_are_filled(tag: str, points: tuple[tuple[float, ...], ...], wanted: float) -> None:
    inside = f'<Coordinate point="{collada_files.numbers(np.ravel(points))}"/>'
    file = x3d(segment=f"<HAnimSegment><Shape><{tag}>{inside}</{tag.split()[0]}></Shape></HAnimSegment>")
    assert areas(mesh(file, 1)) == pytest.approx((wanted, wanted))


@pytest.mark.parametrize(("tag", "counts"), [("polylist", "<vcount>6 3</vcount>"), ("polygons", "")])
def test_faces_of_collada_with_dents_are_filled(tag: str, counts: str) -> None:
    text = collada_files.dressed().decode()
    begin = text.index("<triangles", text.index('<geometry id="Hat"'))
    end = text.index("</triangles>", begin)
    loops = [" ".join(f"{vertex} 0 0" for vertex in loop) for loop in ((4, 3, 2, 1, 0, 5), (0, 1, 1))]
    body = f"<p>{' '.join(loops)}</p>" if counts else "".join(f"<p>{each}</p>" for each in loops)
    inputs = text[begin:end].partition("<p>")[0].replace("<triangles", f"<{tag}")
    text = text[:begin] + inputs + counts + body + f"</{tag}>" + text[end + len("</triangles>"):]
    text = re.sub('<source id="Hat_p">.*?</source>', collada_files.source("Hat_p", L_SHAPE), text, flags=re.DOTALL)
    file = collada_character.read(text.encode())
    assert areas(mesh(file, 2)) == pytest.approx((3.0, 3.0))
    assert not any("corners" in each for each in file.warnings)


def test_polygons_with_too_many_dents_are_fans_and_said() -> None:
    count = 5000
    angles = np.arange(count) / count * 2.0 * np.pi
    radii = np.where(np.arange(count) % 2, 1.0, 2.0)
    points = np.stack((radii * np.cos(angles), radii * np.sin(angles), 0.0 * angles), axis=1)
    index = " ".join(map(str, range(count)))
    inside = f'<Coordinate point="{collada_files.numbers(points.ravel())}"/>'
    file = x3d(segment=f'<HAnimSegment><Shape><IndexedFaceSet coordIndex="{index}">{inside}</IndexedFaceSet></Shape>'
                       "</HAnimSegment>")
    assert len(mesh(file, 1).triangles) == count - 2
    assert any("too many corners: 1; their triangles may be wrong" in each for each in file.warnings)
