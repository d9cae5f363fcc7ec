"""Materials on the GPU: each operation against core, whole characters against Workbench, and images that change."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import bpy
import numpy as np
import pytest
from mathutils import Color, Matrix, Vector

from takt.bridge.materials.materials import ColourMode, Surface
from takt.bridge.versions import principled_node
from takt.core.shading.material import OPERATIONS, Material, ProgrammeStep, Texture, evaluate, number
from takt.core.shading.tone import TONES, toned
from takt.preview import life
from takt.preview.look import ViewportLook, look_of, studio
from takt.preview.offscreen import Renderer
from takt.samples import dancer
from takt.tests.characters import Object, context, own_character
from takt.tests.gpu.test_preview_pictures import seen_from, similarity
from takt.tests.gpu.test_preview_playing import drawn_viewport, toggle, viewport

CHARACTERS = Path(os.environ.get("TAKT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "characters"
SIZE = 384
DIFFERENCE, ALIKE = 0.03, 0.95
"""Of the figure's pixels, 0 to 1; structural similarity."""
SOLID = 127
ONE_LEVEL = 1.5 / 255.0
PINK = (255, 0, 255)
TEXEL = (0.25, 0.5, 0.75, 1.0)
BY = (0.6, 0.8, 0.9, 0.7)
RAMP = ((1.0, 0.0, 0.2, 1.0), (0.0, 0.5, 0.4, 1.0), (0.7, 0.9, 0.1, 1.0), (0.3, 0.2, 0.9, 1.0))


def encoded(linear: Any) -> Any:
    values = np.clip(linear, 0.0, 1.0)
    return np.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1.0 / 2.4) - 0.055)


def image(colour: tuple[float, ...] = TEXEL, **settings: Any) -> Any:
    """An image of one colour, linear."""
    made: Any = bpy.data.images.new("Picture", 8, 8, float_buffer=True)
    fill(made, colour)
    for name, value in settings.items():
        setattr(made, name, value)
    return made


def fill(made: Any, colour: tuple[float, ...]) -> None:
    pixels: Any = np.tile(np.array(colour, dtype=np.float32), 64)
    made.pixels.foreach_set(pixels)
    made.update()


def textured_character(picture: Any) -> tuple[Object, Object]:
    rig, mesh = own_character()
    uv = mesh.data.uv_layers.new(name="UV").uv
    for place, item in enumerate(uv):
        item.vector = (0.3 + 0.1 * (place % 3), 0.4)
    material: Any = bpy.data.materials.new("Textured")
    shader: Any = principled_node(material)
    node: Any = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = picture
    material.node_tree.links.new(node.outputs[0], shader.inputs["Base Color"])
    material.node_tree.nodes.active = node
    mesh.data.materials.append(material)
    context.view_layer.update()
    return rig, mesh


def middle(mesh: Object, look: ViewportLook | None = None) -> Any:
    """Return the colour in the middle of the figure, in light from everywhere, 0 to 1."""
    with Renderer(context.scene, [mesh], SIZE, SIZE, motion=lambda _: None) as renderer:
        picture = renderer.draw(*seen_from(), look=look or ViewportLook())
    solid = np.argwhere(picture[..., 3] == 255)
    row, column = solid[len(solid) // 2]
    return picture[row, column, :3] / 255.0


@pytest.mark.parametrize("operation", [name for name in OPERATIONS if name != "OBJECT"])
def test_each_operation_is_that_of_core(operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = image()
    _, mesh = textured_character(picture)
    paint: Any = mesh.data.color_attributes.new("Paint", "FLOAT_COLOR", "POINT")
    for item in paint.data:
        item.color = (0.5, 0.25, 1.0, 1.0)
    operands = (number(0.45), (ProgrammeStep("TEXTURE"),), number(0.2, 0.6, 0.4))[:OPERATIONS[operation].takes]
    last = ProgrammeStep(operation, 0, BY, RAMP if operation == "RAMP" else ())
    programme = (*(step for operand in operands for step in operand), last)
    made = Material(programme, textures=(Texture(picture.session_uid),))
    surface = Surface(dict.fromkeys(get_args(ColourMode), made), ("UV", ""))
    monkeypatch.setattr("takt.preview.batch.read_surfaces", lambda *_: [surface])
    expected = evaluate(programme, [np.array(TEXEL)], np.array((0.5, 0.25, 1.0, 1.0)))
    np.testing.assert_allclose(middle(mesh), encoded(expected[:3]), atol=2 * ONE_LEVEL)


@pytest.mark.parametrize(("settings", "expected"), [
    ({}, TEXEL[:3]),
    ({"alpha_mode": "NONE"}, TEXEL[:3]),
])
def test_an_image_is_shown(settings: dict[str, Any], expected: tuple[float, ...]) -> None:
    _, mesh = textured_character(image(**settings))
    np.testing.assert_allclose(middle(mesh), encoded(np.array(expected)), atol=ONE_LEVEL)


@pytest.mark.parametrize("how", ["constant", "image"])
def test_what_a_principled_material_emits_is_added_to_what_it_reflects(how: str) -> None:
    _, mesh = textured_character(image())
    material: Any = mesh.data.materials[0]
    shader: Any = principled_node(material)
    links = material.node_tree.links
    node = shader.inputs["Base Color"].links[0].from_node
    links.remove(shader.inputs["Base Color"].links[0])
    shader.inputs["Base Color"].default_value = (0.1, 0.0, 0.2, 1.0)
    shader.inputs["Emission Color"].default_value = (0.0, 0.3, 0.1, 1.0)
    shader.inputs["Emission Strength"].default_value = 0.0
    plain = middle(mesh)
    shader.inputs["Emission Strength"].default_value = 0.5
    if how == "image":
        links.new(node.outputs[0], shader.inputs["Emission Color"])
    glow = 0.5 * np.array(TEXEL[:3] if how == "image" else (0.0, 0.3, 0.1))
    np.testing.assert_allclose(plain, encoded(np.array((0.1, 0.0, 0.2))), atol=ONE_LEVEL)
    np.testing.assert_allclose(middle(mesh), encoded(np.array((0.1, 0.0, 0.2)) + glow), atol=2 * ONE_LEVEL)


def test_a_color_ramp_behind_an_image_is_shown() -> None:
    _, mesh = textured_character(image((0.3, 0.3, 0.3, 1.0)))
    tree = mesh.data.materials[0].node_tree
    base: Any = principled_node(mesh.data.materials[0]).inputs["Base Color"]
    node = tree.nodes.new("ShaderNodeValToRGB")
    node.color_ramp.elements[0].color, node.color_ramp.elements[1].color = (0.0, 0.0, 1.0, 1.0), (1.0, 0.5, 0.0, 1.0)
    tree.links.new(base.links[0].from_socket, node.inputs[0])
    tree.links.new(node.outputs[0], base)
    np.testing.assert_allclose(middle(mesh), encoded(np.array((0.3, 0.15, 0.7))), atol=2 * ONE_LEVEL)


def test_materials_whose_nodes_are_not_all_shown_are_named_until_they_are() -> None:
    rig, mesh = textured_character(image())
    material: Any = mesh.data.materials[0]
    base: Any = principled_node(material).inputs["Base Color"]
    noise = material.node_tree.nodes.new("ShaderNodeTexNoise")
    material.node_tree.links.new(noise.outputs["Color"], base)
    context.view_layer.objects.active = rig
    toggle()
    context.view_layer.update()
    drawn_viewport(1)
    [character] = life.characters()
    assert character.simplified() == ["Textured"]
    material.node_tree.nodes.remove(noise)
    context.view_layer.update()
    drawn_viewport(1)
    named = character.simplified()
    life.stop()
    assert named == []


@pytest.mark.parametrize("colour_space", ["sRGB", "Non-Color"])
def test_bytes_are_read_in_their_colour_space(colour_space: str) -> None:
    picture: Any = bpy.data.images.new("Bytes", 8, 8)
    picture.generated_color = (0.5, 0.5, 0.5, 1.0)
    picture.colorspace_settings.name = colour_space
    _, mesh = textured_character(picture)
    expected = 0.5 if colour_space == "sRGB" else float(encoded(np.array(0.5)))
    np.testing.assert_allclose(middle(mesh), expected, atol=2 * ONE_LEVEL)


@pytest.mark.parametrize("kind", ["packed", "tiled"])
def test_kinds_of_images(kind: str) -> None:
    picture: Any = bpy.data.images.new("Kind", 8, 8, tiled=kind == "tiled")
    fill(picture, (1.0, 0.0, 0.0, 1.0))
    if kind == "packed":
        picture.pack()
    _, mesh = textured_character(picture)
    np.testing.assert_allclose(middle(mesh), (1.0, 0.0, 0.0), atol=ONE_LEVEL)


def test_a_lost_image_is_never_pink() -> None:
    picture = image(source="FILE", filepath="//nowhere.png")
    _, mesh = textured_character(picture)
    mesh.data.materials[0].diffuse_color = (0.0, 0.25, 0.0, 1.0)
    np.testing.assert_allclose(middle(mesh), encoded(np.array((0.0, 0.25, 0.0))), atol=ONE_LEVEL)


def test_an_image_deleted_while_drawn_is_never_pink() -> None:
    picture = image()
    _, mesh = textured_character(picture)
    with Renderer(context.scene, [mesh], SIZE, SIZE, motion=lambda _: None) as renderer:
        renderer.draw(*seen_from())
        bpy.data.images.remove(picture)
        drawn = renderer.draw(*seen_from())
    assert not (drawn[..., :3] == PINK).all(axis=-1).any()


def test_an_edited_image_is_seen() -> None:
    picture = image()
    rig, mesh = textured_character(picture)
    context.view_layer.objects.active = rig
    shading = viewport()["area"].spaces.active.shading
    shading.type, shading.color_type = "SOLID", "TEXTURE"
    toggle()
    context.view_layer.update()
    before = drawn_viewport(1)
    fill(picture, (0.0, 1.0, 0.0, 1.0))
    after = drawn_viewport(1)
    life.stop()
    shading.color_type = "MATERIAL"
    assert before.any() and (before != after).any() and mesh.name


@pytest.mark.parametrize(("colour_type", "expected"), [
    ("MATERIAL", (0.1, 0.2, 0.3)), ("OBJECT", (0.5, 0.25, 0.1)), ("SINGLE", (0.9, 0.1, 0.1)), ("TEXTURE", TEXEL[:3])])
def test_solids_colours_are_obeyed(colour_type: str, expected: tuple[float, ...]) -> None:
    _, mesh = textured_character(image())
    mesh.color, mesh.data.materials[0].diffuse_color = (0.5, 0.25, 0.1, 1.0), (0.1, 0.2, 0.3, 1.0)
    shading = context.scene.display.shading
    shading.light, shading.color_type, shading.single_color = "FLAT", colour_type, (0.9, 0.1, 0.1)
    np.testing.assert_allclose(middle(mesh, look_of(shading)), encoded(np.array(expected)), atol=ONE_LEVEL)


def test_metal_mirrors_its_surroundings() -> None:
    """Lamps alone would leave it nearly black. What is not metal mirrors nothing."""
    def lightness(metallic: float, *, mirrors: bool) -> float:
        shader: Any = principled_node(mesh.data.materials[0])
        shader.inputs["Metallic"].default_value = metallic
        with Renderer(context.scene, [mesh], SIZE, SIZE, motion=lambda _: None) as renderer:
            drawn = renderer.draw(*seen_from(), look=replace(studio(), mirrors=mirrors))
        return float(drawn[drawn[..., 3] == 255, :3].mean())

    _, mesh = textured_character(image())
    chalk, metal = lightness(0.0, mirrors=True), lightness(1.0, mirrors=True)
    assert chalk == lightness(0.0, mirrors=False)
    assert lightness(1.0, mirrors=False) < 0.75 * metal < chalk


@pytest.mark.parametrize("tone", TONES)
@pytest.mark.parametrize("light", [(0.1, 0.4, 1.0), (0.4, 1.6, 4.0), (0.01, 0.02, 0.005), (0.0, 0.0, 0.0)])
def test_a_view_transform_is_that_of_core(tone: str, light: tuple[float, ...]) -> None:
    _, mesh = textured_character(image())
    shader: Any = principled_node(mesh.data.materials[0])
    shader.inputs["Base Color"].default_value = (0.0, 0.0, 0.0, 1.0)
    for link in list(shader.inputs["Base Color"].links):
        mesh.data.materials[0].node_tree.links.remove(link)
    shader.inputs["Emission Color"].default_value = (*light, 1.0)
    shader.inputs["Emission Strength"].default_value = 1.0
    expected = encoded(toned(np.array(light) * 1.5, tone))
    found = middle(mesh, ViewportLook("NODES", tone=tone, brightness=3.0, exposure=1.5))
    np.testing.assert_allclose(found, expected, atol=ONE_LEVEL)


def test_material_preview_obeys_the_scenes_view_transform_and_its_own_light() -> None:
    """Its exposure counts where the scene lights; Solid obeys none of it."""
    shading, view = viewport()["area"].spaces.active.shading, context.scene.view_settings
    view.view_transform, view.exposure = "AgX", 1.0
    shading.type = "SOLID"
    assert (look_of(shading, view).tone, look_of(shading, view).brightness) == ("Standard", 1.0)
    shading.type, shading.use_scene_lights, shading.use_scene_world = "MATERIAL", False, False
    shading.studiolight_intensity = 0.5
    own = look_of(shading, view)
    assert (own.tone, own.exposure) == ("AgX", 1.0)
    shading.studiolight_intensity = 1.0
    assert look_of(shading, view).brightness == 2.0 * own.brightness
    shading.use_scene_world = True
    of_scene = look_of(shading, view)
    assert (of_scene.brightness, of_scene.exposure) == (1.0, 2.0)
    view.view_transform = "False Color"
    assert look_of(shading, view).tone == "Standard"
    shading.use_scene_world, shading.type = False, "SOLID"


def test_what_is_blended_shows_what_is_behind() -> None:
    _, mesh = textured_character(image())
    mesh.data.materials[0].diffuse_color = (1.0, 1.0, 1.0, 0.25)
    with Renderer(context.scene, [mesh], SIZE, SIZE, motion=lambda _: None) as renderer:
        drawn = renderer.draw(*seen_from(), background=(1.0, 0.0, 0.0, 1.0), look=ViewportLook("MATERIAL"))
    figure = drawn[(drawn[..., 1] > 0)][:, :3]
    assert len(figure) and (figure[:, 0] > figure[:, 1]).all()


def opened(name: str) -> Object:
    """Open a real character as it is, none of its images having been made active; return its armature."""
    path: Path = CHARACTERS / name
    if not path.exists():
        pytest.skip(f"the real character is not at {path}; set TAKT_DATA to the folder of data")
    ops: Any = bpy.ops
    if path.suffix == ".blend":
        libraries: Any = bpy.data.libraries
        with libraries.load(str(path)) as (there, here):
            here.objects = list(there.objects)
        for ob in here.objects:
            context.scene.collection.objects.link(ob)
    else:
        ops.preferences.addon_enable(module="io_scene_gltf2")
        ops.import_scene.gltf(filepath=str(path))
        bones: Any = bpy.data.objects.get("Icosphere")
        bones.hide_render = True
    context.scene.frame_set(8)
    context.view_layer.update()
    return next(ob for ob in context.scene.objects if ob.type == "ARMATURE")


def by_workbench(camera: Object, folder: Path) -> Any:
    scene = context.scene
    scene.render.engine, scene.camera = "BLENDER_WORKBENCH", camera
    scene.render.resolution_x = scene.render.resolution_y = SIZE
    scene.render.resolution_percentage, scene.render.film_transparent = 100, True
    scene.display.render_aa, scene.view_settings.view_transform = "8", "Standard"
    scene.render.image_settings.file_format, scene.render.image_settings.color_mode = "PNG", "RGBA"
    scene.render.filepath = str(folder / "workbench.png")
    bpy.ops.render.render(write_still=True)
    made: Any = bpy.data.images.load(scene.render.filepath)
    pixels = np.empty(SIZE * SIZE * 4, dtype=np.float32)
    made.pixels.foreach_get(pixels)
    return np.rint(pixels.reshape(SIZE, SIZE, 4)[::-1] * 255.0)


def camera_before(meshes: list[Object]) -> Object:
    """Add a camera that sees all of some meshes from near."""
    corners: Any = np.array([mesh.matrix_world @ Vector(corner) for mesh in meshes for corner in mesh.bound_box])
    low, high = corners.min(axis=0), corners.max(axis=0)
    height: Any = float(high[2] - low[2])
    camera: Object = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    context.scene.collection.objects.link(camera)
    aim = Vector((low + high) / 2.0)
    eye = aim + Vector((0.6, -1.9, 0.35)) * height
    camera.matrix_world = Matrix.LocRotScale(eye, (aim - eye).to_track_quat("-Z", "Y"), None)
    camera.data.clip_start, camera.data.clip_end = 0.01 * height, 100.0 * height
    context.view_layer.update()
    return camera


def over_grey(picture: Any) -> Any:
    share = picture[..., 3:] / 255.0
    return picture[..., :3] * share + 60.0 * (1.0 - share)


def our_dancer() -> Object:
    dancer.bound_dancer()
    rig = context.view_layer.objects.active
    rig.pose.bones["l_shoulder"].rotation_mode = "XYZ"
    rig.pose.bones["l_shoulder"].rotation_euler.x = 1.0
    context.view_layer.update()
    return rig


@pytest.mark.parametrize("name", ["B", "Bo", "Bod", "Body", "Body.001", "Körper", "身体", "many letters"])
def test_colours_by_chance_are_those_of_workbench(name: str, tmp_path: Path) -> None:
    """One mesh alone, without light: each of its pixels is its colour."""
    _, mesh = textured_character(image())
    mesh.name = name
    shading = context.scene.display.shading
    shading.color_type, shading.light = "RANDOM", "FLAT"
    theirs = by_workbench(camera_before([mesh]), tmp_path)
    red, green, blue, _ = look_of(shading).colour_of(mesh)
    shown = np.median(theirs[theirs[..., 3] > 250.0], axis=0)[:3]
    np.testing.assert_allclose(shown, 255.0 * np.array(Color((red, green, blue)).from_scene_linear_to_srgb()), atol=2.0)


@pytest.mark.parametrize("name", ["KayKit_Rogue_Hooded.glb", "cesium_man.gltf", "Quaternius_Male_Casual.blend", ""])
def test_a_character_looks_as_workbench_shows_it(name: str, tmp_path: Path) -> None:
    rig = opened(name) if name else our_dancer()
    camera = camera_before([ob for ob in context.scene.objects if ob.find_armature() == rig])
    shading = context.scene.display.shading
    clip = camera.calc_matrix_camera(context.evaluated_depsgraph_get(), x=SIZE, y=SIZE)
    with Renderer(context.scene, [rig], SIZE, SIZE, motion=lambda _: None) as renderer:
        for shading.color_type in ("TEXTURE", "MATERIAL", "RANDOM"):
            theirs = by_workbench(camera, tmp_path)
            ours = renderer.draw(camera.matrix_world.inverted(), clip, look=look_of(shading))
            figure = (theirs[..., 3] > SOLID) & (ours[..., 3] > SOLID)
            a, b = over_grey(theirs), over_grey(ours)
            difference = float(np.abs(a - b)[figure].mean() / 255.0)
            assert figure.sum() > 0.02 * SIZE * SIZE, shading.color_type
            assert difference <= DIFFERENCE and similarity(a, b) >= ALIKE, shading.color_type
