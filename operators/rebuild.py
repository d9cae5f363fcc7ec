"""Rebuild: write the Action again after the score or its settings were edited."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty

from ..bridge import properties
from ..bridge.actions import long_actions
from ..bridge.actions.write_motion import write_motion
from ..bridge.active_character import ForScore, active_armature
from ..bridge.files.read_progress import reading
from ..bridge.frame_rate import frames_per_second
from ..bridge.language import say
from ..bridge.reports import refuse, refuse_score, report
from ..bridge.scene import meeting
from ..bridge.scores import following, score
from ..bridge.scores.performing import Performance
from ..core.playing.meeting import moves_otherwise
from ..core.playing.motion import Motion
from .in_steps import WorksInSteps


class TAKT_OT_rebuild(WorksInSteps, ForScore, bpy.types.Operator):
    """Rebuild the Action of the active armature from its score, and read changed clip files again"""

    bl_idname = "takt.rebuild"
    bl_label = "Rebuild"
    bl_options = {"REGISTER", "UNDO"}

    doing = "Writing the Action"

    if TYPE_CHECKING:
        write_long: bool
    else:
        write_long: BoolProperty(name="Write Long Action", options={"SKIP_SAVE"},
                                 description="Write the Action however many keys it gets; it may take minutes and "
                                             "several gigabytes")

    _performance: Performance | None = None
    """The performance by which invoke has found the motion's length."""
    _before: Motion | None = None
    """The motion played before that, None if it is unknown."""
    _is_watched = False
    """Whether a user sees the progress and can press Esc; scripts wait until everything is written."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Ask before writing an Action so long that it takes time and slows down each undo step."""
        self._before = _known(context)
        self._performance, self._is_watched = _performed(context), True
        too_long = _too_long(context, self._performance)
        if not too_long or self.write_long:
            return self.execute(context)
        assert context.window_manager is not None and context.scene is not None
        assert self._performance.motion is not None  # it has a motion, which is long
        self.write_long = True
        manager: Any = context.window_manager
        length = long_actions.length(self._performance.motion, frames_per_second(context.scene))
        question = f"{length}: this may take minutes. The preview plays it without an Action"
        asked: set[Any] = manager.invoke_confirm(self, event, title=say("Write a Long Action?"), message=say(question),
                                                 confirm_text=say("Write Action"), icon="WARNING")
        return asked

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Perform the score first, then write everything."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        before = _known(context) if self._performance is None else self._before
        performance, self._performance = self._performance or _performed(context), None
        is_watched, self._is_watched = self._is_watched, False
        too_long = _too_long(context, performance)
        if too_long and not self.write_long:
            return refuse(self, f"{too_long}. Rebuild writes it where write_long is true")
        done: set[Any] = {"CANCELLED"}
        if performance.motion is not None and too_long:
            steps = long_actions.writing(armature_object, scene, performance.motion)
            done = self.begin(context, steps) if is_watched else self.take_all(context, steps)
        elif performance.motion is not None:
            write_motion(self, context, armature_object, performance.motion,
                         properties.character(armature_object).frame_start)
            done = {"FINISHED"}
        others = list(meeting.those_who_meet(armature_object, scene)) if "CANCELLED" not in done else []
        if others and before is not None and performance.motion is not None and (
                moves_otherwise(before, performance.motion)):
            following.partner_changed(others)
        character = properties.character(armature_object)
        if performance.error is not None and score.is_empty(character, performance.error):
            text = character.text
            assert text is not None  # an empty one
            report(self, {"INFO"}, f"'{armature_object.name}' plays '{text.name}', which is empty: insert clips")
            return {"FINISHED"}
        if performance.error is not None:
            refuse_score(self, performance.error)
        return done


def _known(context: bpy.types.Context) -> Motion | None:
    """Return the last performed motion of the active armature's score."""
    armature_object = active_armature(context)
    known = None if armature_object is None else score.known_performance(armature_object)
    return None if known is None else known.motion


def _performed(context: bpy.types.Context) -> Performance:
    """Perform the score of the active armature again."""
    armature_object = active_armature(context)
    assert armature_object is not None
    score.forget(armature_object)
    with reading(context) as formats:
        return score.performed(armature_object, formats)


def _too_long(context: bpy.types.Context, performance: Performance) -> str:
    assert context.scene is not None
    return "" if performance.motion is None else long_actions.problem(performance.motion,
                                                                      frames_per_second(context.scene))
