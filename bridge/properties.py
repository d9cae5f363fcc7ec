"""Takt's data in a .blend: in `Object.takt`, a character's score and how it is played."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    IntVectorProperty,
    PointerProperty,
    StringProperty,
)

from ..core.clips.keys import INTERPOLATIONS, TRANSLATION_INTERPOLATIONS
from ..core.formats import endings
from ..core.playing.fit import FITS
from ..core.playing.placing.root_motion import ROOT_MODES
from ..core.playing.score import Settings
from ..core.playing.transitions.curves import CURVES, JOINT_TIMES, PACES
from ..core.playing.transitions.lengths import SPEEDS
from ..core.playing.transitions.methods import TRANSITION_METHODS
from ..core.playing.tweaks import EASE_S, MOST_EASE_S
from ..core.retargeting.comparing.bvh_space import AUTO, AXES
from ..core.skeletons import hanim
from ..core.skeletons.body_parts import PARTS
from . import changes, language
from .libraries import TaktOwnFolder, absolute
from .saved_enums import EnumProperty

_FILE_NAME, _SEPARATORS = re.compile(r"[^/\\]*$"), re.compile(r"[/\\]")
NAME = "takt"
"""Name of the property of objects that holds the data."""
MADE_FROM = "takt_made_from"
"""Property of an Action that Takt has made: a digest of its inputs. It is stored in the Action, not in the armature, so
that digest and Action still match if undo restores only one of both.
"""
KEYS_WRITTEN = "takt_keys_written"
"""Property of an Action that Takt has made: a digest of the keys as written. If the keys differ, the user has edited
them.
"""
MUTES = "takt_mutes"
"""Property of an Action that Takt has made: whether it mutes constraints of the armature that plays it."""
MUTED = "takt_muted"
"""Property of an Action that Takt has made: the muted constraints, one per line as bone, tab, name."""
OF_SCORE = "takt_of_score"
"""Property of an Action that Takt has made: the name of the score. Another score gets an Action of its own."""
OF_CLIP = "takt_of_clip"
"""Property of an Action that Takt has made: a digest of the clip and its file. See clip_of_action.py."""
TIES = "takt_ties"
"""Property of an Action of tweaks: the moments of the music to which its keys are tied. See tweaks.py."""
PLACED_BY = "takt_placed_by"
"""Property of an Action of tweaks: the layout of blocks for which its keys were placed, see tweak_placing.Layout.said.
It is stored in the same datablock as the keys, so that undo restores both.
"""
OF_TWEAKS = "takt_of_tweaks"
"""Property of an Action of tweaks: whether Takt has made it; such an Action is renamed with its layer."""
RANGE_LEFT = "takt_range_left"
"""Property of a scene: the first and last frame that Takt has set. If the scene has others, the user has set them."""
VERSION = 2
"""Version of the saved data; every change of it is a step in `migrations.STEPS`."""
_DEFAULTS = Settings()
NO_JOINT = "NONE"
ANY_FORMAT = "ANY"
_OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}
_AXES = [(identifier, *entry) for identifier, entry in AXES.items()]


KEYS = (("KEYS", "As Few as Needed", "Keys of the clips, and those that transitions need, exact to 0.01°: easy to "
                                     "edit by hand"),
        ("EVERY_FRAME", "Every Frame", "One key at each frame, for each bone that moves"))


ROTATIONS = (("QUATERNION", "Quaternions", "Switch bones with other rotation modes to quaternions: they turn along the "
                                           "shorter arc, also between keys"),
             ("AS_RIG", "Keep Rotation Modes", "Keep the bones' rotation modes, for your own Actions. Euler and "
                                                  "axis-angle bones get keys at every frame"))


def library_property(options: Any = frozenset()) -> Any:
    """Return the property that names the folder of clips."""
    return StringProperty(
        name="Library", subtype="DIR_PATH", override={"LIBRARY_OVERRIDABLE"}, update=changes.score,
        options={"PATH_SUPPORTS_BLEND_RELATIVE", *options},
        description="The folder that holds the score's clips and other scores; empty: found from "
                    "the score's own folder upwards")


def procedure_property(**more: Any) -> Any:
    """Return the property for the choice of a procedure."""
    return StringProperty(name="Procedure", default=_DEFAULTS.procedure, override={"LIBRARY_OVERRIDABLE"},
                          update=changes.score,
                          description="Which of the score's procedures is played", **more)


def load_format_property(**more: Any) -> Any:
    """Return the property for the choice among files of one name."""
    return EnumProperty(
        name="Format", default=ANY_FORMAT, override={"LIBRARY_OVERRIDABLE"}, update=changes.score,
        description="Which file is used if the library has several of one name",
        items=[(ANY_FORMAT, "Any", f"The first of these files that exists: {', '.join(endings())}"),
               *((ending, ending, f"The {ending} file, if there is one") for ending in endings())], **more)


def bvh_up_property(**more: Any) -> Any:
    """Return the property for the up axis of BVH files."""
    return EnumProperty(name="BVH Up", default=AUTO, override={"LIBRARY_OVERRIDABLE"}, items=_AXES,
                        update=changes.score,
                        description="Up axis of BVH files, which the format does not store", **more)


def bvh_forward_property(**more: Any) -> Any:
    """Return the property for the facing direction of bodies in BVH files."""
    return EnumProperty(name="BVH Forward", default=AUTO, override={"LIBRARY_OVERRIDABLE"}, items=_AXES,
                        update=changes.score,
                        description="Forward axis of bodies in BVH files, which the format does not store", **more)


class ScoreSettings:
    """How a score is played: annotations shared by the operator and the character's data."""

    if TYPE_CHECKING:
        library: str
        procedure: str
        method: str
        curve: str
        interpolation: str
        root_motion: str
        lock_feet: bool
        keep_contacts: bool
        loop: bool
        translation: str
        pace: str
        joint_time: str
        fit: str
        speed: str
        joint_limits: bool
        load_format: str
        bvh_up: str
        bvh_forward: str
        key_mode: str
        rotations: str
        mute_constraints: bool
        markers_wanted: bool
    else:
        library: library_property()
        procedure: procedure_property()
        method: EnumProperty(
            name="Transition", default=_DEFAULTS.method, override=_OVERRIDABLE, update=changes.score,
            description="Where the transitions between clips play",
            items=[(identifier, entry.label, entry.description) for identifier, entry in TRANSITION_METHODS.items()])
        curve: EnumProperty(
            name="Curve", default=_DEFAULTS.curve, override=_OVERRIDABLE, update=changes.score,
            description="Weight curve of transitions",
            items=[(identifier, entry.label, entry.description) for identifier, entry in CURVES.items()])
        interpolation: EnumProperty(
            name="Interpolation", default=_DEFAULTS.interpolation, override=_OVERRIDABLE, update=changes.score,
            description="How rotations are blended, inside clips and in transitions",
            items=[(identifier, *entry) for identifier, entry in INTERPOLATIONS.items()])
        translation: EnumProperty(
            name="Translations", default=_DEFAULTS.translation, override=_OVERRIDABLE, update=changes.score,
            description="How positions are interpolated between a clip's keys",
            items=[(identifier, *entry) for identifier, entry in TRANSLATION_INTERPOLATIONS.items()])
        pace: EnumProperty(
            name="Pace", default=_DEFAULTS.pace, override=_OVERRIDABLE, update=changes.score,
            description="Time curve of inserted transitions; has no effect on Meet Halfway and Inertialize",
            items=[(identifier, entry.label, entry.description) for identifier, entry in PACES.items()])
        joint_time: EnumProperty(
            name="Joints' Time", default=_DEFAULTS.joint_time, override=_OVERRIDABLE, update=changes.score,
            description="Whether all joints take the whole transition; not for Meet Halfway and Inertialize",
            items=[(identifier, entry.label, entry.description) for identifier, entry in JOINT_TIMES.items()])
        fit: EnumProperty(
            name="Fit", default=_DEFAULTS.fit, override=_OVERRIDABLE, update=changes.score,
            description="Transition point search: at which moments clips join. Seams without a transition"
                        " are not searched",
            items=[(identifier, entry.label, entry.description) for identifier, entry in FITS.items()])
        speed: EnumProperty(
            name="Auto Speed", default=_DEFAULTS.speed, override=_OVERRIDABLE, update=changes.score,
            description="Joint speed that sets the length of transitions without a length in the score",
            items=[(identifier, entry.label, entry.description) for identifier, entry in SPEEDS.items()])
        joint_limits: BoolProperty(
            name="Joint Limits", default=False, override=_OVERRIDABLE, update=changes.score,
            description="Turn a bone the longer way if only the shorter one exceeds its limits (Limit Rotation in "
                        "local space, or IK)")
        load_format: load_format_property()
        bvh_up: bvh_up_property()
        bvh_forward: bvh_forward_property()
        root_motion: EnumProperty(
            name="Root Motion", default=_DEFAULTS.root_motion, override=_OVERRIDABLE, update=changes.score,
            description="Root motion handling: where each clip continues on the ground",
            items=[(identifier, *entry) for identifier, entry in ROOT_MODES.items()])
        lock_feet: BoolProperty(
            name="Foot Lock", default=_DEFAULTS.lock_feet, override=_OVERRIDABLE, update=changes.score,
            description="Hold feet in place during contacts, step where two clips place them differently, and lead "
                        "arms around the trunk in transitions. Off: keeps foot skating")
        keep_contacts: BoolProperty(
            name="Keep Contacts", default=True, override=_OVERRIDABLE, update=changes.score,
            description="Keep hands touching each other, trunk, head or thighs as in the clip, and keep arms out of a "
                        "stouter trunk")
        loop: BoolProperty(
            name="Loop", default=_DEFAULTS.loop, override=_OVERRIDABLE, update=changes.score,
            description="The last clip leads back to the first")
        key_mode: EnumProperty(
            name="Keys", default="EVERY_FRAME", override=_OVERRIDABLE, items=KEYS,
            description="Where the Action has its keys")
        rotations: EnumProperty(
            name="Rotations", default="AS_RIG", override=_OVERRIDABLE, items=ROTATIONS,
            description="Rotation mode of the keys")
        mute_constraints: BoolProperty(
            name="Mute Constraints", default=True, override=_OVERRIDABLE,
            description="Mute constraints that move the bones of the score, as those of a control rig. Off: they "
                        "act again")
        markers_wanted: BoolProperty(
            name="Markers", default=True, override=_OVERRIDABLE,
            description="Mark on the timeline where procedures start")


SETTING_NAMES = ("library", "procedure", "method", "curve", "interpolation", "translation", "pace", "joint_time",
                 "fit", "speed", "root_motion", "loop", "lock_feet", "keep_contacts", "joint_limits", "load_format",
                 "bvh_up", "bvh_forward")
"""Settings on which a motion depends. Their names are those of core's Settings, except for those of files and rigs."""
ACTION_NAMES = ("key_mode", "rotations", "mute_constraints", "markers_wanted")
"""Settings that only the Action and the timeline depend on."""


class TaktMarker(bpy.types.PropertyGroup):
    """A timeline marker that Takt has set. `name` is the marker's."""

    if TYPE_CHECKING:
        frame: int
    else:
        frame: IntProperty()


def _confirm(joint: "TaktJoint", _context: bpy.types.Context) -> None:
    """Mark the joint that the user has chosen as certain, and remove it from the bone that had it."""
    changes.score()
    if joint.certainty < 1.0:
        joint.certainty = 1.0
    if joint.lost:
        joint.lost = ""
    own = character(cast(bpy.types.Object, joint.id_data))
    own.is_map_checked = True
    if joint.meant != NO_JOINT:
        _take(joint, own)


def _take(joint: "TaktJoint", own: "TaktCharacter") -> None:
    """Remove the joint from any other bone. That bone stores the loss, so that the list can show it."""
    for other in own.joints:
        if other.meant == joint.meant and other.name != joint.name:
            other.meant, other.lost = NO_JOINT, joint.meant


class TaktJoint(bpy.types.PropertyGroup):
    """The H-Anim joint of a bone. `name` is the bone's."""

    if TYPE_CHECKING:
        meant: str
        certainty: float
        lost: str
        turn: tuple[float, float, float, float]
    else:
        meant: EnumProperty(
            name="Joint", override=_OVERRIDABLE, update=_confirm, description="Human joint that this bone stands for",
            items=[(NO_JOINT, "–", "This bone is none of the body's joints: clips of other skeletons do not move it"),
                   *((name, hanim.label(name), f"{name} in H-Anim: {hanim.in_plain_words(name)}")
                     for name in hanim.PARENTS)])
        certainty: FloatProperty(name="Certainty", min=0.0, max=1.0, subtype="FACTOR", override=_OVERRIDABLE)
        lost: StringProperty(override=_OVERRIDABLE)  # the joint that the bone had until another one got it
        turn: FloatVectorProperty(size=4, default=(1.0, 0.0, 0.0, 0.0), override=_OVERRIDABLE)  # in the reference pose


class TaktProcedure(bpy.types.PropertyGroup):
    """A procedure of the score as it was last played. `name` is its own."""

    if TYPE_CHECKING:
        ticks: float
        seconds: float
    else:
        ticks: FloatProperty()
        seconds: FloatProperty()


class TaktClip(bpy.types.PropertyGroup):
    """A clip that the score's file loads. `name` is the one by which it is called."""

    if TYPE_CHECKING:
        seconds: float
    else:
        seconds: FloatProperty()


class TaktCalled(bpy.types.PropertyGroup):
    """An Action that the score plays; the reference lets Blender save and append it, too. `name` is used in calls."""

    if TYPE_CHECKING:
        action: bpy.types.Action | None
    else:
        action: PointerProperty(type=bpy.types.Action, override=_OVERRIDABLE)


def _bodies(owner: Any, _context: Any, _said: str) -> list[str]:
    """Return the choices for the part of the body on which a layer acts: named parts, and the masks of the score."""
    text = getattr(owner.id_data, NAME).text
    return [*PARTS, *(() if text is None else _masks_of(text.as_string()))]


@lru_cache(1)
def _masks_of(said: str) -> tuple[str, ...]:
    return tuple(re.findall(r"<mask[^>]*?\bname=[\"']([^\"']+)", said))


def _renamed(layer: Any, _context: Any) -> None:
    """Rename a layer's Action, if Takt has made it. If the name is taken, both get the next free name.

    A layer without a name gets that of its Action.
    """
    action = layer.action
    if action is not None and not layer.name.strip():
        layer.name = action.name
        return
    if action is None or not action.is_editable or not getattr(action, OF_TWEAKS):
        return
    if action.name != layer.name:
        action.name = layer.name
    if layer.name != action.name:
        layer.name = action.name


class TaktTweaks(bpy.types.PropertyGroup):
    """A layer of tweaks: an Action above the score's, whose keys move with their blocks. `name` is its own."""

    if TYPE_CHECKING:
        name: str
        action: bpy.types.Action | None
        ease_in: float
        ease_out: float
        holds: bool
        is_last: bool
        procedure: str
        body: str
        muted: str
    else:
        name: StringProperty(name="Name", override=_OVERRIDABLE, update=_renamed)
        action: PointerProperty(type=bpy.types.Action, override=_OVERRIDABLE)
        procedure: StringProperty(
            name="Procedure", override=_OVERRIDABLE,
            description="Keys that you set in one call of this procedure are repeated in all its calls. Empty: keys "
                        "are only where you set them")
        body: StringProperty(
            name="Body", override=_OVERRIDABLE, search=_bodies, search_options={"SORT", "SUGGESTION"},
            description="Part of the body that this layer changes, such as left_arm, spine + arms - hands, bone:NAME, "
                        "or a mask. Empty: the whole body")
        muted: StringProperty(override=_OVERRIDABLE)  # curves muted because their bones are outside the body part
        ease_in: FloatProperty(
            name="Ease In", subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE", default=EASE_S, min=0.0, max=MOST_EASE_S,
            soft_max=2.0, override=_OVERRIDABLE,
            description="How long before its first key a tweak begins, in seconds")
        ease_out: FloatProperty(
            name="Ease Out", subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE", default=EASE_S, min=0.0, max=MOST_EASE_S,
            soft_max=2.0, override=_OVERRIDABLE,
            description="How long after its last key a tweak ends, in seconds")
        holds: BoolProperty(
            name="Hold", override=_OVERRIDABLE,
            description="Keep the last key's change as an offset, instead of easing it out")
        is_last: BoolProperty(
            name="After Contacts", override=_OVERRIDABLE,
            description="Apply the tweak after Foot Lock, so that feet follow the tweak instead of staying in place")


class TaktParameter(bpy.types.PropertyGroup):
    """A parameter of the procedure that plays. `name` is its own. A value equal to the default follows the default.

    is_here: whether the procedure still has it. If not, it keeps its index, by which Blender's F-Curves find it.
    """

    if TYPE_CHECKING:
        number: float
        truth: bool
        is_truth: bool
        default: float
        is_here: bool
    else:
        number: FloatProperty(name="Value", precision=3, override=_OVERRIDABLE, update=changes.score,
                              description="A value of the score. It can be keyed: each frame shows the score as it "
                                          "plays with the value at that frame")
        truth: BoolProperty(name="Value", override=_OVERRIDABLE, update=changes.score,
                            description="A yes-or-no value of the score. It can be keyed: each frame shows the score "
                                        "as it plays with the value at that frame")
        is_truth: BoolProperty(override=_OVERRIDABLE)
        default: FloatProperty(override=_OVERRIDABLE)
        is_here: BoolProperty(override=_OVERRIDABLE)


def _may_play(role: "TaktRole", target: bpy.types.Object) -> bool:
    """Return whether an object may play a role: paths are curves, floors meshes or instances, persons characters."""
    is_fit = {"path": target.type == "CURVE", "floor": plays_floor(target),
              "person": target.type == "ARMATURE" or target.find_armature() is not None}.get(role.kind, True)
    return is_fit and not is_of_character(target, cast(bpy.types.Object, role.id_data))


def plays_floor(ob: bpy.types.Object) -> bool:
    """Return whether an object may be a floor: a mesh, or an instance of a collection."""
    return ob.type == "MESH" or (ob.instance_type == "COLLECTION" and ob.instance_collection is not None)


def hangs_on(ob: bpy.types.Object, armature_object: bpy.types.Object) -> bool:
    """Return whether an object is a character, a part of its body, or a descendant of it."""
    above = ob.parent
    while above is not None and above != armature_object:
        above = above.parent
    return above is not None or is_of_character(ob, armature_object)


def is_of_character(ob: bpy.types.Object, armature_object: bpy.types.Object) -> bool:
    """Return whether an object is a character or a part of its body."""
    is_deformed = ob.parent == armature_object and ob.parent_type == "ARMATURE"
    return ob == armature_object or is_deformed or any(
        isinstance(modifier, bpy.types.ArmatureModifier) and modifier.object == armature_object
        for modifier in ob.modifiers)


def _recast(role: "TaktRole", context: object = None) -> None:
    role.was = "" if role.target is None else role.target.name
    changes.score(role, context)


class TaktRole(bpy.types.PropertyGroup):
    """The object that plays a role of the score. `name` is the role's.

    kind: place, path, prop, floor or person. is_here: whether the score still has the role; if not, the role keeps its
    object. collection: its meshes are part of a floor, together with the target. meets: whether the character's hands
    meet those of the target. was: the name of the target when it was chosen; it remains if the object is deleted and
    Blender clears the field. leave_empty: a button that clears `was`.
    """

    if TYPE_CHECKING:
        target: bpy.types.Object | None
        collection: bpy.types.Collection | None
        kind: str
        is_here: bool
        meets: bool
        was: str
        leave_empty: bool
    else:
        target: PointerProperty(
            type=bpy.types.Object, name="Played By", override=_OVERRIDABLE, update=_recast, poll=_may_play,
            description="Object that plays this role. A path needs a curve, a floor a mesh, a person a character. "
                        "Empty: the role is ignored")
        collection: PointerProperty(
            type=bpy.types.Collection, name="Collection", override=_OVERRIDABLE, update=changes.score,
            description="All meshes of this collection are the floor, also those within instances")
        kind: StringProperty(override=_OVERRIDABLE)
        is_here: BoolProperty(override=_OVERRIDABLE)
        meets: BoolProperty(override=_OVERRIDABLE)
        was: StringProperty(override=_OVERRIDABLE)
        leave_empty: BoolProperty(
            name="Leave Empty", get=lambda _: False, set=lambda self, _: _recast(self),
            description="Clear this role, since its object was deleted")


def _procedure_index(character: "TaktCharacter") -> int:
    return character.procedures.find(character.procedure)


def _choose_procedure(character: "TaktCharacter", index: int) -> None:
    if 0 <= index < len(character.procedures):
        character.procedure = character.procedures[index].name


class TaktHeld(bpy.types.PropertyGroup):
    """A prop that the character's hands hold, by Takt's constraints."""

    if TYPE_CHECKING:
        prop: bpy.types.Object | None
    else:
        prop: PointerProperty(type=bpy.types.Object, override=_OVERRIDABLE)


class TaktMuted(bpy.types.PropertyGroup):
    """A constraint that is, or may be, muted while a score plays. `name` is the constraint's.

    is_free: whether the user has unmuted it, so that it is never muted again.
    """

    if TYPE_CHECKING:
        bone: str
        is_free: bool
    else:
        bone: StringProperty(override=_OVERRIDABLE)
        is_free: BoolProperty(override=_OVERRIDABLE)


class TaktSwitched(bpy.types.PropertyGroup):
    """A bone whose rotation mode Takt has switched to quaternions, with its former mode. `name` is the bone's."""

    if TYPE_CHECKING:
        mode: str
    else:
        mode: StringProperty(override=_OVERRIDABLE)


def _choose_text(character: "TaktCharacter", _context: bpy.types.Context) -> None:
    """Forget the file of the earlier Text, report the change, and set the version of the stored settings.

    A Text without a file stays in the folder of the earlier one, where the search for its library begins.
    """
    text, path = character.text, character.filepath
    if text is not None and text.filepath:
        character.filepath = text.filepath if text.library is None else ""
    elif text is not None and path and any(
            absolute(other.filepath, other) == absolute(path, character.id_data)
            for other in bpy.data.texts if other.filepath and other != text):
        character.filepath = _FILE_NAME.sub(lambda _: _SEPARATORS.sub("_", text.name), path, count=1)
    changes.score()
    mark_version(character)


def score_path(kept: "TaktCharacter") -> str:
    """Return the absolute path from which a score was loaded, or to which its Text has since been saved; "" if none."""
    if kept.filepath:
        return absolute(kept.filepath, kept.id_data)
    return "" if kept.text is None else absolute(kept.text.filepath, kept.text)


def mark_version(character: "TaktCharacter") -> None:
    """Set the current version in settings that are about to be stored."""
    if character.version < VERSION:
        character.version = VERSION


class TaktCharacter(ScoreSettings, bpy.types.PropertyGroup):
    """The score of an armature, how it is played, and the results."""

    if TYPE_CHECKING:
        version: int
        text: bpy.types.Text | None
        filepath: str
        folders: bpy.types.bpy_prop_collection_idprop[TaktOwnFolder]
        frame_start: int
        ticks_per_bar: int
        keep_action: bool
        action: bpy.types.Action | None
        written: str
        markers: bpy.types.bpy_prop_collection_idprop[TaktMarker]
        range_before: int
        range_after: int
        procedures: bpy.types.bpy_prop_collection_idprop[TaktProcedure]
        procedure_index: int
        clips: bpy.types.bpy_prop_collection_idprop[TaktClip]
        clip_index: int
        called: bpy.types.bpy_prop_collection_idprop[TaktCalled]
        tweaks: bpy.types.bpy_prop_collection_idprop[TaktTweaks]
        tweaks_index: int
        parameters: bpy.types.bpy_prop_collection_idprop[TaktParameter]
        cast: bpy.types.bpy_prop_collection_idprop[TaktRole]
        seed: int
        has_picks: bool
        released: str
        sound: str
        joints: bpy.types.bpy_prop_collection_idprop[TaktJoint]
        joint_index: int
        is_map_checked: bool
        reference_pose: str
        has_reference_pose: bool
        muted: bpy.types.bpy_prop_collection_idprop[TaktMuted]
        are_muted: bool
        held: bpy.types.bpy_prop_collection_idprop[TaktHeld]
        met: bpy.types.bpy_prop_collection_idprop[TaktMuted]
        has_met: bool
        switched: bpy.types.bpy_prop_collection_idprop[TaktSwitched]
    else:
        version: IntProperty(options={"HIDDEN"})  # 0: stored by a version without a number
        text: PointerProperty(
            type=bpy.types.Text, name="Score", override=_OVERRIDABLE, update=_choose_text,
            description="The score that this character plays")
        filepath: StringProperty(
            name="File", subtype="FILE_PATH", override=_OVERRIDABLE, update=changes.score,
            options={"PATH_SUPPORTS_BLEND_RELATIVE"},
            description="File from which the score was read; the search for its library begins there")
        folders: CollectionProperty(type=TaktOwnFolder, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
        frame_start: IntProperty(
            name="Start Frame", default=1, override=_OVERRIDABLE,
            description="The frame at which the score begins")
        ticks_per_bar: IntProperty(
            name="Ticks per Bar", default=4, min=1, soft_max=16, max=1000, override=_OVERRIDABLE,
            description="How many ticks the score editor counts as a bar: 4 in common time, 3 in a waltz")
        keep_action: BoolProperty(
            name="Keep Action Up to Date", default=True, override=_OVERRIDABLE,
            description="Update the Action after every change of the score and its settings. Off: only Rebuild "
                        "updates it")
        action: PointerProperty(type=bpy.types.Action, name="Action", override=_OVERRIDABLE)
        written: StringProperty(options={"HIDDEN"}, override=_OVERRIDABLE)  # paths of the Action's curves, one per line
        markers: CollectionProperty(type=TaktMarker, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
        range_before: IntProperty(override=_OVERRIDABLE)  # the scene's last frame before the score extended it
        range_after: IntProperty(override=_OVERRIDABLE)  # and the last frame after that
        procedures: CollectionProperty(type=TaktProcedure, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
        procedure_index: IntProperty(
            name="Procedure", get=_procedure_index, set=_choose_procedure, override=_OVERRIDABLE,
            description="Which of the score's procedures is played")
        clips: CollectionProperty(type=TaktClip, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
        clip_index: IntProperty(name="Clip", override=_OVERRIDABLE,
                                description="The clip that Insert Clip puts into the score")
        called: CollectionProperty(type=TaktCalled, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
        tweaks: CollectionProperty(type=TaktTweaks, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
        tweaks_index: IntProperty(name="Tweaks", override=_OVERRIDABLE)
        parameters: CollectionProperty(type=TaktParameter, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
        cast: CollectionProperty(type=TaktRole, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
        seed: IntProperty(
            name="Seed", min=0, default=_DEFAULTS.seed, override=_OVERRIDABLE, update=changes.score,
            description="Random seed of the score's picks: the same seed gives the same dance")
        has_picks: BoolProperty(override=_OVERRIDABLE)  # whether the score makes random choices
        sound: StringProperty(
            name="Music", subtype="FILE_PATH", override=_OVERRIDABLE, options={"PATH_SUPPORTS_BLEND_RELATIVE"},
            description="The score's music file, if it is outside the library")
        released: StringProperty(override=_OVERRIDABLE, update=changes.score)  # contacts switched off
        joints: CollectionProperty(type=TaktJoint, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
        joint_index: IntProperty(name="Bone", override=_OVERRIDABLE)
        is_map_checked: BoolProperty(
            name="Use This Map", override=_OVERRIDABLE, update=changes.score,
            description="Confirm that this list is right, and use it to play clips of other skeletons")
        reference_pose: StringProperty(override=_OVERRIDABLE)  # the pose in which the body is compared, in words
        has_reference_pose: BoolProperty(override=_OVERRIDABLE, update=changes.score)
        muted: CollectionProperty(type=TaktMuted, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
        are_muted: BoolProperty(override=_OVERRIDABLE)  # false while another Action is assigned
        held: CollectionProperty(type=TaktHeld, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
        # The constraints that existed when the first Action that may mute some was made, and whether one was made.
        met: CollectionProperty(type=TaktMuted, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
        has_met: BoolProperty(override=_OVERRIDABLE)
        switched: CollectionProperty(type=TaktSwitched, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})


_CLASSES = (TaktMarker, TaktProcedure, TaktClip, TaktCalled, TaktTweaks, TaktParameter, TaktRole, TaktJoint, TaktHeld,
            TaktMuted, TaktSwitched, TaktCharacter)


def character(armature_object: bpy.types.Object) -> TaktCharacter:
    """Return Takt's data of an object."""
    return cast(TaktCharacter, getattr(armature_object, NAME))


def register() -> None:
    """Add Takt's settings to all objects."""
    for cls in _CLASSES:
        language.register_class(cls)
    setattr(bpy.types.Object, NAME, PointerProperty(type=TaktCharacter, override={"LIBRARY_OVERRIDABLE"}))
    for name in (MADE_FROM, KEYS_WRITTEN, OF_SCORE, OF_CLIP, TIES, PLACED_BY):
        setattr(bpy.types.Action, name, StringProperty(options={"HIDDEN"}))
    setattr(bpy.types.Action, OF_TWEAKS, BoolProperty(options={"HIDDEN"}))
    setattr(bpy.types.Action, MUTES, BoolProperty(options={"HIDDEN"}))
    setattr(bpy.types.Action, MUTED, StringProperty(options={"HIDDEN"}))
    setattr(bpy.types.Scene, RANGE_LEFT, IntVectorProperty(size=2, options={"HIDDEN"}))


def unregister() -> None:
    """Remove the settings; data stored in a file stays there."""
    delattr(bpy.types.Scene, RANGE_LEFT)
    for name in (MADE_FROM, KEYS_WRITTEN, OF_SCORE, OF_CLIP, TIES, PLACED_BY, OF_TWEAKS, MUTES, MUTED):
        delattr(bpy.types.Action, name)
    delattr(bpy.types.Object, NAME)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
