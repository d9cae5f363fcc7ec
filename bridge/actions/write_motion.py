"""Write a performed score to the armature and the timeline, and report anything unusual."""

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from typing import cast

import bpy
import numpy as np

from ...core.errors import TaktError, some_of
from ...core.playing.keying import Progress
from ...core.playing.motion import Motion
from ...core.playing.varied import Varied
from .. import axes, properties
from ..frame_rate import frames_per_second, other_rates
from ..meshes import skin_points
from ..reports import HELD_BY_DRIVERS, OTHER_RATES, Severity, Told, report, tell
from ..rigs import armature, bone_rules, constraints, limits
from ..scene import held_props, meeting
from ..scores import parameters, performing, score
from ..steps import finished
from ..tweaking import tweak_copies, tweak_waiting, tweaked_motion, tweaks
from . import action, curves, timeline
from .below_own_actions import has_own_action, plays_below
from .channels import Channels, sample_channels, sample_varied

_NAMES_SHOWN = 8
_FEW_SHOWN = 3
_PROBLEMS_SHOWN = 5
_DIGEST_BYTES = 16
OF_ANOTHER_PARTNER = "partner"
"""Marks an Action made when hands met a character that moves differently now."""


def write_motion(operator: bpy.types.Operator, context: bpy.types.Context, armature_object: bpy.types.Object,
                 motion: Motion, frame_start: int, *, is_new_score: bool = False) -> None:
    """Write a motion as Action and timeline, and report the result; is_new_score: see action.writing."""
    scene = context.scene
    assert scene is not None
    properties.character(armature_object).frame_start = frame_start
    try:
        channels = sampling(armature_object, scene, motion)(None)
    except TaktError as error:
        report(operator, {"ERROR"}, str(error))
        return
    tell(operator, finished(writing(armature_object, scene, motion, channels, is_aside=False,
                                    is_new_score=is_new_score)))


def sampling(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion, *,
             is_ahead: bool = False) -> Callable[[Progress | None], Channels]:
    """Return a function that samples a motion for writing; any thread may call it.

    If values of the score are keyed, each frame is sampled from the motion with that frame's values. Keys of the
    character's tweaks are moved with their blocks. is_ahead: they stay where they are until the motion is written, so
    that keys set meanwhile belong to what the user sees; writing needs the same value. The function raises
    CancelledError if it is cancelled.
    """
    character, fps = properties.character(armature_object), frames_per_second(scene)
    if not is_ahead:
        tweaks.go_along(armature_object, scene, motion)
    rules = bone_rules.read_rules(armature_object)
    if (varied := _varied(armature_object, fps)) is not None:
        start = character.frame_start
        return lambda progress: sample_varied(varied(), fps, start, rules, progress)
    if is_ahead:
        with tweak_copies.moved(armature_object, scene, motion) as actions:
            motion = tweaked_motion.below(armature_object, scene, motion, actions)
    else:
        motion = tweaked_motion.below(armature_object, scene, motion)
    return partial(sample_channels, motion, fps, character.frame_start, character.key_mode, rules)


def without_tweaks(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion) -> Channels:
    """Sample a motion as it is written for a character without tweaks."""
    character, fps = properties.character(armature_object), frames_per_second(scene)
    rules, varied = bone_rules.read_rules(armature_object), _varied(armature_object, fps)
    if varied is not None:
        return sample_varied(varied(), fps, character.frame_start, rules)
    return sample_channels(motion, fps, character.frame_start, character.key_mode, rules)


def _varied(armature_object: bpy.types.Object, fps: float) -> Callable[[], Varied] | None:
    """Return a function that plays the score with each frame's values, if any are keyed."""
    values, known = parameters.keyed(armature_object), score.known_performance(armature_object)
    if values is None or known is None or known.again is None:
        return None
    return partial(parameters.varied, values, known.again, properties.character(armature_object).frame_start, fps)


def write(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion, channels: Channels, *,
          is_ahead: bool = False) -> list[Told]:
    """Write a sampled motion as Action and timeline, and return the messages. is_ahead: as it was sampled."""
    return finished(writing(armature_object, scene, motion, channels, is_aside=False, is_ahead=is_ahead))


def writing(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion, channels: Channels, *,
            is_aside: bool, is_new_score: bool = False, is_ahead: bool = False) -> Generator[float, None, list[Told]]:
    """Write as write does, some keys at each step, and yield the share of work done; see action.writing."""
    character = properties.character(armature_object)
    assert character.text is not None
    name = character.text.name.partition(".pha")[0] or character.text.name
    before = character.action
    before_name = None if before is None else before.name_full
    is_new = before is None or getattr(before, properties.OF_SCORE) != name
    action.note_clashes(armature_object, channels)
    is_edited = action.is_edited_by_hand(armature_object)
    met = meeting.key(armature_object, motion)
    yield from action.writing(armature_object, name, channels, score.played_actions(armature_object), is_aside=is_aside,
                              is_new_score=is_new_score)
    assert character.action is not None  # it was written just now
    if is_ahead:
        tweaks.go_along(armature_object, scene, motion)
    if not character.mute_constraints:
        constraints.forget_met(armature_object)
    muted = constraints.mute(armature_object, _moved(motion) if character.mute_constraints else (), character.action)
    is_extended = timeline.extend_for(character, scene, character.frame_start, channels.last_frame, is_new=is_new)
    timeline.write_markers(armature_object, scene, motion)
    score.keep_lists(armature_object)
    is_settled = meeting.key(armature_object, motion) == met  # otherwise a partner must look at this one's new head
    setattr(character.action, properties.MADE_FROM,
            digest(armature_object, scene) if is_settled else OF_ANOTHER_PARTNER)
    told = list[Told]()
    if channels.has_turning_laps:
        told.append(("WARNING", "Each lap of the loop starts with another heading, which an Action cannot "
                                "repeat: it holds one lap"))
    if before_name is not None and not is_new and before_name != character.action.name_full:
        why = "has curves that were edited by hand" if is_edited else "is used elsewhere"
        told.append(("WARNING" if is_edited else "INFO", f"'{before_name}' {why} and stays as it is; the score plays "
                                                         f"'{character.action.name}' now"))
    if waiting := tweak_waiting.words(armature_object):
        told.append(("WARNING", waiting))
    told += _told_of_own_action(armature_object)
    told += held_props.write(armature_object, scene, motion)
    told += _findings(armature_object, motion, scene)
    seconds = float(channels.frames[-1] - channels.frames[0]) / frames_per_second(scene)
    told.append(("INFO", f"'{armature_object.name}' plays {_counted(len(motion.sequence), 'segment')}, {seconds:.1f} s"
                 + (f"; {_counted(muted, 'constraint')} muted" if muted else "")
                 + (f"; the scene's range is now {scene.frame_start} to {scene.frame_end}" if is_extended else "")))
    return told


def _told_of_own_action(armature_object: bpy.types.Object) -> list[Told]:
    """Return messages for the case that an Action of the animator stays assigned."""
    animation = armature_object.animation_data
    layers = [action for _, action in tweaks.layers_of(armature_object)]
    if (animation is None or animation.action is None or not has_own_action(armature_object)
            or (animation.action in layers and plays_below(armature_object))):
        return []
    own, made = animation.action.name, properties.character(armature_object).action
    assert made is not None  # it was written just now
    if plays_below(armature_object):
        return [("INFO", f"'{own}' is not Takt's and stays assigned; the score plays '{made.name}' below it, in "
                         "the NLA")]
    return [("WARNING", f"'{own}' is not Takt's and stays assigned, so the score is hidden: choose '{made.name}' in "
                        "the Action editor, or add it to the NLA below")]


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def digest(armature_object: bpy.types.Object, scene: bpy.types.Scene, skin: int | None = None) -> str:
    """Return a value that stays the same as long as score, settings and skeleton give the same Action.

    skin: the checksum of its points, if no mesh is to be read. "" without a score. Files and the folders in the
    preferences are left out: they are checked when something else is edited.
    """
    character = properties.character(armature_object)
    if character.text is None:
        return ""
    text, _, _, *others = performing.dependencies(armature_object, parameters.key_over_time(armature_object), skin)
    filepath = character.filepath or character.text.filepath  # as it is kept: a folder may move with its .blend
    found = hashlib.blake2b(str(text).encode("utf-8", "replace"), digest_size=_DIGEST_BYTES)
    found.update(tweaked_motion.digest(armature_object).encode())
    if met := meeting.key(armature_object):  # Actions made before this part existed stay valid
        found.update(repr(met).encode())
    found.update(repr((filepath, others, [getattr(character, name) for name in properties.ACTION_NAMES],
                       character.frame_start, frames_per_second(scene))).encode())
    return found.hexdigest()


def is_made_from(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Return whether the Action is up to date with the score and its settings."""
    made = properties.character(armature_object).action
    return made is not None and getattr(made, properties.MADE_FROM) == digest(armature_object, scene)


def _findings(armature_object: bpy.types.Object, motion: Motion, scene: bpy.types.Scene) -> Iterator[Told]:
    """Yield a message for each unusual property of a motion."""
    for problem in sorted(motion.problems, key=lambda problem: problem.is_note)[:_PROBLEMS_SHOWN]:
        yield "INFO" if problem.is_note else "WARNING", str(problem)
    if properties.character(armature_object).joint_limits and limits.read_limits(armature_object) is None:
        yield "WARNING", "No bone has limits: add Limit Rotation constraints in local space, or IK limits"
    joints, behind, along = _unmatched(armature_object, motion)
    if along:
        yield "INFO", (f"Clips do not move {len(along)} bones, which only follow their parents: "
                       f"{', '.join(along[:_FEW_SHOWN])}{', …' if len(along) > _FEW_SHOWN else ''}")
    findings: list[tuple[Severity, str, tuple[str, ...]]] = [
        ("INFO", "Without counterpart", joints),
        ("WARNING", "Deforming bones that nothing moves stay behind", behind),
        ("WARNING", "Constraints move bones that the score plays; see Mute Constraints below Action",
         _also(constraints.controlled_bones(armature_object), armature_object, motion)),
        ("WARNING", HELD_BY_DRIVERS, _also(curves.held_by_drivers(armature_object), armature_object, motion)),
        ("WARNING", "Connected bones cannot move away from their parents as in the score",
         bone_rules.held_back(armature_object, motion.clips)),
        ("WARNING", OTHER_RATES, other_rates(armature_object, scene))]
    for severity, text, names in findings:
        if names:
            yield severity, f"{text}: {some_of(names, _NAMES_SHOWN)}"
    if text := axes.lying_warning(armature_object, motion.body):
        yield "WARNING", text
    for text in axes.distortions(armature_object):
        yield "WARNING", f"'{armature_object.name}' {text}; apply its scale, or its parent's (Object > Apply)"


def _moved(motion: Motion) -> set[str]:
    """Return the names of the bones that the score moves."""
    return {motion.skeleton.names[joint] for clip in motion.clips for joint in np.flatnonzero(clip.moved).tolist()}


def _unmatched(armature_object: bpy.types.Object, motion: Motion) -> tuple[tuple[str, ...], ...]:
    """Return names: clips' joints without counterpart, bones that stay behind, bones that follow their parents.

    Bones of a control rig that move no skin, and ancestors of moved bones, are left out, since no clip is expected to
    have them.
    """
    bones = cast(bpy.types.Armature, armature_object.data).bones
    moved = _moved(motion)
    ancestors = {above.name for name in moved for above in bones[name].parent_recursive}
    joints = tuple(name for name in motion.unmatched if name not in bones)
    skinned = skin_points.skinned_bones(armature_object)
    skin = [bones[name] for name in motion.unmatched if name in skinned and name not in ancestors]
    along = [bone.name for bone in skin if any(above.name in moved for above in bone.parent_recursive)]
    return joints, tuple(bone.name for bone in skin if bone.name not in along), tuple(along)


def _also(names: Iterable[str], armature_object: bpy.types.Object, motion: Motion) -> tuple[str, ...]:
    """Return those bones that move skin, and that the score moves too."""
    moved = _moved(motion) & armature.with_skin(armature_object)
    return tuple(name for name in names if name in moved)
