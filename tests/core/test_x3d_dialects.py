"""X3D and VRML as the examples of the Web3D archives are written: shapes in segments, sites, joints listed again."""

from pathlib import Path

import numpy as np

from takt.core.formats import FORMATS
from takt.core.formats.character import CharacterFile
from takt.core.formats.format import Source
from takt.core.skeletons.maps import find_map

X3D_3 = """<?xml version='1.0' encoding='UTF-8'?>
<!DOCTYPE X3D PUBLIC "ISO//Web3D//DTD X3D 3.3//EN" "http://www.web3d.org/specifications/x3d-3.3.dtd">
<X3D profile='Immersive' version='3.3' xmlns:xsd='http://www.w3.org/2001/XMLSchema-instance'
 xsd:noNamespaceSchemaLocation='http://www.web3d.org/specifications/x3d-3.3.xsd'>
  <head><component level='1' name='H-Anim'/><meta content='Figure.x3d' name='title'/></head>
  <Scene>
    <WorldInfo title='Figure'/><NavigationInfo type='"EXAMINE" "ANY"'/>
    <!-- a figure of boxes and faces -->
    <HAnimHumanoid DEF='hanim_Figure' name='Figure' version='1.0' info='"humanoidVersion=2.0" "height=1.7"'>
      <HAnimJoint DEF='hanim_humanoid_root' name='humanoid_root' center='0 .9 0' containerField='skeleton'
       ulimit='0 0 0' llimit='0 0 0'>
        <HAnimJoint DEF='hanim_sacroiliac' name='sacroiliac' center='0 .95 0'>
          <HAnimSegment DEF='hanim_pelvis' name='pelvis' mass='12'>
            <Shape><Appearance DEF='Cloth'><Material diffuseColor='.2, .4, .6'/></Appearance>
              <IndexedFaceSet DEF='Faces' solid='false' coordIndex='0, 1, 2, -1,
                2, 1, 3, -1' creaseAngle='1.57'><Coordinate DEF='Points' point='0 0 0, 1 0 0,
                0 1 0, 1 1 0'/></IndexedFaceSet></Shape>
            <HAnimSite DEF='hanim_crotch_pt' name='crotch_pt' translation='0 .8 0'><Shape><Sphere radius='.01'/></Shape>
            </HAnimSite>
          </HAnimSegment>
          <HAnimJoint DEF='hanim_l_hip' name='l_hip' center='.1 .9 0'>
            <HAnimSegment DEF='hanim_l_thigh' name='l_thigh'>
              <Transform translation='.1 .7 0' scale='.1 .4 .1'><Shape><Appearance USE='Cloth'/>
                <IndexedFaceSet USE='Faces'/></Shape></Transform>
              <Shape><Appearance USE='Cloth'/><Box size='.1 .4 .1'/></Shape>
            </HAnimSegment>
            <HAnimJoint DEF='hanim_l_knee' name='l_knee' center='.1 .5 0'/>
          </HAnimJoint>
        </HAnimJoint>
      </HAnimJoint>
      <HAnimJoint USE='hanim_humanoid_root' containerField='joints'/>
      <HAnimJoint USE='hanim_l_hip' containerField='joints'/>
      <HAnimSegment USE='hanim_pelvis' containerField='segments'/>
      <HAnimSite USE='hanim_crotch_pt' containerField='sites'/>
      <HAnimSite DEF='view' name='front_view' containerField='viewpoints'><Viewpoint description='front'/></HAnimSite>
    </HAnimHumanoid>
    <Group><Shape><Text string='"Walk"'/></Shape><TouchSensor DEF='Touch'/></Group>
    <TimeSensor DEF='Walk' cycleInterval='2' loop='true'/>
    <OrientationInterpolator DEF='Hip' key='0, .5, 1' keyValue='1 0 0 0, 1 0 0 .5, 1 0 0 0'/>
    <Script DEF='Off'><field name='x' type='SFTime' accessType='inputOnly'/>
      <![CDATA[ecmascript: function x() {}]]></Script>
    <ROUTE fromField='touchTime' fromNode='Touch' toField='startTime' toNode='Walk'/>
    <ROUTE fromField='touchTime' fromNode='Touch' toField='x' toNode='Off'/>
    <ROUTE fromField='fraction_changed' fromNode='Walk' toField='set_fraction' toNode='Hip'/>
    <ROUTE fromField='value_changed' fromNode='Hip' toField='set_rotation' toNode='hanim_l_hip'/>
  </Scene>
</X3D>"""
VRML = """#VRML V2.0 utf8
# prototypes as H-Anim 1.1 gives them
PROTO Joint [ exposedField SFVec3f center 0 0 0 exposedField MFNode children [ ]
  exposedField SFRotation rotation 0 0 1 0 exposedField SFString name "" ]
{ Transform { center IS center children IS children rotation IS rotation } }
PROTO Segment [ exposedField MFNode children [ ] exposedField SFString name "" ] { Group { children IS children } }
PROTO Humanoid [ exposedField MFNode humanoidBody [ ] exposedField SFString name "" exposedField MFNode joints [ ] ]
{ Transform { children IS humanoidBody } }
NavigationInfo { type [ "EXAMINE", "ANY" ] }
DEF Figure Humanoid { name "Figure" humanoidBody [
  DEF HumanoidRoot Joint { name "HumanoidRoot" center 0 .9 0 children [
    DEF sacroiliac Joint { name "sacroiliac" center 0 .95 0 children [
      DEF pelvis Segment { name "pelvis" children [
        Shape { appearance DEF Cloth Appearance { material Material { diffuseColor .2 .4 .6 } }
          geometry DEF Faces IndexedFaceSet { solid FALSE creaseAngle 1.57 coord DEF Points Coordinate { point [
            0 0 0, 1 0 0, 0 1 0, 1 1 0 ] } coordIndex [ 0, 1, 2, -1, 2, 1, 3, -1 ] } } ] }
      DEF l_hip Joint { name "l_hip" center .1 .9 0 children [
        DEF l_thigh Segment { name "l_thigh" children [
          Transform { translation .1 .7 0 scale .1 .4 .1 children Shape { appearance USE Cloth geometry USE Faces } }
          Shape { appearance USE Cloth geometry Box { size .1 .4 .1 } } ] }
        DEF l_knee Joint { name "l_knee" center .1 .5 0 } ] } ] } ] } ]
  joints [ USE HumanoidRoot, USE l_hip ] }
DEF Walk TimeSensor { cycleInterval 2 loop TRUE }
DEF Hip OrientationInterpolator { key [ 0, .5, 1 ] keyValue [ 1 0 0 0, 1 0 0 .5, 1 0 0 0 ] }
ROUTE Walk.fraction_changed TO Hip.set_fraction
ROUTE Hip.value_changed TO l_hip.set_rotation
"""


def assert_is_the_figure(file: CharacterFile) -> None:
    (character,) = file.characters
    assert character.name == "Figure" and len(character.skeleton) == 4 and find_map(character.skeleton).is_humanoid
    (clip,) = character.clips
    assert clip.name == "Walk" and clip.duration_s == 2.0
    joint = character.skeleton.index_of["l_hip"]
    angle = 2.0 * np.arccos(clip.sample(np.array((1.0,))).rotations[0, joint, 0])
    np.testing.assert_allclose(angle, 0.5, atol=1e-9)
    (mesh,) = character.meshes
    names = [character.skeleton.names[each] for each in mesh.influences.joints[:, 0]]
    assert names == ["sacroiliac"] * 4 + ["l_hip"] * (4 + len(mesh.positions[8:]))
    np.testing.assert_allclose(mesh.positions[4:8], [(0.1, 0.7, 0), (0.2, 0.7, 0), (0.1, 1.1, 0), (0.2, 1.1, 0)])
    assert mesh.triangles[:4].tolist() == [[0, 1, 2], [2, 1, 3], [4, 5, 6], [6, 5, 7]] and len(mesh.looks) == 1
    np.testing.assert_allclose(np.unique(mesh.positions[8:], axis=0), [
        (x, y, z) for x in (-0.05, 0.05) for y in (-0.2, 0.2) for z in (-0.05, 0.05)], atol=1e-6)  # the Box


def test_a_figure_of_x3d_3_is_a_character() -> None:
    read = FORMATS["X3D"].read_characters
    assert read is not None
    file = read(Source(X3D_3.encode(), Path("figure.x3d")))
    assert_is_the_figure(file)
    assert any("left out: Script 'Off'" in warning for warning in file.warnings)


def test_a_figure_of_vrml_97_is_a_character() -> None:
    read = FORMATS["VRML"].read_characters
    assert read is not None
    assert_is_the_figure(read(Source(VRML.encode(), Path("figure.wrl"))))
