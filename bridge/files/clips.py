"""Clips from Blender: Actions of the open file, .blend files, and files that its FBX importer reads.

A .blend is read in a second Blender if one can be started (`second_blender.py`). Other files are read into a hidden
scene of their own, which is removed with all imported data. Clips have H-Anim's axes, as from any other file.
"""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import bpy
import numpy as np

from ...core.clips.clip import Clip
from ...core.clips.clip_file import ClipFile
from ...core.errors import FileError, NeedsBlenderError, NoClipError, TaktError
from ...core.formats import FORMATS
from ...core.formats.format import Format, Source
from ...core.library.store import ClipStore
from ...core.maths import rotations as rot
from ...core.retargeting.comparing.upright import turned
from ...core.skeletons.skeleton import Skeleton
from .. import axes
from ..actions import curves
from ..frame_rate import frames_per_second
from ..meshes.skin_points import read_points, read_sample
from ..rigs import armature, drivers, object_motion
from . import second_blender

_READ_FPS: Final = 24
_SAME_S, _SAME_RAD, _LOOKS = 1e-3, 1e-3, 33
"""Greatest differences between equal motions, in seconds and per unit of size, and the number of compared instants."""
_SET_ASIDE: Final = "Set aside by Takt "


def read_file_clips(source: Source) -> ClipFile:
    """Read all clips of a file that Blender opens; raise FileError if there are none or it is damaged.

    Only in the main thread; in any other, Blender would crash.
    """
    assert threading.current_thread() is threading.main_thread()
    path = source.path
    with _visit() as visit:
        _load(path, visit)
        new = visit.new()
        objects = [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.session_uid in new]
        actions = [action for action in bpy.data.actions if action.session_uid in new]
        if _is_blend(path):
            found = _clips([(action, ob, action.name) for action in actions
                            if (ob := best_fitting(action, objects)) is not None], visit.fps)
        else:
            found = _once(_clips([(action, ob, f"{ob.name}|{action.name}") for action in actions
                                  for ob in _named_by_slots(action, objects)], visit.fps))
    if not found:
        raise NoClipError.at("has no Action that moves bones of an armature" if objects else
                             "has no armature whose bones a clip could move", path)
    return ClipFile(found[0].skeleton, found)


def formats() -> dict[str, Format]:
    """Return all formats of clips, including those that only Blender reads."""
    return {name: replace(entry, read=_read) if entry.needs_blender else entry for name, entry in FORMATS.items()}


def read_elsewhere(source: Source) -> ClipFile | None:
    """Read a file in a second Blender, in any thread; return None if that is not possible.

    .blend files are read so, since a damaged one may crash the Blender that reads it. Of other files, what a second
    Blender has read for the shelf is used. Raises FileError.
    """
    return second_blender.read(source) if _is_blend(source.path) else second_blender.known(source)


def formats_shown(is_stopped: Callable[[], bool], *, keeps: bool) -> dict[str, Format]:
    """Return all formats of clips; those that only Blender reads are read for a shelf, in any thread.

    Reading them raises second_blender.StoppedError if is_stopped says so, NeedsBlenderError if it is not possible here,
    and FileError. keeps: what is read is kept in memory.
    """
    def read(source: Source) -> ClipFile:
        found = second_blender.read_shown(source, is_stopped, keeps=keeps)
        if found is None:
            raise NeedsBlenderError
        return found

    return {name: replace(entry, read=read) if entry.needs_blender else entry for name, entry in FORMATS.items()}


def _read(source: Source) -> ClipFile:
    found = read_elsewhere(source)
    return read_file_clips(source) if found is None else found


def clips_of_action(armature_object: bpy.types.Object,
                    store: ClipStore | None = None) -> Callable[[str], tuple[Clip, ...] | None]:
    """Return a function that finds the clips of an Action of the open file by name; None: no such Action.

    It returns one clip, or () if the Action has no keys for bones of any armature. An Action is read on the
    armature that it fits best; the given one is preferred. Blender sends no notification when an unused Action is
    edited. So its keys are compared each time, which is much faster than making a clip. The clips may be kept over
    undo, as libraries do. store: a cache for the clips.
    """
    store, uid = store or ClipStore(), armature_object.session_uid  # undo frees the object itself

    def find(name: str) -> tuple[Clip, ...] | None:
        action = bpy.data.actions.get(name)
        if action is None:
            return None
        armatures = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
        fitting = best_fitting(action, sorted(armatures, key=lambda ob: ob.session_uid != uid))
        if fitting is None:
            return ()
        scene = cast(bpy.types.Scene, bpy.context.scene)
        fps, skeleton = frames_per_second(scene), store.skeleton(armature.read_skeleton(fitting))
        fitted, turn = curves.fit(action, fitting), axes.armature_from_hanim(fitting)
        held = curves.fingerprint(fitted)
        if held is None:
            return (_clip(fitted, skeleton, fps),)
        key = "action", action.name, held, object_motion.fingerprint(fitted), skeleton, turn.tobytes(), fps
        return (store.made(key, lambda: _clip(fitted, skeleton, fps)),)

    return find


def _clips(played: Iterable[tuple[bpy.types.Action, bpy.types.Object, str]],
           fps: Callable[[bpy.types.Object], float]) -> tuple[Clip, ...]:
    """Read Actions, each on an armature, as clips of these names; fps: frames per second by which an object moves."""
    upright: dict[tuple[bpy.types.Object, int], Clip] = {}
    skeletons: dict[bpy.types.Object, Skeleton] = {}
    result = []
    for action, ob, name in played:
        if ob not in skeletons:
            skeletons[ob] = armature.read_skeleton(ob)
        fitted = curves.fit(action, ob)
        new = _upright(object_motion.carried(curves.read_clip(fitted, skeletons[ob], fps(ob)), fitted, fps(ob)), ob)
        key = (ob, len(new.skeleton))
        if key not in upright:
            upright[key] = replace(new, skin=read_sample(ob, new.skeleton))
        first = upright[key]  # clips of one armature share one skeleton
        result.append(replace(new, name=name, skeleton=first.skeleton, skin=first.skin))
    return tuple(result)


def _once(found: tuple[Clip, ...]) -> tuple[Clip, ...]:
    """Return clips without duplicates: Blender's FBX importer has each strip of the NLA, and its Action too.

    Duplicates have the same motion, and names with the same end; the shortest name is kept.
    """
    kept: list[Clip] = []
    for clip in sorted(found, key=lambda clip: len(clip.name)):
        if not any(_is_again(clip, other) for other in kept):
            kept.append(clip)
    return tuple(clip for clip in found if clip in kept)


def _is_again(clip: Clip, other: Clip) -> bool:
    if (clip.skeleton is not other.skeleton or abs(clip.duration_s - other.duration_s) > _SAME_S
            or clip.name.rpartition("|")[2] != other.name.rpartition("|")[2]):
        return False
    times = np.linspace(0.0, min(clip.duration_s, other.duration_s), _LOOKS)
    one, two = clip.sample(times), other.sample(times)
    size = float(np.abs(clip.skeleton.rest_world[:, :, 3]).max(initial=0.0))
    return bool((rot.angle_between(one.rotations, two.rotations) < _SAME_RAD).all()
                and (np.abs(one.translations - two.translations) <= _SAME_RAD * size).all())


def _named_by_slots(action: bpy.types.Action, objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the armatures whose bones an Action moves by slots with their names, as from FBX files."""
    slots = {slot.name_display: slot for slot in action.slots}

    def is_moved(ob: bpy.types.Object, slot: bpy.types.ActionSlot) -> bool:
        bones = cast(bpy.types.Armature, ob.data).bones
        return any(bone in bones for bone in curves.bones_moved(action, slot))

    return [ob for ob in objects if ob.name in slots and is_moved(ob, slots[ob.name])]


def best_fitting(action: bpy.types.Action, objects: Iterable[bpy.types.Object]) -> bpy.types.Object | None:
    """Return the armature with most of the bones that an Action moves, the first of several, or None."""
    moved = set(curves.bones_moved(action))

    def count(ob: bpy.types.Object) -> int:
        bones = cast(bpy.types.Armature, ob.data).bones
        return sum(name in bones for name in moved)

    best = max(objects, key=count, default=None)
    return best if best is not None and count(best) else None


def _clip(fitted: curves.Fitted, skeleton: Skeleton, fps: float) -> Clip:
    """Read an Action on an armature, in H-Anim's axes."""
    clip = object_motion.travelling(curves.read_clip(fitted, skeleton, fps), fitted, fps)
    clip = _upright(clip, fitted.armature_object)
    points = read_points(fitted.armature_object)
    return clip if points is None else replace(clip, skin=points.sample(skeleton))


def _upright(clip: Clip, armature_object: bpy.types.Object) -> Clip:
    """Return a clip rotated from an armature's axes to H-Anim's."""
    return turned(clip, rot.conjugate(axes.armature_from_hanim(armature_object)))


def must_wait(windows: Iterable[bpy.types.Window]) -> bool:
    """Return whether one of Blender's own modal tools is running, such as moving or sculpting.

    Reading switches a window's scene for a moment, which would disturb such a tool; it ends soon.
    Operators of add-ons are ignored: many of them run as long as Blender does.
    """
    python_class = bpy.types.Operator.bl_rna_get_subclass_py
    return any(running is not None and python_class(running.bl_idname) is None  # None: its class was unregistered
               for window in windows for running in window.modal_operators)


class _Visit:
    """A scene of its own, and all data imported since it was made."""

    def __init__(self) -> None:
        self._before = {block.session_uid for block in _blocks()}
        self.scene = bpy.data.scenes.new("Takt reading")
        self.scene.render.fps, self.scene.render.fps_base = _READ_FPS, 1.0

    def fps(self, ob: bpy.types.Object) -> float:
        """Return the frames per second for an object: those of its imported scene, else of this one."""
        return frames_per_second(next((scene for scene in ob.users_scene if scene != self.scene), self.scene))

    def new(self) -> set[int]:
        """Return the session uids of the imported data."""
        return {block.session_uid for block in _blocks()} - self._before

    def leave(self) -> None:
        """Remove all imported data and the scene."""
        new = self.new()
        bpy.data.batch_remove([block for block in _blocks() if block.session_uid in new])


@contextlib.contextmanager
def _visit() -> Iterator[_Visit]:
    """Make a scene and show it in the window; at the end remove it with all data imported meanwhile.

    Importers need it to be the window's scene: with a mere override of the context Blender 5.2 crashes in them.
    """
    manager = bpy.context.window_manager
    window = bpy.context.window or (manager.windows[0] if manager and len(manager.windows) else None)
    if window is None:
        raise TaktError("files of this kind can only be read while Blender has a window")
    before = window.scene, window.view_layer
    with _names_free():
        visit = _Visit()
        try:
            window.scene = visit.scene
            yield visit
        finally:
            window.scene, window.view_layer = before
            visit.leave()


@contextlib.contextmanager
def _names_free() -> Iterator[None]:
    """Rename the open file's Actions and objects meanwhile; beside a Walk, an imported Walk would become Walk.001.

    A score calls clips by the names of Actions, which in FBX files contain the armature's. Linked data keep their
    names, which cannot clash.
    """
    blocks = [block for block in (*bpy.data.actions, *bpy.data.objects) if block.library is None]
    names = [block.name for block in blocks]
    for number, block in enumerate(blocks):
        block.name = f"{_SET_ASIDE}{number}"
    try:
        yield
    finally:
        for block, name in zip(blocks, names, strict=True):
            block.name = name


def _blocks() -> Iterator[bpy.types.ID]:
    for name in dir(bpy.data):
        collection = getattr(bpy.data, name)
        if isinstance(collection, bpy.types.bpy_prop_collection) and name != "window_managers":
            yield from (block for block in cast(Any, collection) if isinstance(block, bpy.types.ID))


def _load(path: Path, visit: _Visit) -> None:
    operators: Any = bpy.ops
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            if _is_blend(path):
                _append(path, visit.scene)
                new = visit.new()
                drivers.remove_python(block for block in _blocks() if block.session_uid in new)
            else:
                operators.wm.fbx_import(filepath=str(path), anim_offset=0.0)  # sets the scene's frames per second
    except (RuntimeError, OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        reason = [line for line in str(error).splitlines() if line.strip() and not line.startswith("Location:")]
        why = reason[-1].removeprefix("Error: ").replace(f" '{path}'", "") if reason else type(error).__name__
        raise FileError.at(f"Blender could not read it: {why}", path) from error


def _is_blend(path: Path) -> bool:
    return path.suffix.lower() == ".blend"


def _append(path: Path, scene: bpy.types.Scene) -> None:
    """Append all contents of a .blend; the scene gets the file's frames per second, for objects in no scene there."""
    libraries: Any = bpy.data.libraries
    with libraries.load(str(path), link=False) as (there, wanted):
        wanted.objects, wanted.actions, wanted.scenes = there.objects, there.actions, there.scenes
    for first in [found for found in wanted.scenes if found is not None][:1]:
        scene.render.fps, scene.render.fps_base = first.render.fps, first.render.fps_base
