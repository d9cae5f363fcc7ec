"""How long a score takes to become an Action, beside Blender's own baking and scipy's interpolation.

dev.py bench score prints, in processor time:
  action   14,400 frames of 65 bones from a score of 600 calls: parsed, resolved, expanded, sampled, written, for both
           ways to set keys (at most 2 s are wanted);
  bake     nla.bake of the same armature over as many frames (30 times the action's time is wanted);
  calls    50,000 calls parsed, resolved and expanded (at most 1 s);
  sample   the same motion by core alone; one instant; fifty characters at once with their palettes (3 ms for all);
  feet     likewise a score of 600 steps on the sample character, whose feet stand, beside the same as authored, in
           turns: what is put together at the first sample, also of 50,000 calls, and what sampling costs more;
  slerp    rotations by core's key table and by scipy's Slerp, where scipy is there (3 times as fast is wanted).
"""

import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import bpy
import numpy as np

import takt
from takt.bridge.actions import action
from takt.bridge.actions.channels import sample_channels
from takt.bridge.rigs import armature
from takt.core.clips.clip import Clip, Tracks
from takt.core.library.library import Library
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, perform
from takt.core.skeletons.skeleton import Skeleton
from takt.core.skinning import Palette
from takt.samples.clips import build_clips
from takt.samples.skeleton import build_skeleton

from .timing import say, seconds

BONES, CALLS, CALLS_ALONE, CLIPS, KEYS = 65, 600, 50_000, 12, 24
CHARACTERS = 50
_NAMES = tuple(f"clip{number}" for number in range(CLIPS))
UP = np.array((0.0, 0.0, 1.0))


def main() -> int:
    """Measure everything once, the best of a few runs where they are short."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    takt.register()
    rig = _rig()
    skeleton = armature.read_skeleton(rig)
    library = Library(other_clips=lambda src: _clips(skeleton))
    text = _score(CALLS)
    scene = bpy.context.scene
    assert scene is not None
    scene.render.fps = 24
    motions: list[Motion] = []

    def act(keys: str) -> None:
        motions.append(perform(text, None, library, Performer(skeleton, UP), Settings()))
        action.write_action(rig, "Bench", sample_channels(motions[-1], 24.0, 1, keys))

    every, few = (seconds(lambda keys=keys: act(keys), 2) for keys in ("EVERY_FRAME", "KEYS"))  # type: ignore[misc]
    motion = motions[-1]
    frames = int(motion.duration_s * 24)
    say("action", f"{frames} frames, {BONES} bones, {CALLS} calls: {every:.2f} s every frame, {few:.2f} s few keys")
    baked = _bake(rig, frames)
    say("bake", f"nla.bake {baked:.1f} s for as many: {baked / every:.1f} times")
    long = _score(CALLS_ALONE)
    calls = seconds(lambda: expand(resolve(parse(long), library)), 3)
    say("calls", f"{CALLS_ALONE} parsed, resolved, expanded: {calls:.2f} s")
    _sampling(motion)
    _feet()
    _slerp()
    return 0


def _sampling(motion: Motion) -> None:
    rng = np.random.default_rng(1)
    times = np.linspace(0.0, motion.duration_s, 14_400)
    whole = seconds(lambda: [motion.sample(times[i:i + 256]) for i in range(0, len(times), 256)], 2)
    instants = rng.uniform(0.0, motion.duration_s, 200)
    one = seconds(lambda: [motion.sample(instants[i:i + 1]) for i in range(200)], 3) / 200
    crowd = rng.uniform(0.0, motion.duration_s, CHARACTERS)
    fifty = seconds(lambda: [Palette.from_pose(motion.skeleton, motion.sample(crowd)) for _ in range(20)], 3) / 20
    say("sample", f"{len(times)} frames {whole:.2f} s; one {one * 1e3:.3f} ms; {CHARACTERS} characters of "
                  f"{BONES} bones with palettes {fifty * 1e3:.2f} ms")


def _feet() -> None:
    clips, skeleton = build_clips("feet/Steps.skeleton.xml"), build_skeleton()
    library, up = Library(other_clips=lambda src: clips), np.array((0.0, 1.0, 0.0))

    def played(calls: int, stands: bool) -> Motion:
        text = _score(calls, [clip.name for clip in clips])
        return perform(text, None, library, Performer(skeleton, up), Settings(lock_feet=stands))

    first = [played(calls, True) for calls in (CALLS, CALLS_ALONE)]
    taken = [seconds(partial(motion.sample, np.zeros(1)), 1) for motion in first]
    say("feet", f"first sample of {CALLS} calls {taken[0] * 1e3:.0f} ms, of {CALLS_ALONE} {taken[1]:.2f} s")
    motions = played(CALLS, False), played(CALLS, True)
    rng = np.random.default_rng(1)
    long, crowd = np.linspace(0.0, motions[0].duration_s, 14_400), rng.uniform(0.0, motions[0].duration_s, CHARACTERS)
    _beside("14400 frames", motions, [long[i:i + 256] for i in range(0, len(long), 256)], 1, 5)
    _beside("one", motions, list(rng.uniform(0.0, motions[0].duration_s, (100, 1))), 100, 10)
    _beside(f"{CHARACTERS} characters", motions, [crowd] * 20, 20, 10)


def _beside(what: str, motions: tuple[Motion, Motion], times: Sequence[FloatArray], count: int, runs: int) -> None:
    """Print what sampling takes with feet as authored and with feet that stand, measured in turns."""
    best = np.full(2, np.inf)
    for _ in range(runs):
        for which, motion in enumerate(motions):
            best[which] = min(best[which], seconds(partial(_all, motion, times), 1) * 1e3 / count)
    say("feet", f"{what}: as authored {best[0]:.3f} ms, standing {best[1]:.3f} ms: {best[1] / best[0]:.2f} times")


def _all(motion: Motion, times: Sequence[FloatArray]) -> None:
    for at in times:
        motion.sample(at)


def _slerp() -> None:
    frames, rng = 14_400, np.random.default_rng(2)
    times = np.arange(KEYS, dtype=np.float64)
    values = rot.normalized(rng.normal(size=(KEYS, BONES, 4)))
    skeleton = Skeleton.from_arrays([f"b{i}" for i in range(BONES)], [-1] * BONES, rot.identities(BONES),
                                    np.zeros((BONES, 3)))
    clip = Clip("c", skeleton, times[-1], Tracks.uniform(np.arange(BONES), times, values), Tracks.empty(3),
                Tracks.empty(3))
    at = np.sort(rng.uniform(0.0, times[-1], frames))
    own = seconds(lambda: [clip.sample(at[i:i + 256], "SLERP") for i in range(0, frames, 256)], 3) / (frames * BONES)
    try:  # only here, and without types
        from scipy.spatial.transform import Rotation, Slerp  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        say("slerp", f"{own * 1e9:.0f} ns a rotation; scipy is not there to compare with")
        return
    slerps = [Slerp(times, Rotation.from_quat(values[:, bone][:, (1, 2, 3, 0)])) for bone in range(BONES)]
    theirs = seconds(lambda: [slerp(at).as_quat() for slerp in slerps], 2) / (frames * BONES)
    say("slerp", f"{own * 1e9:.0f} ns a rotation, scipy {theirs * 1e9:.0f} ns: {theirs / own:.1f} times")


def _bake(rig: bpy.types.Object, frames: int) -> float:
    """Return how long nla.bake takes over the frames of the assigned Action."""
    assert bpy.context.view_layer is not None
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:  # type: ignore[union-attr]
        holder: Any = bone if bpy.app.version >= (5, 0, 0) else bone.bone
        holder.select = True
    start = time.process_time()
    bpy.ops.nla.bake(frame_start=1, frame_end=frames, only_selected=True, visual_keying=True,
                     bake_types={"POSE"})
    return time.process_time() - start


def _rig() -> bpy.types.Object:
    """Make five chains of thirteen bones."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    assert bpy.context.collection is not None and bpy.context.view_layer is not None
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones  # type: ignore[union-attr]
    for i in range(BONES):
        bone = bones.new(f"bone{i}")
        chain, step = i % 5, i // 5
        bone.head, bone.tail = (chain * 0.3, 0.0, step * 0.1), (chain * 0.3, 0.02, step * 0.1 + 0.1)
        bone.parent = bones[f"bone{i - 5}"] if step else (bones["bone0"] if i else None)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _clips(skeleton: Skeleton) -> tuple[Clip, ...]:
    """Make clips of a second in which every bone turns and the first one travels."""
    rng, times = np.random.default_rng(0), np.linspace(0.0, 1.0, KEYS)
    clips = []
    for i in range(CLIPS):
        turns = rot.exp(np.cumsum(rng.normal(0.0, 0.05, (KEYS, BONES, 3)), axis=0))
        path = np.cumsum(rng.normal(0.0, 0.02, (KEYS, 1, 3)), axis=0)
        clips.append(Clip(f"clip{i}", skeleton, 1.0, Tracks.uniform(np.arange(BONES), times, turns),
                          Tracks.uniform(np.array((0,)), times, path), Tracks.empty(3)))
    return tuple(clips)


def _score(calls: int, names: Sequence[str] = _NAMES) -> str:
    rows = "".join(f'<call name="{names[i * 7 % len(names)]}" duration="1"/>' for i in range(calls))
    return f'<pha tickLength="1"><load src="x"/><procedure name="main">{rows}</procedure></pha>'


if __name__ == "__main__":
    sys.exit(main())
