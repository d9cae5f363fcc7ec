"""X3D: joints and humanoids that are scaled unevenly, along axes of their own."""

from pathlib import Path

import numpy as np
import pytest

from takt.core.formats import x3d
from takt.core.formats.format import Source
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.test_characters import skinned
from takt.tests.core.x3d_files import Made, Route, clock, driven, humanoid, in_xml, joint, moving, numbers, turning

LEG = joint("humanoid_root", (0, 1, 0), joint("l_hip", (0.1, 0.9, 0), joint("l_knee", (0.1, 0.5, 0.02))))
SPIN = turning("Spin", (0, 1), [(0, 1, 0, 0.0), (0, 1, 0, 1.0)])


def about(axis_angle: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3] = rot.to_matrix(rot.from_axis_angle(axis_angle[:3], axis_angle[3]))
    return matrix


def moved(way: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = way
    return matrix


@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_joints_scaled_along_axes_of_their_own_are_where_the_standard_says(seed: int, is_keyed: bool) -> None:
    """By the product of the matrices of Transform, over each joint's ancestors."""
    rng = np.random.default_rng(seed)
    count, fields = 5, ("translation", "rotation", "scaleOrientation")
    centers, scales = rng.normal(size=(count, 3)), rng.uniform(0.5, 2.0, (count, 3))
    own = {"translation": rng.normal(size=(count, 3)), "rotation": rng.normal(size=(count, 4)),
           "scaleOrientation": rng.normal(size=(count, 4))}
    parents = [-1, *(int(rng.integers(0, i)) for i in range(1, count))]
    still = {} if is_keyed else {"scale": scales}
    made = [joint(f"j{i}", centers[i], **{key: numbers(own[key][i]) for key in fields[is_keyed * 2:]},
                  **{key: numbers(values[i]) for key, values in still.items()}) for i in range(count)]
    for i in range(1, count):
        made[parents[i]].inside.append(("children", made[i]))
    nodes, routes = [humanoid(made[0]), clock("T", 1.0), SPIN], list[Route]()
    if is_keyed:
        for i in range(count):
            nodes += [turning(f"R{i}", (0.0,), own["rotation"][i:i + 1]), moving(f"S{i}", (0.0,), scales[i:i + 1]),
                      moving(f"M{i}", (0.0,), own["translation"][i:i + 1])]
            for letter, taken in (("R", "rotation"), ("S", "scale"), ("M", "translation")):
                routes += driven("T", f"{letter}{i}", f"h_j{i}", taken)
    else:  # a clip of one joint, in which the others stay as they are
        routes += driven("T", "Spin", "h_j0", "rotation")
        own["rotation"][0] = (0.0, 1.0, 0.0, 0.0)
    clip = x3d.read(in_xml(nodes, routes)).clips[0]
    world = world_from_pose(clip.skeleton, clip.sample(np.zeros(1)))[0]
    wanted = [np.eye(4)] * count
    for i in range(count):
        way = about(own["scaleOrientation"][i])
        matrix = (moved(centers[i] + own["translation"][i]) @ about(own["rotation"][i]) @ way
                  @ np.diag((*scales[i], 1.0)) @ way.T @ moved(-centers[i]))
        wanted[i] = matrix if parents[i] < 0 else wanted[parents[i]] @ matrix
        index = clip.skeleton.index_of[f"j{i}"]
        np.testing.assert_allclose(world[index, :, 3], (wanted[i] @ np.append(centers[i], 1.0))[:3], atol=1e-9)
        rest = rot.to_matrix(clip.skeleton.rest_world_rotations[index])
        np.testing.assert_allclose(world[index, :, :3] @ rest.T, wanted[i][:3, :3], atol=1e-9)


def test_axes_of_scales_that_are_even_turn_no_joint_at_rest() -> None:
    leg = joint("humanoid_root", (0, 1, 0), joint("l_hip", (0.1, 0.9, 0), scale="2 2 2", scaleOrientation="0 0 1 1"))
    clip = x3d.read(in_xml([humanoid(leg), clock("T", 1.0), SPIN], driven("T", "Spin", "h_l_hip", "rotation"))).clips[0]
    assert (clip.skeleton.rest_rotations == rot.IDENTITY).all()


def test_frames_scale_along_the_axes_that_a_joint_names() -> None:
    leg = joint("humanoid_root", (0, 1, 0), joint("l_hip", (0, 0, 0)), scaleOrientation="0 0 1 0.7853981634")
    motion = Made("HAnimMotion", "m", {"name": "Grow", "joints": "humanoid_root", "frameDuration": "1",
                                       "channels": "3 Xscale Yscale Zscale", "values": "1 1 1 3 1 1"})
    clip = x3d.read(in_xml([humanoid(leg, inside=[("motions", motion)])])).clips[0]
    world = world_from_pose(clip.skeleton, clip.sample(np.array((1.0,))))[0]
    np.testing.assert_allclose(world[1, :, 3] - world[0, :, 3], (-1.0, -2.0, 0.0), atol=1e-9)


def test_vertices_follow_a_joint_scaled_along_its_own_axes() -> None:
    coordinate = Made("Coordinate", "p", {"point": "1 1 0 0 2 0 0 1 1"})
    shape = Made("Shape", "s", {}, [("geometry", Made("IndexedFaceSet", "f", {"coordIndex": "0 1 2 -1"}, [
        ("coord", Made("Coordinate", "", {"USE": "p"}))]))])
    leg = joint("humanoid_root", (0, 1, 0), scale="3 1 1", scaleOrientation="0 0 1 0.7853981634",
                skinCoordIndex="0 1 2", skinCoordWeight="1 1 1")
    data = in_xml([humanoid(leg, inside=[("skinCoord", coordinate), ("skin", shape)]), clock("T", 1.0), SPIN],
                  driven("T", "Spin", "h_humanoid_root", "rotation"))
    read = x3d.FORMAT.read_characters
    assert read is not None
    (character,) = read(Source(data, Path("a.x3d"))).characters
    np.testing.assert_allclose(skinned(character, 0, 0.0), ((2, 2, 0), (1, 3, 0), (0, 1, 1)), atol=1e-6)


def stage(outer: dict[str, str], inner: dict[str, str]) -> Made:
    return Made("Transform", "Stage", outer, [("children", Made("Transform", "Turn", inner, [
        ("children", humanoid(LEG))]))])


def test_a_shear_by_what_moves_around_is_said_by_the_node() -> None:
    routes = driven("T", "Spin", "Stage", "rotation")
    file = x3d.read(in_xml([stage({}, {"scale": "1 1 3"}), clock("T", 1.0), SPIN], routes))
    (sheared,) = (each for each in file.warnings if "shear" in each)
    assert "Transform 'Turn' shears 'h', by an uneven scale" in sheared
    even = in_xml([stage({"scale": "2 2 2"}, {"scale": "3 3 3"}), clock("T", 1.0), SPIN], routes)
    assert x3d.read(even).warnings == ()


def test_an_uneven_size_is_said_of_clips_and_kept_of_characters() -> None:
    nodes, read = [stage({"scale": "1 3 1"}, {}), clock("T", 1.0), SPIN], x3d.FORMAT.read_characters
    assert read is not None
    data = in_xml(nodes, driven("T", "Spin", "h_l_hip", "rotation"))
    assert any("'h' is scaled unevenly" in each for each in x3d.read(data).warnings)
    file = read(Source(data, Path("a.x3d")))
    assert not any("scaled" in each for each in file.warnings)
    np.testing.assert_allclose(np.linalg.svd(file.characters[0].placed[:3, :3])[1], np.array((3, 1, 1)) / np.cbrt(3.0))
    sheared = read(Source(in_xml([stage({"scale": "3 1 1"}, {"rotation": "0 1 0 0.5"})]), Path("a.x3d")))
    assert any("'h' is sheared by an uneven scale around it" in each for each in sheared.warnings)
