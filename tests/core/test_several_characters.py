"""Files with several humanoids: each is a character where it stands, and its clips are its own."""

import re
from pathlib import Path

import numpy as np
import pytest

from takt.core.formats import FORMATS
from takt.core.formats.character import CharacterFile
from takt.core.formats.format import Source
from takt.core.maths import rotations as rot
from takt.tests.core import collada_files
from takt.tests.core.test_characters import QUAD, SKIN, skinned

PLACES = {"Ann": (0.0, 0.0, 0.0), "Bob": (2.0, 0.0, -1.0), "Cy": (0.0, 0.5, 3.0)}


def people(around: str = '<Transform translation="{0} {1} {2}" rotation="0 1 0 1.5" scale="2 2 2">{{}}</Transform>',
           clock: str = "") -> bytes:
    """Return a file of X3D with a humanoid in each place, all moved by one sensor."""
    text = ""
    for name, place in PLACES.items():
        own = SKIN.replace("SHAPE", QUAD).replace("LOOK", "<Material/>").replace("SEGMENT", "")
        own = re.sub(r"MORE|INSIDE", "", own).replace("Ann", name)
        own = re.sub(r'(DEF|USE)="', rf'\1="{name}_', own)
        text += around.format(*place).format(own)
        clock += (f'<ROUTE fromNode="Walk" fromField="fraction_changed" toNode="Turn" toField="set_fraction"/>'
                  f'<ROUTE fromNode="Turn" fromField="value_changed" toNode="{name}_r" toField="rotation"/>')
    sensor = ('<TimeSensor DEF="Walk" cycleInterval="2"/>'
              '<OrientationInterpolator DEF="Turn" key="0 1" keyValue="1 0 0 0, 1 0 0 1"/>')
    return f"<X3D><Scene>{text}{sensor}{clock}</Scene></X3D>".encode()


def read(data: bytes, name: str = "X3D") -> CharacterFile:
    reader = FORMATS[name].read_characters
    assert reader is not None
    return reader(Source(data, Path("people.x3d" if name == "X3D" else "people.dae")))


def test_each_humanoid_of_x3d_is_a_character_where_it_stands() -> None:
    file = read(people())
    assert [each.name for each in file.characters] == list(PLACES)
    turn = rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), 1.5)
    points = np.array(((0, 1, 0), (1, 1, 0), (1, 2, 0), (0, 2, 0)), dtype=np.float64)
    for character, place in zip(file.characters, PLACES.values(), strict=True):
        (mesh,), (clip,) = character.meshes, character.clips
        assert clip.skeleton is character.skeleton and clip.duration_s == 2.0
        there = mesh.positions @ character.placed[:3, :3].T + character.placed[:3, 3]
        np.testing.assert_allclose(there, np.array(place) + 2.0 * rot.rotate(turn, points), atol=1e-9)


def test_a_humanoid_that_lies_or_is_in_inches_stands_as_its_scene_has_it() -> None:
    head = '<head><unit category="length" name="inch" conversionFactor="0.0254"/></head>'
    data = people('<Transform rotation="1 0 0 1.5708" translation="{0} {1} {2}">{{}}</Transform>').replace(
        b"<X3D>", f"<X3D>{head}".encode())
    turn = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), 1.5708)
    points = np.array(((0, 1, 0), (1, 1, 0), (1, 2, 0), (0, 2, 0)), dtype=np.float64)
    for character, place in zip(read(data).characters, PLACES.values(), strict=True):
        there = character.meshes[0].positions @ character.placed[:3, :3].T + character.placed[:3, 3]
        np.testing.assert_allclose(there, 0.0254 * (np.array(place) + rot.rotate(turn, points)), atol=1e-9)


def test_a_clip_of_several_is_there_for_each() -> None:
    reader = FORMATS["X3D"].read
    assert reader is not None
    file = reader(Source(people(), Path("a.x3d")))
    assert [(clip.name, clip.skeleton.name) for clip in file.clips] == [
        ("Walk", "Ann"), ("Walk.001", "Bob"), ("Walk.002", "Cy")]
    assert file.warnings == ("has clips of 3 skeletons: 'Walk' is of 'Ann', 'Walk.001' is of 'Bob', 'Walk.002' is of "
                             "'Cy'",)


def two_legs() -> bytes:
    """Return a file of COLLADA with two skeletons, each with a skin of its own, of which one stands elsewhere."""
    one = collada_files.dressed().decode()
    found = {tag: re.search(rf"<{tag}>(.*?)</{tag}>", one, re.DOTALL) for tag in (
        "library_controllers", "library_animations", "library_geometries")}
    scene = re.search(r"(<visual_scene[^>]*>)(.*?)(</visual_scene>)", one, re.DOTALL)
    assert scene is not None

    def other(text: str) -> str:
        text = re.sub(r'\b(id|url|source|target)="(#?)', r'\1="\2b_', text).replace('target="b_', 'target="b_')
        return text.replace("<skeleton>#", "<skeleton>#b_")

    moved = (f'<node id="Bob" name="Bob"><translate>3 0 0</translate>{other(scene[2])}</node>')
    moved = moved.replace('target="#b_coat"', 'target="#coat"').replace('target="#b_skin"', 'target="#skin"')
    text = one.replace(scene[0], f'{scene[1]}<node id="Ann" name="Ann">{scene[2]}</node>{moved}{scene[3]}')
    for tag, inside in found.items():
        assert inside is not None
        text = text.replace(inside[0], f"<{tag}>{inside[1]}{other(inside[1])}</{tag}>")
    return text.encode()


def test_each_skeleton_of_collada_is_a_character_where_it_stands() -> None:
    file, (alone,) = read(two_legs(), "COLLADA"), read(collada_files.dressed(), "COLLADA").characters
    assert len(file.characters) == 2
    for character, place in zip(file.characters, ((0.0, 0.0, 0.0), (3.0, 0.0, 0.0)), strict=True):
        assert [each.name for each in character.meshes] == ["Left", "Right", "Hat"]
        for number in range(3):
            for time in (0.0, 0.4):
                np.testing.assert_allclose(skinned(character, number, time), skinned(alone, number, time) + place,
                                           atol=1e-9)
    assert len({character.name for character in file.characters}) == 2


@pytest.mark.parametrize("name", ["X3D", "COLLADA"])
def test_what_is_alone_keeps_the_name_of_its_clip(name: str) -> None:
    data = people() if name == "X3D" else two_legs()
    reader = FORMATS[name].read
    assert reader is not None
    names = [clip.name for clip in reader(Source(data, Path("a"))).clips]
    assert len(set(names)) == len(names) == (3 if name == "X3D" else 2)
