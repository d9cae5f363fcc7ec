"""OGRE's XML skeletons: text written by hand, trips there and back, damaged documents."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import FileError, TaktError
from takt.core.formats import ogre_xml, ogre_xml_keys, xml
from takt.core.formats.ogre import Base, Link, OgreSkeleton
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.core.ogre_cases import assert_same, assert_same_motion, skeletons, small

EXACT = 1e-12
"""The text keeps every digit; turning quaternions into axes and angles and back costs a few bits."""

BONES = """<skeleton blendmode="cumulative">
  <bones>
    <bone name="hand"><position x="0" y="2" z="0"/><rotation angle="0"><axis x="1" y="0" z="0"/></rotation></bone>
    <bone name="arm"><position x="1" y="2" z="3"/><rotation angle="3"><axis x="0" y="2" z="0"/></rotation>
      <scale factor="2"/></bone>
  </bones>
  <bonehierarchy><boneparent bone="hand" parent="arm"/></bonehierarchy>
  {}
</skeleton>"""

MOTION = """<animations><animation name="wave" length="2"><baseinfo baseanimationname="" basekeyframetime="0.5"/>
  <tracks><track bone="hand"><keyframes>
    <keyframe time="0"><translate x="1" y="0" z="0"/><rotate angle="1"><axis x="0" y="0" z="1"/></rotate></keyframe>
    <keyframe time="1.5"><scale x="3" z="2"/></keyframe>
  </keyframes></track></tracks></animation></animations>
  <animationlinks><animationlink skeletonName="other.skeleton" scale="0.5"/></animationlinks>"""


def failure(text: str) -> str:
    with pytest.raises(FileError) as caught:
        ogre_xml.read(text.encode(), Path("a.skeleton.xml"))
    return str(caught.value)


def test_reads_what_stands_there() -> None:
    ogre = ogre_xml.read(BONES.format(MOTION).encode(), Path("x/wave.skeleton.xml"))
    skeleton = ogre.skeleton
    assert (skeleton.name, skeleton.names, skeleton.parents.tolist()) == ("wave", ("arm", "hand"), [-1, 0])
    assert ogre.handles.tolist() == [1, 0]  # no ids: the order of bones is the handle
    assert (ogre.blend_mode, ogre.links, dict(ogre.bases)) == (
        "CUMULATIVE", (Link("other.skeleton", 0.5),), {"wave": Base("", 0.5)})
    np.testing.assert_allclose(skeleton.rest_rotations[0], (np.cos(1.5), 0, np.sin(1.5), 0), atol=EXACT)
    np.testing.assert_array_equal(skeleton.rest_scales, ((2, 2, 2), (1, 1, 1)))
    clip, = ogre.clips
    assert (clip.name, clip.duration_s) == ("wave", 2.0)
    np.testing.assert_array_equal(clip.rotations.times_s, (0.0, 1.5))
    np.testing.assert_allclose(clip.rotations.values, ((np.cos(0.5), 0, 0, np.sin(0.5)), (1, 0, 0, 0)), atol=EXACT)
    np.testing.assert_array_equal(clip.translations.values, ((1, 0, 0), (0, 0, 0)))
    np.testing.assert_array_equal(clip.scales.values, ((1, 1, 1), (3, 1, 2)))


def test_ids_are_the_handles() -> None:
    text = BONES.format("").replace('<bone name="hand"', '<bone id="9" name="hand"').replace(
        '<bone name="arm"', '<bone id="4" name="arm"')
    assert ogre_xml.read(text.encode()).handles.tolist() == [4, 9]


def test_the_whole_value_comes_back() -> None:
    ogre = small()
    whole = OgreSkeleton(ogre.skeleton, ogre.clips, np.array((4, 9, 11)), "CUMULATIVE", (Link('a"<&.skeleton', 0.5),),
                         {"walk": Base("still", 0.25)})
    back = ogre_xml.read(ogre_xml.write(whole))
    assert_same(whole, back, EXACT)
    assert (back.links, dict(back.bases)) == (whole.links, whole.bases)


@given(skeletons())
@settings(max_examples=40, deadline=None)
def test_there_and_back(ogre: OgreSkeleton) -> None:
    back = ogre_xml.read(ogre_xml.write(ogre))
    assert dict(zip(back.skeleton.names, back.handles, strict=True)) == dict(
        zip(ogre.skeleton.names, ogre.handles, strict=True))
    assert_same_motion(ogre, back, 1e-9)


@pytest.mark.parametrize(("text", "message"), [
    ("<mesh/>", ":1:1: this is no OGRE skeleton: its root is <mesh>, where <skeleton> is wanted"),
    ("<skeleton", "the tag <skeleton> is not ended by > or />"),
    ("<!DOCTYPE a><skeleton/>", "a document type declaration"),
    ('<skeleton blendmode="sum"/>', "blendmode is 'sum'; average and cumulative are known"),
    ("<skeleton><bones><bone/></bones></skeleton>", ":1:18: <bone> has no name"),
    ('<skeleton><bones><bone name="a" id="1.5"/></bones></skeleton>', "id is '1.5'; a whole number from 0 to 65535"),
    ('<skeleton><bones><bone name="a" id="70000"/></bones></skeleton>', "id is '70000'; a whole number"),
    ('<skeleton><bones><bone name="a"/><bone name="a"/></bones></skeleton>', "a second bone named 'a'"),
    ('<skeleton><bones><bone name="a" id="1"/><bone name="b" id="1"/></bones></skeleton>', "has the handle 1"),
    ('<skeleton><bones><bone name="a"><position x="a"/></bone></bones></skeleton>',
     ":1:33: x of <position> is 'a'; a number between"),
    ('<skeleton><bones><bone name="a"><position x="1e99"/></bone></bones></skeleton>', "x of <position> is '1e99'"),
    ('<skeleton><bones><bone name="a"><rotation angle="1"/></bone></bones></skeleton>', "<rotation> has no <axis>"),
    ('<skeleton><bones><bone name="a"/></bones><bonehierarchy><boneparent bone="a" parent="b"/></bonehierarchy>'
     '</skeleton>', "parent of <boneparent> is 'b'; no bone has that name"),
    (BONES.format("<animations><animation name='a'/></animations>"), ":8:15: <animation> has no length"),
    (BONES.format("<animations><animation name='a' length='-1'/></animations>"), "lasts -1 s"),
    (BONES.format("<animations><animation name='a' length='1'><tracks><track bone='x'/></tracks></animation>"
                  "</animations>"), "bone of <track> is 'x'"),
    (BONES.format(MOTION.replace('time="1.5"', 'time="nan"')), ":11:5: time of <keyframe> is 'nan'"),
    (BONES.format(MOTION.replace('x="1"', 'x="1e39"', 1)), ":10:24: x of <translate> is '1e39'"),
    (BONES.format(MOTION.replace('z="0"', 'z="-inf"', 1)), ":10:24: z of <translate> is '-inf'"),
    (BONES.format(MOTION.replace('time="0"', 'tim="0"')), ":10:5: <keyframe> has no time"),
    (BONES.format(MOTION.replace('<axis x="0" y="0" z="1"/>', '')), ":10:5: <rotate> has no <axis>"),
    (BONES.format(MOTION.replace('<scale x="3" z="2"/>', "<a>" * 200 + "</a>" * 200)), "nested more than 100 deep"),
    (BONES.format(MOTION.replace('track bone="hand"', 'track bone="x\u2026"')), "no bone has that name"),
])
def test_says_what_is_wrong_and_where(text: str, message: str) -> None:
    found = failure(text)
    assert found.startswith("a.skeleton.xml:")
    assert message in found


def test_what_is_not_known_among_keys_is_passed_over_and_the_first_of_a_kind_counts() -> None:
    """As OGRE reads them."""
    odd = MOTION.replace('<scale x="3" z="2"/>', '<scale x="3" z="2"/><scale factor="9"/><what><axis x="a"/></what>')
    odd = odd.replace('<keyframe time="0">', 'text <other><keyframe time="7"/></other><keyframe time="0">')
    odd = odd.replace('</keyframes>', '</keyframes><keyframes><keyframe time="1.9"/></keyframes>')
    odd = odd.replace('<rotate angle="1">', '<rotate angle="1"><what/><axis x="0" y="0" z="1"/>')
    mine, theirs = (ogre_xml.read(BONES.format(text).encode()) for text in (odd, MOTION))
    assert_same(mine, theirs, EXACT)


def test_more_keys_than_elements_may_be_kept_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys of a baked motion go past the tree of elements, for which there would not be room."""
    monkeypatch.setattr(ogre_xml, "DOCUMENTS", xml.Documents(max_elements=100))
    ogre = small()
    times = np.arange(2000) / 30
    turns = rot.from_axis_angle(np.array((1.0, 2.0, 0.0)), np.sin(times))[:, None].repeat(3, axis=1)
    clip = Clip("long", ogre.skeleton, 70.0, Tracks.uniform(np.arange(3), times, turns), Tracks.empty(3),
                Tracks.empty(3))
    data = ogre_xml.write(OgreSkeleton.of(ogre.skeleton, (clip, *ogre.clips)))
    assert_same(ogre_xml.read(data), OgreSkeleton.of(ogre.skeleton, (clip, *ogre.clips)), EXACT)
    with pytest.raises(FileError, match="more than 100 elements"):
        ogre_xml.read(data.replace(b"keyframes", b"keyframe"))


def test_what_is_not_known_among_keys_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ogre_xml_keys, "MAX_ELEMENTS", 3)
    odd = BONES.format(MOTION.replace('<scale x="3" z="2"/>', "<a/><b/>" * 2))
    assert ":11:38: more than 3 elements that are not known" in failure(odd)


def test_more_keys_than_anyone_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ogre_xml_keys, "MAX_KEYS", 4)
    with pytest.raises(FileError, match="more than 4 keys; no more are read"):
        ogre_xml.read(ogre_xml.write(small()))


def test_cut_off_anywhere_it_is_refused() -> None:
    data = ogre_xml.write(small())
    for cut in range(0, len(data) - len("</skeleton>\n"), 7):
        with pytest.raises(FileError, match=r"a\.xml:\d+:\d+: "):
            ogre_xml.read(data[:cut], Path("a.xml"))


def test_characters_that_xml_has_not_are_refused() -> None:
    skeleton = Skeleton.from_arrays(["a\x01"], [-1], rot.identities(1), np.zeros((1, 3)))
    with pytest.raises(TaktError, match=r"the name 'a\\x01' holds a character that XML does not allow"):
        ogre_xml.write(OgreSkeleton.of(skeleton))
