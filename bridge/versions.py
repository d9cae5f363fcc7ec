"""Differences between Blender 4.5 and 5.2, each behind a function; no other code asks for the version."""

from collections.abc import Collection, Mapping
from typing import Any, cast

import bpy

from . import graphics


def ensure_channelbag(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> bpy.types.ActionChannelbag:
    """Return the slot's channels in the action's first layer and strip, created if missing."""
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    bag = cast(bpy.types.ActionKeyframeStrip, strip).channelbag(slot, ensure=True)
    assert bag is not None  # it has just been created
    return bag


def add_fcurve(channels: bpy.types.ActionChannelbag, data_path: str, index: int, group: str) -> bpy.types.FCurve:
    """Add a curve inside a group; from Blender 5.0 on `new` does that itself."""
    if bpy.app.version >= (5, 0, 0):
        return channels.fcurves.new(data_path, index=index, group_name=group)
    curve = channels.fcurves.new(data_path, index=index)
    curve.group = channels.groups.get(group) or channels.groups.new(group)
    return curve


def is_selected(pose_bone: bpy.types.PoseBone) -> bool:
    """Return whether a bone is selected in Pose Mode; Blender 5.0 moved that from Bone to PoseBone."""
    holder: Any = pose_bone if bpy.app.version >= (5, 0, 0) else pose_bone.bone
    return bool(holder.select)


def select_only(pose_bones: Collection[bpy.types.PoseBone], armature_object: bpy.types.Object) -> None:
    """Select only these bones in Pose Mode, and reveal those hidden individually."""
    assert armature_object.pose is not None
    names = {bone.name for bone in pose_bones}
    for pose_bone in armature_object.pose.bones:
        holder: Any = pose_bone if bpy.app.version >= (5, 0, 0) else pose_bone.bone
        holder.select = pose_bone.name in names
        if holder.select and holder.hide:
            holder.hide = False


def saved_settings(ob: bpy.types.Object, name: str) -> Mapping[str, Any] | None:
    """Return an object's saved property of a registered add-on, or None.

    From Blender 5.0 on it is stored apart from the user's own properties.
    """
    holder: Any = ob
    kept = holder.bl_system_properties_get() if bpy.app.version >= (5, 0, 0) else holder
    return None if kept is None else cast(Mapping[str, Any] | None, kept.get(name))


def node_inputs(modifier: bpy.types.NodesModifier) -> dict[str, Any]:
    """Return all inputs of a Geometry Nodes modifier by name: values, and names of attributes to read.

    Since Blender 5.2, these are no longer stored as custom properties of the modifier.
    """
    holder: Any = modifier
    if not hasattr(holder, "properties"):
        return {name: _plain(holder[name]) for name in holder.keys()}  # noqa: SIM118  # Blender's own
    inputs = holder.properties.inputs if modifier.node_group is not None else None
    names = [] if inputs is None else [one.identifier for one in inputs.bl_rna.properties if one.type == "POINTER"]
    return {f"{name}.{one.identifier}": _plain(getattr(getattr(inputs, name), one.identifier))
            for name in names if name != "rna_type" for one in getattr(inputs, name).bl_rna.properties
            if one.identifier != "rna_type"}


def _plain(value: Any) -> Any:
    """Return arrays as tuples of numbers: arrays print their memory address."""
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, (str, dict)) else value


def start_gpu() -> str:
    """Make the gpu module usable without a window; return "", or the reason for failure.

    With a window there is nothing to do. Blender 5.2 has `gpu.init()`. In earlier versions the module starts with the
    first render: a 4 × 4 image by Workbench, in a scene of its own.
    """
    if not bpy.app.background:
        return ""
    if reason := graphics.missing():
        return reason
    import gpu

    try:
        if hasattr(gpu, "init"):
            gpu.init()
        else:
            _render_once()
        gpu.platform.renderer_get()
    except (SystemError, RuntimeError) as error:
        return str(error)
    return ""


def _render_once() -> None:
    scene = bpy.data.scenes.new("Takt GPU start")
    try:
        scene.render.engine = cast(Any, "BLENDER_WORKBENCH")
        scene.render.resolution_x = scene.render.resolution_y = 4
        scene.render.resolution_percentage = 100
        scene.camera = camera = bpy.data.objects.new("Takt GPU start", bpy.data.cameras.new("Takt GPU start"))
        scene.collection.objects.link(camera)
        bpy.ops.render.render(scene=scene.name)
    finally:
        camera_data = cast(bpy.types.Camera, camera.data)
        bpy.data.objects.remove(camera)
        bpy.data.cameras.remove(camera_data)
        bpy.data.scenes.remove(scene)


def principled_node(material: bpy.types.Material) -> bpy.types.Node:
    """Return the shader node of a new material; before Blender 5.0 it has none until nodes are switched on."""
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    tree = material.node_tree
    assert tree is not None
    return next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")


def shader_tree(material: bpy.types.Material) -> bpy.types.NodeTree | None:
    """Return the nodes that a material uses; before Blender 5.0 it may have nodes without using them."""
    return material.node_tree if bpy.app.version >= (5, 0, 0) or material.use_nodes else None


def choose_film(image_settings: bpy.types.ImageFormatSettings) -> None:
    """Set a scene's output to video; Blender 5.0 first needs the media type."""
    settings: Any = image_settings
    if bpy.app.version >= (5, 0, 0):
        settings.media_type = "VIDEO"
    settings.file_format = "FFMPEG"
