"""The Action of a score that is kept up to date: sampled in a thread, then written, one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import bpy

from ...core.errors import TaktError
from ..actions import action, between_steps, long_actions, write_motion
from ..actions.channels import Channels
from ..background import BackgroundWork
from ..frame_rate import frames_per_second
from .performing import Performance


@dataclass(frozen=True)
class _Writing:
    """An Action that is being sampled: for which armature, and from which digest."""

    uid: int
    digest: str
    performance: Performance
    work: BackgroundWork[Channels]


class Ended(NamedTuple):
    """The armature whose Action was to be written, by its object's session_uid, and why it was not; "" if it was."""

    uid: int
    problem: str = ""


_writing: _Writing | None = None


def begin(armature_object: bpy.types.Object, scene: bpy.types.Scene, digest: str, performance: Performance) -> str:
    """Begin to sample an Action if none is being sampled; return why the old one must stay, "" if it need not."""
    global _writing
    if _writing is not None or performance.motion is None:
        return ""
    if action.is_edited_by_hand(armature_object):
        return action.EDITED_BY_HAND
    if problem := long_actions.problem(performance.motion, frames_per_second(scene)):
        return problem
    sample = write_motion.sampling(armature_object, scene, performance.motion, is_ahead=True)
    _writing = _Writing(armature_object.session_uid, digest, performance, BackgroundWork(sample))
    return ""


def finish(armatures: Mapping[int, bpy.types.Object], scene: bpy.types.Scene) -> Ended | None:
    """Write the sampled Action; return None if it is not sampled yet, or if the score has changed meanwhile.

    armatures: by their session_uid.
    """
    global _writing
    if _writing is None or not _writing.work.has_ended():
        return None
    writing, _writing = _writing, None
    armature_object, motion = armatures.get(writing.uid), writing.performance.motion
    if armature_object is None or motion is None or write_motion.digest(armature_object, scene) != writing.digest:
        return None
    try:
        channels = writing.work.result()
    except TaktError as error:
        return Ended(writing.uid, str(error))
    action.note_clashes(armature_object, channels)
    if action.is_edited_by_hand(armature_object):
        return Ended(writing.uid, action.EDITED_BY_HAND)
    with between_steps.noted(armature_object):
        write_motion.write(armature_object, scene, motion, channels, is_ahead=True)
    return Ended(writing.uid)


def end() -> None:
    """Stop sampling; nothing is written."""
    global _writing
    if _writing is not None:
        _writing.work.end()
    _writing = None
