"""The panel that shows which bone is which joint of the body."""

from operator import itemgetter
from typing import Any

import bpy

from ..bridge import properties
from ..bridge.active_character import active_armature
from ..bridge.language import say
from ..core.skeletons import hanim
from ..core.skeletons.maps import SURE
from ..operators.reference_pose import TAKT_OT_set_reference_pose
from ..operators.skeleton_map import TAKT_OT_find_map, TAKT_OT_save_map
from .sidebar import SidebarPanel, draw_reasons, draw_words


class TAKT_UL_joints(bpy.types.UIList):
    """Bones, what they are, and how certain that is."""

    def draw_item(self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active_data: Any,
                  _active_property: Any, _index: Any = 0, _flag: Any = 0) -> None:
        """Draw one bone, without the namespace that all of them share."""
        is_certain = item.meant == properties.NO_JOINT or item.certainty >= 1.0
        split = layout.split(factor=0.36)
        name = _short(item)
        if not _is_in_doubt(item):
            split.label(text=name, translate=False)
        else:
            split.label(text=name, icon="ERROR", translate=False)
        if is_certain:
            split.prop(item, "meant", text="")
            return
        split = split.split(factor=0.72)
        split.prop(item, "meant", text="")
        split.label(text=f"{item.certainty:.0%}", translate=False)

    def filter_items(self, _context: Any, data: Any, property_name: Any) -> Any:
        """Sort uncertain bones first, and bones without a joint last; the list's text filter still applies."""
        joints = getattr(data, property_name)
        flags: list[int] = []
        if self.filter_name:
            flags = bpy.types.UI_UL_list.filter_items_by_name(
                self.filter_name, self.bitflag_filter_item, joints, "name", reverse=False)

        def rank(index: int) -> int:
            joint = joints[index]
            return 0 if _is_in_doubt(joint) else 2 if joint.meant == properties.NO_JOINT else 1

        order = sorted(range(len(joints)), key=rank)
        return flags, [position for position, _ in sorted(enumerate(order), key=itemgetter(1))]


def _is_in_doubt(joint: properties.TaktJoint) -> bool:
    """Return whether the user should check a bone: it is uncertain, or its joint was given to another bone."""
    return bool(joint.lost) or (joint.meant != properties.NO_JOINT and joint.certainty < SURE)


def _short(joint: properties.TaktJoint) -> str:
    """Return a bone's name without its namespace."""
    return joint.name.rpartition(":")[2]


def losses(character: properties.TaktCharacter) -> list[str]:
    """Return a sentence for each bone whose joint was given to another one."""
    owners = {joint.meant: _short(joint) for joint in character.joints}
    return [f"{owners[joint.lost]} is {hanim.label(joint.lost)} now, no longer {_short(joint)}: choose what this one "
            "is, or –" for joint in character.joints if joint.lost in owners]


class TAKT_PT_skeleton_map(SidebarPanel):
    """See and correct which bone is which."""

    bl_label = "Skeleton Map"
    manual = "retargeting"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Return whether there is an armature."""
        return active_armature(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the list and its operators."""
        layout, armature_object = self.layout, active_armature(context)
        assert layout is not None and armature_object is not None
        character = properties.character(armature_object)
        layout.operator(TAKT_OT_find_map.bl_idname, icon="VIEWZOOM")
        draw_reasons(layout, context, TAKT_OT_find_map)
        if not len(character.joints):
            return
        layout.template_list("TAKT_UL_joints", "", character, "joints", character, "joint_index", rows=8)
        for words in losses(character):
            draw_words(layout, context, words, icon="INFO")
        layout.prop(character, "is_map_checked")
        draw_words(layout, context, f"Compared in {character.reference_pose or 'the rest pose'}", icon="INFO")
        layout.operator_menu_enum(TAKT_OT_set_reference_pose.bl_idname, "source", text=say("Set Reference Pose"),
                                  translate=False)
        layout.operator(TAKT_OT_save_map.bl_idname, icon="FILE_TICK")
