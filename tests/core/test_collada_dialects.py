"""COLLADA as exporters are known to write it: each dialect of a file is the same character, which plays the same."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from takt.core.formats import collada_character
from takt.core.formats.character import Character
from takt.tests.core import collada_files
from takt.tests.core.collada_files import JOINTS
from takt.tests.core.test_characters import skinned


def by_the_fbx_sdk(text: str) -> str:
    """As the FBX SDK writes for Mixamo: animations within animations, images named at once, extras everywhere."""
    text = re.sub(r'<animation id="(\w+)">(.*?)</animation>', r'<animation id="\1-anim" name="\1"><animation>\2'
                  r"</animation></animation>", text, flags=re.DOTALL)
    text = re.sub(r"<newparam sid=.*?</newparam>", "", text, flags=re.DOTALL)
    text = text.replace('texture="sampler" texcoord="UV"/>', 'texture="image" texcoord="CHANNEL0"><extra><technique '
                        'profile="MAYA"><wrapU sid="wrapU0">TRUE</wrapU></technique></extra></texture>')
    text = text.replace("./coat.png", "file://textures/coat.png")
    text = text.replace("<asset>", "<asset><contributor><authoring_tool>FBX COLLADA exporter</authoring_tool>"
                        "</contributor><created>2013-01-01T00:00:00Z</created><revision></revision>")
    extra = '<extra><technique profile="{}"><{}>1</{}></technique></extra>'
    text = text.replace("</mesh></geometry>", f"</mesh>{extra.format('MAYA', *['double_sided'] * 2)}</geometry>")
    toes = 'sid="Toes" type="JOINT">'
    return text.replace(toes, toes + extra.format("FCOLLADA", *["visibility"] * 2))


def by_cinema_4d(text: str) -> str:
    """As Cinema 4D writes: ids that are numbers, joints that are known by sids of their own, faces of many corners."""
    for number, name in enumerate(JOINTS):
        text = text.replace(f'id="{name}_id" name="{name}" sid="{name}"', f'id="ID{number + 2}" name="{name}" '
                            f'sid="J{number}"').replace(f"{name}_id/", f"ID{number + 2}/")
        text = re.sub(rf"(<Name_array[^>]*>[^<]*)\b{name}\b(?=[^<]*</Name_array>)", rf"\1J{number}", text)
    text = text.replace("<skeleton>#Hips_id</skeleton>", "<skeleton>#ID2</skeleton>")
    text = re.sub(r'<triangles count="(\d+)"([^>]*)>(.*?)<p>', lambda found: (
        f'<polylist count="{found[1]}"{found[2]}>{found[3]}<vcount>{"3 " * int(found[1])}</vcount><p>'), text,
                  flags=re.DOTALL)
    text = text.replace("</triangles>", "</polylist>")
    return text.replace("<scale sid", "<!-- pivot --><scale sid")


def by_colladamax(text: str) -> str:
    """As ColladaMax wrote in OGRE's time: joints by references, polygons one by one, a skeleton for each root."""
    text = re.sub(r"<(/?)Name_array(?=[^<]*(?:Hips|Toes))", r"<\1IDREF_array", text)
    text = re.sub(r"(<IDREF_array[^>]*>)([^<]*)</Name_array>", lambda found: (
        found[1] + " ".join(f"{name}_id" for name in found[2].split()) + "</IDREF_array>"), text)
    text = re.sub(r"<triangles ([^>]*)>(.*?)<p>([^<]*)</p></triangles>", lambda found: (
        f"<polygons {found[1]}>{found[2]}" + "".join(
            f"<p>{' '.join(found[3].split()[at:at + 9])}</p>" for at in range(0, len(found[3].split()), 9))
        + "</polygons>"), text, flags=re.DOTALL)
    text = text.replace("<skeleton>#Hips_id</skeleton>", "<skeleton>#Hips_id</skeleton><skeleton>#Leg_id</skeleton>")
    return text.replace('version="1.4.1"', 'version="1.4.0"')


def in_collada_1_5(text: str) -> str:
    """As the specification 1.5.0 has it: images that samplers instance, and their names in an element of their own."""
    text = re.sub(r'<newparam sid="surface">.*?</newparam>', "", text, flags=re.DOTALL)
    text = text.replace("<source>surface</source>", '<instance_image url="#image"/>')
    text = text.replace("<init_from>./coat.png</init_from>", "<init_from><ref>./coat.png</ref></init_from>")
    return text.replace('xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"',
                        'xmlns="http://www.collada.org/2008/03/COLLADASchema" version="1.5.0"')


def character(text: str) -> Character:
    (found,) = collada_character.read(text.encode()).characters
    return found


@pytest.mark.parametrize("write", [by_the_fbx_sdk, by_cinema_4d, by_colladamax, in_collada_1_5])
@pytest.mark.parametrize("up", ["Y_UP", "Z_UP"])
def test_each_dialect_is_the_same_character(write: Callable[[str], str], up: str) -> None:
    text = collada_files.dressed(up=up, meter=0.01).decode()
    assert write(text) != text
    plain, found = character(text), character(write(text))
    assert found.skeleton.names == plain.skeleton.names and len(found.clips) == 1
    assert [mesh.name for mesh in found.meshes] == ["Left", "Right", "Hat"]
    for number, (one, other) in enumerate(zip(found.meshes, plain.meshes, strict=True)):
        assert {frozenset(each) for each in one.triangles.tolist()} == {frozenset(each) for each in
                                                                        other.triangles.tolist()}
        for time_s in (0.0, 0.4, 1.0):
            np.testing.assert_allclose(skinned(found, number, time_s), skinned(plain, number, time_s), atol=1e-9)
    texture = found.meshes[0].looks[0].texture
    assert texture.rpartition("/")[2] == "coat.png"
    assert found.meshes[1].looks[0].colour == plain.meshes[1].looks[0].colour
