"""Blender's materials as core's: what its node trees mean, built by hand."""

from collections.abc import Callable
from typing import Any, get_args

import bpy
import numpy as np
import pytest

from takt.bridge.materials.materials import ColourMode, Surface, read_surface
from takt.bridge.versions import principled_node
from takt.core.shading.material import DARK, UV_IDENTITY, Material, ProgrammeStep, evaluate, number

Nodes = Any
VIEWPORT = (0.1, 0.2, 0.3)


@pytest.fixture
def material() -> Any:
    made: Any = bpy.data.materials.new("Own")
    principled_node(made)
    made.diffuse_color = (*VIEWPORT, 1.0)
    return made


@pytest.fixture
def mesh() -> Any:
    made: Any = bpy.data.meshes.new("Own")
    made.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    for name in ("First", "Second", "Third"):
        made.uv_layers.new(name=name)
    made.uv_layers.active = made.uv_layers["Second"]
    made.uv_layers["Second"].active_render = True
    return made


def picture(name: str = "Picture", **settings: Any) -> Any:
    image: Any = bpy.data.images.new(name, 4, 4)
    for key, value in settings.items():
        setattr(image, key, value)
    return image


class Tree:
    """A material's nodes, by short names."""

    def __init__(self, material: Any) -> None:
        self.material, self.tree = material, material.node_tree
        self.shader: Any = principled_node(material)

    def add(self, kind: str, **settings: Any) -> Any:
        node = self.tree.nodes.new(f"ShaderNode{kind}")
        for key, value in settings.items():
            setattr(node, key, value)
        return node

    def link(self, source: Any, target: Any) -> None:
        self.tree.links.new(source if hasattr(source, "is_output") else source.outputs[0], target)

    def image(self, image: Any, **settings: Any) -> Any:
        return self.add("TexImage", image=image, **settings)


def colour(surface: Surface, *texels: tuple[float, ...]) -> list[float]:
    found = surface.materials["NODES"]
    return list(evaluate(found.colour, [np.array(texel) for texel in texels])[:3])


def fell_back(surface: Surface) -> bool:
    return colour(surface) == pytest.approx(VIEWPORT) and not surface.materials["NODES"].textures


def test_no_material_is_blenders_grey(mesh: Any) -> None:
    surface = read_surface(None, mesh)
    assert {way: surface.materials[way].colour for way in ("NODES", "TEXTURE", "MATERIAL")} == dict.fromkeys(
        ("NODES", "TEXTURE", "MATERIAL"), number(0.8))


def test_values_are_read(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    tree.shader.inputs["Base Color"].default_value = (0.5, 0.25, 0.125, 1.0)
    tree.shader.inputs["Metallic"].default_value = 0.75
    tree.shader.inputs["Roughness"].default_value = 0.25
    found = read_surface(material, mesh).materials
    assert found["NODES"] == Material(number(0.5, 0.25, 0.125), number(1.0), number(0.75), number(0.25))
    assert evaluate(found["MATERIAL"].colour)[:3] == pytest.approx(VIEWPORT)


def test_what_it_emits_is_read_where_it_emits_anything(material: Any, mesh: Any) -> None:
    inputs = Tree(material).shader.inputs
    inputs["Emission Color"].default_value = (0.0, 1.0, 0.5, 1.0)
    for strength, expected in ((0.0, (0.0, 0.0, 0.0)), (3.0, (0.0, 3.0, 1.5))):
        inputs["Emission Strength"].default_value = strength
        found = evaluate(read_surface(material, mesh).materials["NODES"].emission)
        assert found[:3] == pytest.approx(expected)
    inputs["Emission Color"].default_value = (0.0, 0.0, 0.0, 1.0)
    assert read_surface(material, mesh).materials["NODES"].emission == DARK


@pytest.mark.parametrize(("weight", "name"), [(0.0, ""), (0.25, "Own"), (1.0, "Own")])
def test_glass_is_told_to_be_drawn_otherwise(material: Any, mesh: Any, weight: float, name: str) -> None:
    tree = Tree(material)
    tree.shader.inputs["Transmission Weight"].default_value = weight
    assert read_surface(material, mesh).simplified == name
    tree.link(tree.add("Value"), tree.shader.inputs["Transmission Weight"])
    assert read_surface(material, mesh).simplified == "Own"


def test_an_image_is_read_with_how_it_lies(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    node = tree.image(picture(alpha_mode="PREMUL"), interpolation="Closest", extension="CLIP")
    tree.link(node, tree.shader.inputs["Base Color"])
    surface = read_surface(material, mesh)
    [texture] = surface.materials["NODES"].textures
    assert surface.materials["NODES"].colour == (ProgrammeStep("TEXTURE"),)
    assert (texture.image, texture.uv_map, texture.extension, texture.alpha_mode, texture.is_smooth) == (
        node.image.session_uid, 0, "CLIP", "PREMULTIPLIED", False)
    assert surface.uv_maps == ("Second", "")


def test_another_uv_map_and_a_mapping(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    node, mapping, uv = tree.image(picture()), tree.add("Mapping"), tree.add("UVMap", uv_map="First")
    mapping.inputs["Location"].default_value = (0.5, 0.25, 0.0)
    mapping.inputs["Scale"].default_value = (2.0, 3.0, 1.0)
    tree.link(uv, mapping.inputs["Vector"])
    tree.link(mapping, node.inputs["Vector"])
    tree.link(node, tree.shader.inputs["Base Color"])
    surface = read_surface(material, mesh)
    [texture] = surface.materials["NODES"].textures
    assert surface.uv_maps == ("Second", "First") and texture.uv_map == 1
    np.testing.assert_allclose(texture.image_from_uv, ((2.0, 0.0, 0.5), (0.0, 3.0, 0.25)), atol=1e-6)


def test_a_third_uv_map_is_too_many(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    mix = tree.add("MixRGB")
    for name, socket in (("First", 1), ("Third", 2)):
        node = tree.image(picture())
        tree.link(tree.add("UVMap", uv_map=name), node.inputs["Vector"])
        tree.link(node, mix.inputs[socket])
    tree.link(mix, tree.shader.inputs["Base Color"])
    assert fell_back(read_surface(material, mesh))


def tinted(tree: Tree) -> tuple[Any, list[float]]:
    mix = tree.add("MixRGB", blend_type="MULTIPLY")
    mix.inputs[0].default_value, mix.inputs[2].default_value = 1.0, (0.5, 0.5, 1.0, 1.0)
    tree.link(tree.image(picture()), mix.inputs[1])
    return mix, [0.1, 0.2, 0.6]


def half_mixed(tree: Tree) -> tuple[Any, list[float]]:
    mix = tree.add("Mix", data_type="RGBA", blend_type="MIX")
    mix.inputs[0].default_value, mix.inputs[7].default_value = 0.5, (0.0, 0.0, 0.0, 1.0)
    tree.link(tree.image(picture()), mix.inputs[6])
    return mix.outputs[2], [0.1, 0.2, 0.3]


def brighter(tree: Tree) -> tuple[Any, list[float]]:
    node = tree.add("HueSaturation")
    node.inputs[2].default_value = 1.5
    tree.link(tree.image(picture()), node.inputs[4])
    return node, [0.3, 0.6, 0.9]


def inverted_through_a_reroute(tree: Tree) -> tuple[Any, list[float]]:
    node, reroute = tree.add("Invert"), tree.tree.nodes.new("NodeReroute")
    tree.link(tree.image(picture()), reroute.inputs[0])
    tree.link(reroute, node.inputs["Color"])
    return node, [0.8, 0.6, 0.4]


def swapped_channels(tree: Tree) -> tuple[Any, list[float]]:
    separate, combine = tree.add("SeparateColor"), tree.add("CombineColor")
    tree.link(tree.image(picture()), separate.inputs[0])
    for place in range(3):
        tree.link(separate.outputs[place], combine.inputs[2 - place])
    return combine, [0.6, 0.4, 0.2]


def contrast_and_gamma(tree: Tree) -> tuple[Any, list[float]]:
    contrast, gamma = tree.add("BrightContrast"), tree.add("Gamma")
    contrast.inputs[1].default_value, gamma.inputs[1].default_value = 0.1, 2.0
    tree.link(tree.image(picture()), contrast.inputs[0])
    tree.link(contrast, gamma.inputs[0])
    return gamma, [0.09, 0.25, 0.49]


@pytest.mark.parametrize("build", [tinted, half_mixed, brighter, inverted_through_a_reroute, swapped_channels,
                                   contrast_and_gamma])
def test_nodes_between_image_and_shader(material: Any, mesh: Any,
                                        build: Callable[[Tree], tuple[Any, list[float]]]) -> None:
    tree = Tree(material)
    source, expected = build(tree)
    tree.link(source, tree.shader.inputs["Base Color"])
    assert colour(read_surface(material, mesh), (0.2, 0.4, 0.6, 1.0)) == pytest.approx(expected, abs=1e-5)


def test_a_clipped_alpha(material: Any, mesh: Any) -> None:
    """As the glTF importer makes it: one minus whether the image's alpha is less than a threshold."""
    tree = Tree(material)
    less, one_minus = tree.add("Math", operation="LESS_THAN"), tree.add("Math", operation="SUBTRACT")
    less.inputs[1].default_value, one_minus.inputs[0].default_value = 0.3, 1.0
    image = tree.image(picture())
    tree.link(image, tree.shader.inputs["Base Color"])
    tree.link(image.outputs["Alpha"], less.inputs[0])
    tree.link(less, one_minus.inputs[1])
    tree.link(one_minus, tree.shader.inputs["Alpha"])
    found = read_surface(material, mesh).materials["NODES"]
    alphas = [float(evaluate(found.alpha, [np.array((1.0, 1.0, 1.0, alpha))])[0]) for alpha in (0.2, 0.4)]
    assert alphas == [0.0, 1.0] and found.is_blended and len(found.textures) == 1


def test_a_shader_mixed_with_transparency(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    mix = tree.add("MixShader")
    mix.inputs[0].default_value = 0.25
    tree.link(tree.shader, mix.inputs[1])
    tree.link(tree.add("BsdfTransparent"), mix.inputs[2])
    tree.link(mix, tree.tree.get_output_node("EEVEE").inputs["Surface"])
    found = read_surface(material, mesh).materials["NODES"]
    assert float(evaluate(found.alpha)[0]) == pytest.approx(0.75)


def test_metal_and_roughness_by_one_image(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    separate = tree.add("SeparateColor")
    tree.link(tree.image(picture()), separate.inputs[0])
    tree.link(separate.outputs[1], tree.shader.inputs["Roughness"])
    tree.link(separate.outputs[2], tree.shader.inputs["Metallic"])
    found = read_surface(material, mesh).materials["NODES"]
    texel = [np.array((0.1, 0.3, 0.9, 1.0))]
    assert evaluate(found.roughness, texel)[0] == pytest.approx(0.3)
    assert evaluate(found.metallic, texel)[0] == pytest.approx(0.9)


def test_a_normal_map(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    normal = tree.add("NormalMap")
    normal.inputs["Strength"].default_value = 0.5
    tree.link(tree.image(picture()), normal.inputs["Color"])
    tree.link(normal, tree.shader.inputs["Normal"])
    found = read_surface(material, mesh).materials["NODES"]
    assert (found.normal, found.normal_strength) == (0, 0.5)


def test_painted_colours(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    tree.link(tree.add("VertexColor", layer_name="Paint"), tree.shader.inputs["Base Color"])
    surface = read_surface(material, mesh)
    assert surface.materials["NODES"].colour == (ProgrammeStep("ATTRIBUTE"),) and surface.painted == "Paint"


@pytest.mark.parametrize("source", ["missing", "MOVIE", "none"])
def test_an_image_that_is_not_there(material: Any, mesh: Any, source: str) -> None:
    tree = Tree(material)
    image = None if source == "none" else picture()
    if image is not None:
        image.source = "FILE" if source == "missing" else source
        image.filepath = "//nowhere.png"
    node = tree.image(image)
    tree.link(node, tree.shader.inputs["Base Color"])
    tree.tree.nodes.active = node
    surface = read_surface(material, mesh)
    assert fell_back(surface) and not surface.materials["TEXTURE"].textures


MUTED: dict[str, Callable[[Tree], tuple[Any, str]]] = {
    "HueSaturation": lambda tree: (tree.add("HueSaturation", mute=True), "Color"),
    "MixRGB": lambda tree: (tree.add("MixRGB", mute=True), "Color2"),
    "Invert": lambda tree: (tree.add("Invert", mute=True), "Color"),
    "Gamma": lambda tree: (tree.add("Gamma", mute=True), "Color"),
    "BrightContrast": lambda tree: (tree.add("BrightContrast", mute=True), "Color"),
    "RGBCurve": lambda tree: (tree.add("RGBCurve", mute=True), "Color"),
}


@pytest.mark.parametrize("build", MUTED.values(), ids=MUTED)
def test_a_muted_node_passes_on_what_it_is_given(material: Any, mesh: Any,
                                                 build: Callable[[Tree], tuple[Any, str]]) -> None:
    """Also where it could not be read; without anything given, it is as if nothing were linked."""
    tree, texel = Tree(material), (0.2, 0.4, 0.6, 1.0)
    tree.shader.inputs["Base Color"].default_value = (0.7, 0.5, 0.3, 1.0)
    node, into = build(tree)
    tree.link(node, tree.shader.inputs["Base Color"])
    alone = read_surface(material, mesh)
    assert colour(alone) == pytest.approx((0.7, 0.5, 0.3)) and alone.simplified == ""
    tree.link(tree.image(picture()), node.inputs[into])
    given = read_surface(material, mesh)
    assert colour(given, texel) == pytest.approx(texel[:3]) and given.simplified == ""


def test_what_is_muted_and_passes_nothing_on_is_not_linked(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    tree.shader.inputs["Base Color"].default_value = (0.7, 0.5, 0.3, 1.0)
    tree.link(tree.image(picture(), mute=True), tree.shader.inputs["Base Color"])
    tree.link(tree.add("Value", mute=True), tree.shader.inputs["Roughness"])
    tree.shader.inputs["Roughness"].default_value = 0.25
    found = read_surface(material, mesh)
    assert colour(found) == pytest.approx((0.7, 0.5, 0.3)) and found.simplified == ""
    assert evaluate(found.materials["NODES"].roughness)[0] == pytest.approx(0.25)


def test_a_muted_mapping_leaves_the_image_where_it_is(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    image, mapping = tree.image(picture()), tree.add("Mapping", mute=True)
    mapping.inputs["Scale"].default_value = (3.0, 3.0, 3.0)
    tree.link(tree.add("TexCoord").outputs["UV"], mapping.inputs["Vector"])
    tree.link(mapping, image.inputs["Vector"])
    tree.link(image, tree.shader.inputs["Base Color"])
    (texture,) = read_surface(material, mesh).materials["NODES"].textures
    assert texture.image_from_uv == UV_IDENTITY


def test_a_muted_mix_of_shaders_is_the_one_that_blender_passes(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    mix, red = tree.add("MixShader", mute=True), tree.add("BsdfDiffuse")
    red.inputs["Color"].default_value = (0.9, 0.1, 0.1, 1.0)
    output = next(node for node in tree.tree.nodes if node.type == "OUTPUT_MATERIAL")
    tree.link(red, mix.inputs[1])
    tree.link(tree.shader, mix.inputs[2])
    tree.link(mix, output.inputs["Surface"])
    assert [each.from_socket for each in mix.internal_links] == [mix.inputs[1]]
    assert colour(read_surface(material, mesh)) == pytest.approx((0.9, 0.1, 0.1))


@pytest.mark.parametrize(("is_muted", "simplified"), [(True, ""), (False, "Own")])
def test_a_normal_map_below_a_bump_is_seen(material: Any, mesh: Any, is_muted: bool, simplified: str) -> None:
    """The bumps are not, and that is said; strength may come from a node, and is never negative."""
    tree = Tree(material)
    bump, normal, strength = tree.add("Bump", mute=is_muted), tree.add("NormalMap"), tree.add("Value")
    tree.link(tree.image(picture()), normal.inputs["Color"])
    tree.link(normal, bump.inputs["Normal"])
    tree.link(bump, tree.shader.inputs["Normal"])
    tree.link(strength, normal.inputs["Strength"])
    for given, expected in ((0.25, 0.25), (-1.0, 0.0)):
        strength.outputs[0].default_value = given
        surface = read_surface(material, mesh)
        found = surface.materials["NODES"]
        assert (found.normal, found.normal_strength) == (0, expected) and surface.simplified == simplified


def test_normals_that_cannot_be_read_are_told(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    tree.link(tree.add("NormalMap"), tree.shader.inputs["Normal"])
    surface = read_surface(material, mesh)
    assert surface.materials["NODES"].normal == -1 and surface.simplified == "Own"


def unknown(tree: Tree) -> None:
    tree.link(tree.add("TexNoise"), tree.shader.inputs["Base Color"])


def generated_coordinates(tree: Tree) -> None:
    node = tree.image(picture())
    tree.link(tree.add("TexCoord").outputs["Generated"], node.inputs["Vector"])
    tree.link(node, tree.shader.inputs["Base Color"])


def on_a_box(tree: Tree) -> None:
    tree.link(tree.image(picture(), projection="BOX"), tree.shader.inputs["Base Color"])


def no_such_uv_map(tree: Tree) -> None:
    node = tree.image(picture())
    tree.link(tree.add("UVMap", uv_map="Nowhere"), node.inputs["Vector"])
    tree.link(node, tree.shader.inputs["Base Color"])


def five_images(tree: Tree) -> None:
    last = tree.image(picture())
    for _ in range(4):
        mix = tree.add("MixRGB")
        tree.link(last, mix.inputs[1])
        tree.link(tree.image(picture()), mix.inputs[2])
        last = mix
    tree.link(last, tree.shader.inputs["Base Color"])


def no_output(tree: Tree) -> None:
    tree.tree.nodes.clear()


def nothing_linked(tree: Tree) -> None:
    tree.tree.links.clear()


@pytest.mark.parametrize("build", [unknown, generated_coordinates, on_a_box, no_such_uv_map, five_images,
                                   no_output, nothing_linked])
def test_what_cannot_be_read_is_the_viewports_colour(material: Any, mesh: Any, build: Callable[[Tree], None]) -> None:
    build(Tree(material))
    assert fell_back(read_surface(material, mesh))


def test_only_what_cannot_be_read_falls_back(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    tree.shader.inputs["Base Color"].default_value = (0.5, 0.5, 0.5, 1.0)
    tree.link(tree.add("TexNoise"), tree.shader.inputs["Roughness"])
    tree.link(tree.add("TexNoise"), tree.shader.inputs["Alpha"])
    found = read_surface(material, mesh).materials["NODES"]
    assert (found.colour, found.alpha) == (number(0.5, 0.5, 0.5), number(1.0))


def test_texture_shows_the_active_image_alone(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    tree.link(tree.image(picture("Used")), tree.shader.inputs["Base Color"])
    tree.tree.nodes.active = tree.image(picture("Active"))
    found = read_surface(material, mesh).materials
    assert found["TEXTURE"].textures[0].image == bpy.data.images["Active"].session_uid
    assert found["NODES"].textures[0].image == bpy.data.images["Used"].session_uid


def test_every_way_is_there(material: Any, mesh: Any) -> None:
    assert set(read_surface(material, mesh).materials) == set(get_args(ColourMode))


def test_without_uv_maps_no_image_is_shown(material: Any) -> None:
    tree = Tree(material)
    node = tree.image(picture())
    tree.link(node, tree.shader.inputs["Base Color"])
    tree.tree.nodes.active = node
    bare: Any = bpy.data.meshes.new("Bare")
    surface = read_surface(material, bare)
    assert fell_back(surface) and not surface.materials["TEXTURE"].textures


STOPS = ((0.1, (0.0, 0.0, 1.0, 1.0)), (0.35, (1.0, 0.25, 0.0, 0.5)), (0.8, (0.5, 1.0, 0.25, 0.25)))
LEVELS = (0.0, 0.05, 0.2, 0.3, 0.5, 0.65, 0.77, 0.9, 1.0)


def ramp(tree: Tree, **settings: str) -> Any:
    node = tree.add("ValToRGB")
    elements = node.color_ramp.elements
    elements.new(0.5)
    for element, (position, made) in zip(elements, STOPS, strict=True):
        element.position, element.color = position, made
    for key, value in settings.items():
        setattr(node.color_ramp, key, value)
    tree.link(tree.image(picture()), node.inputs[0])
    return node


@pytest.mark.parametrize(("mode", "interpolation"), [
    *(("RGB", each) for each in ("LINEAR", "EASE", "CONSTANT", "B_SPLINE", "CARDINAL")),
    ("HSV", "LINEAR"), ("HSL", "LINEAR")])
def test_a_color_ramp_is_blenders_at_every_level(material: Any, mesh: Any, mode: str, interpolation: str) -> None:
    tree = Tree(material)
    node = ramp(tree, color_mode=mode, interpolation=interpolation)
    tree.link(node, tree.shader.inputs["Base Color"])
    tree.link(node.outputs["Alpha"], tree.shader.inputs["Alpha"])
    surface = read_surface(material, mesh)
    for level in LEVELS:
        expected, texel = list(node.color_ramp.evaluate(level)), (level, level, level, 1.0)
        assert colour(surface, texel) == pytest.approx(expected[:3], abs=0.01)
        assert evaluate(surface.materials["NODES"].alpha, [np.array(texel)])[0] == pytest.approx(expected[3], abs=0.01)
    assert not surface.simplified


def test_a_color_ramp_goes_by_how_bright_its_input_is(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    node = ramp(tree)
    tree.link(node, tree.shader.inputs["Base Color"])
    expected = list(node.color_ramp.evaluate(0.7152))[:3]
    assert colour(read_surface(material, mesh), (0.0, 1.0, 0.0, 1.0)) == pytest.approx(expected, abs=0.01)


def mixed(tree: Tree, first: str, second: str, share: float = 0.25, how: str = "MixShader") -> Any:
    """Set two shaders together, the first red, the second green; return the node that does so."""
    mix = tree.add(how)
    for kind, socket, made in ((first, mix.inputs[-2], (1.0, 0.0, 0.0, 1.0)), (second, mix.inputs[-1],
                                                                              (0.0, 1.0, 0.0, 1.0))):
        node = tree.add(kind)
        next(each for each in node.inputs if each.type == "RGBA").default_value = made
        tree.link(node, socket)
    if how == "MixShader":
        mix.inputs[0].default_value = share
    tree.link(mix, tree.tree.get_output_node("EEVEE").inputs["Surface"])
    return mix


def values(found: Material) -> list[float]:
    """Return colour, metallic and emission."""
    return [*evaluate(found.colour)[:3], evaluate(found.metallic)[0], *evaluate(found.emission)[:3]]


@pytest.mark.parametrize(("how", "first", "second", "expected"), [
    ("MixShader", "BsdfDiffuse", "BsdfDiffuse", (0.75, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0)),
    ("MixShader", "BsdfDiffuse", "BsdfGlossy", (0.75, 0.25, 0.0, 0.25, 0.0, 0.0, 0.0)),
    ("MixShader", "BsdfGlossy", "BsdfDiffuse", (0.75, 0.25, 0.0, 0.75, 0.0, 0.0, 0.0)),
    ("MixShader", "BsdfDiffuse", "Emission", (0.75, 0.0, 0.0, 0.0, 0.0, 0.25, 0.0)),
    ("MixShader", "BsdfPrincipled", "BsdfGlossy", (0.75, 0.25, 0.0, 0.25, 0.0, 0.0, 0.0)),
    ("AddShader", "BsdfDiffuse", "Emission", (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)),
    ("AddShader", "BsdfDiffuse", "BsdfDiffuse", (1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
])
def test_shaders_together(material: Any, mesh: Any, how: str, first: str, second: str,
                          expected: tuple[float, ...]) -> None:
    mixed(Tree(material), first, second, how=how)
    surface = read_surface(material, mesh)
    assert values(surface.materials["NODES"]) == pytest.approx(expected) and not surface.simplified


def test_what_mirrors_decides_how_sharply(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    node = mixed(tree, "BsdfDiffuse", "BsdfGlossy")
    node.inputs[2].links[0].from_node.inputs["Roughness"].default_value = 0.2
    assert evaluate(read_surface(material, mesh).materials["NODES"].roughness)[0] == pytest.approx(0.2)
    tree.link(tree.add("BsdfDiffuse"), tree.tree.get_output_node("EEVEE").inputs["Surface"])
    assert evaluate(read_surface(material, mesh).materials["NODES"].roughness)[0] == 1.0


def test_an_emission_alone_gives_light_only(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    node = tree.add("Emission")
    node.inputs["Color"].default_value, node.inputs["Strength"].default_value = (0.5, 0.25, 1.0, 1.0), 2.0
    tree.link(node, tree.tree.get_output_node("EEVEE").inputs["Surface"])
    assert values(read_surface(material, mesh).materials["NODES"]) == pytest.approx((0, 0, 0, 0, 1.0, 0.5, 2.0))


def test_shaders_with_images_mixed_by_an_image(material: Any, mesh: Any) -> None:
    tree = Tree(material)
    mix = mixed(tree, "BsdfDiffuse", "BsdfGlossy")
    for socket in (mix.inputs[1].links[0].from_node.inputs[0], mix.inputs[2].links[0].from_node.inputs[0],
                   mix.inputs[0]):
        tree.link(tree.image(picture()), socket)
    found = read_surface(material, mesh)
    assert colour(found, (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.5, 1.0), (0.25, 0.25, 0.25, 1.0)) == pytest.approx(
        (0.75, 0.25, 0.125))
    assert len(found.materials["NODES"].textures) == 3 and not found.simplified


def nested(tree: Tree) -> None:
    """Nine shaders with images, each mixed into the others."""
    image, behind = tree.image(picture()), tree.add("BsdfDiffuse")
    for index in range(8):
        mix, front = tree.add("MixShader"), tree.add("BsdfDiffuse")
        front.inputs[0].default_value = (index / 8.0, 1.0, 0.5, 1.0)
        tree.link(image, mix.inputs[0])
        tree.link(front, mix.inputs[1])
        tree.link(behind, mix.inputs[2])
        behind = mix
    tree.link(behind, tree.tree.get_output_node("EEVEE").inputs["Surface"])


def noisy_share(tree: Tree) -> None:
    tree.link(tree.add("TexNoise"), mixed(tree, "BsdfDiffuse", "BsdfGlossy").inputs[0])


def noisy_side(tree: Tree) -> None:
    mix = mixed(tree, "BsdfDiffuse", "BsdfGlossy")
    tree.link(tree.add("TexNoise"), mix.inputs[2].links[0].from_node.inputs[0])


def strange_shader(tree: Tree) -> None:
    node = tree.add("SubsurfaceScattering")
    node.inputs[0].default_value = (1.0, 0.0, 0.0, 1.0)
    tree.link(node, tree.tree.get_output_node("EEVEE").inputs["Surface"])


def strange_node(tree: Tree) -> None:
    node, constant = tree.add("RGBCurve"), tree.add("RGB")
    constant.outputs[0].default_value = (1.0, 0.0, 0.0, 1.0)
    tree.link(constant, node.inputs["Color"])
    tree.link(node, tree.shader.inputs["Base Color"])


def group(tree: Tree) -> None:
    inside: Any = bpy.data.node_groups.new("Skin", "ShaderNodeTree")
    inside.interface.new_socket("Tint", in_out="INPUT", socket_type="NodeSocketColor")
    inside.interface.new_socket("Shader", in_out="OUTPUT", socket_type="NodeSocketShader")
    node = tree.add("Group", node_tree=inside)
    node.inputs[0].default_value = (1.0, 0.0, 0.0, 1.0)
    tree.link(node, tree.tree.get_output_node("EEVEE").inputs["Surface"])


@pytest.mark.parametrize(("build", "expected"), [
    (nested, (0.875, 1.0, 0.5)), (noisy_share, (0.5, 0.5, 0.0)), (noisy_side, (1.0, 0.0, 0.0)),
    (strange_shader, (1.0, 0.0, 0.0)), (strange_node, (1.0, 0.0, 0.0)), (group, (1.0, 0.0, 0.0))])
def test_of_what_is_not_known_the_nearest_colour_is_shown_and_that_is_said(
        material: Any, mesh: Any, build: Callable[[Tree], None], expected: tuple[float, ...]) -> None:
    build(Tree(material))
    surface = read_surface(material, mesh)
    assert colour(surface, (0.0, 0.0, 0.0, 1.0)) == pytest.approx(expected) and surface.simplified == material.name
