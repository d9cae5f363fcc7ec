"""Bind inside Blender: quality and speed of Auto-bind beside Blender's Automatic Weights (bone heat).

    dev.py bench bind [quality] [robust] [speed] [million] [--data FOLDER] [--levels N] [--times N]

quality  for each character of FOLDER, the judge's mean L1 (0 best, 2 worst) of Auto-bind, of 1/d², and of bone heat
         as Blender gives it, with the vertices that it leaves without weights.
robust   the variants of `benchmarks.weights`.
speed    the MakeHuman body, subdivided without smoothing, bound by the operator, reading and writing included, and
         by parent_set(type='ARMATURE_AUTO'), both in one run. Heat finds no solution on this body at its size of
         1.7 m from the first subdivision on, and gives up early; so both also bind it ten times enlarged, where it
         does, and that is what speeds are compared by. Each is the least of several times, in turns. Draws
         docs/images/bind-speed.svg.
million  that body with 1.1 million vertices, by the operator: time, and the most that numpy and the process hold.
"""

import argparse
import importlib.util
import os
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import checkout
import numpy as np
from mathutils import Matrix

import takt
from takt.benchmarks import weights
from takt.benchmarks.curve import write_curve
from takt.bridge.meshes import groups

_ROOT = Path(__file__).resolve().parents[1]
_SHARED = Path(os.environ.get("TAKT_DATA", _ROOT / ".." / "shared" / "data"))
_CURVE = _ROOT / "docs" / "images" / "bind-speed.svg"
_SPEED_CASE = "mpfb_game_engine"
_ENLARGED = 10.0
_MILLION_CUTS = 8
"""Of each edge, for about a million vertices."""
_SHORTEST_BONE = 1e-4
"""Blender drops bones without length: they get this share of the body's size."""


class Seconds(NamedTuple):
    """By the clock, and of the processor, which hardly changes when the machine has other work too."""

    clock: float
    processor: float


@dataclass(frozen=True, eq=False)
class Scene:
    """A case as an armature object and a mesh object in an empty file."""

    rig: Any
    body: Any
    names: list[str]

    @classmethod
    def of(cls, case: Any, size: float = 1.0, levels: int = 0) -> "Scene":
        """Build it, enlarged, its faces subdivided so often without smoothing."""
        bpy.ops.wm.read_factory_settings(use_empty=True)
        scene = cls(_armature(case), _mesh(case), [str(name) for name in case.bone_names])
        for ob in (scene.rig, scene.body):
            ob.data.transform(Matrix.Scale(size, 4))
        if levels:
            modifier: Any = scene.body.modifiers.new("Subdivide", "SUBSURF")
            modifier.subdivision_type, modifier.levels = "SIMPLE", levels
            context: Any = bpy.context
            with context.temp_override(object=scene.body, active_object=scene.body):
                bpy.ops.object.modifier_apply(modifier=modifier.name)
        return scene

    def bind(self, operator: Callable[[], object]) -> "Seconds":
        """Unbind, select, run an operator; return how long it took."""
        self.body.vertex_groups.clear()
        self.body.modifiers.clear()
        self.body.parent = None
        context: Any = bpy.context
        for ob in (self.rig, self.body):
            ob.select_set(True)
        context.view_layer.objects.active = self.rig
        clock_s, processor_s = time.perf_counter(), time.process_time()
        operator()
        return Seconds(time.perf_counter() - clock_s, time.process_time() - processor_s)

    def weights(self) -> Any:
        """Return the bound mesh's weights (V, B); vertices without any have rows of zeros."""
        return groups.read_influences(self.body, self.names).dense(len(self.names))


def auto_bind() -> None:
    """Press Takt's button."""
    bpy.ops.takt.auto_bind()  # type: ignore[attr-defined]


def bone_heat() -> None:
    """Press Blender's."""
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")


def quality(folder: Path, judge: Any) -> None:
    """Print a line for each character."""
    print(f"{'':20} {'1/d²':>6} | {'heat':>6} {'def':>6} {'unbound':>7} | {'Takt':>6} {'P':>5} {'R':>5} {'def':>6} "
          f"{'unb':>4}")
    rows = []
    for path in sorted(folder.glob("*.npz")):
        case = judge.load(path)
        scene = Scene.of(case)
        found = []
        for operator in (bone_heat, auto_bind):
            scene.bind(operator)
            found.append(judge.score(scene.weights(), case))
        heat, ours = found
        rows.append((judge.score(weights.seed(case), case)["L1"], heat["L1"], heat["def"], heat["unb"],
                     *(ours[name] for name in ("L1", "P", "R", "def", "unb"))))
        print(_line(path.stem, rows[-1]), flush=True)
    table = np.array(rows)
    print(_line("mean (unbound: sum)", [*np.where([False, False, False, True] + [False] * 4 + [True],
                                                  table.sum(axis=0), table.mean(axis=0))]))


def _line(name: str, row: Any) -> str:
    seed, heat, heat_def, heat_unbound, ours, precision, recall, our_def, our_unbound = row
    return (f"{name:20} {seed:6.3f} | {heat:6.3f} {heat_def:6.2f} {heat_unbound:7.0f} | {ours:6.3f} {precision:5.2f} "
            f"{recall:5.2f} {our_def:6.2f} {our_unbound:4.0f}")


@dataclass(frozen=True)
class Speed:
    """How long binding took at a number of vertices; heat_unbound: how many vertices heat left without weights."""

    enlarged: bool
    vertices: int
    takt: Seconds
    heat: Seconds
    heat_unbound: int

    def __str__(self) -> str:
        share = self.takt.processor / self.heat.processor
        return (f"{'enlarged' if self.enlarged else '':9} {self.vertices:9,} {self.takt.clock:7.2f} "
                f"{self.heat.clock:7.2f} {self.takt.processor:9.2f} {self.heat.processor:9.2f} {share:6.2f} "
                f"{self.heat_unbound:18,}")


def speed(folder: Path, judge: Any, levels: int, times: int) -> list[Speed]:
    """Print a line for each level of subdivision, as it is and enlarged: the least of so many times."""
    case = judge.load(folder / f"{_SPEED_CASE}.npz")
    print(f"{'':9} {'vertices':>9} {'Takt s':>7} {'heat s':>7} {'Takt CPU':>9} {'heat CPU':>9} {'share':>6} "
          f"{'heat left unbound':>18}")
    found = []
    for enlarged in (False, True):
        for level in range(levels + 1):
            scene = Scene.of(case, _ENLARGED if enlarged else 1.0, level)
            took = [(scene.bind(auto_bind), scene.bind(bone_heat)) for _ in range(times)]
            takt_took, heat_took = (min(each, key=lambda one: one.processor) for each in zip(*took, strict=True))
            unbound = int((scene.weights().sum(axis=1) == 0.0).sum())
            found.append(Speed(enlarged, len(scene.body.data.vertices), takt_took, heat_took, unbound))
            print(found[-1], flush=True)
    print(f"peak memory of arrays at {found[-1].vertices:,} vertices: {_peak_bytes(scene) / 1e9:.2f} GB")
    return found


def million(folder: Path, judge: Any) -> None:
    """Print how long a body of about a million vertices takes, and how much memory."""
    import bmesh  # is there once bpy is

    scene = Scene.of(judge.load(folder / f"{_SPEED_CASE}.npz"))
    mesh = bmesh.new()
    mesh.from_mesh(scene.body.data)
    bmesh.ops.subdivide_edges(mesh, edges=list(mesh.edges), cuts=_MILLION_CUTS, use_grid_fill=True)
    mesh.to_mesh(scene.body.data)
    mesh.free()
    before = _process_bytes()
    took = scene.bind(auto_bind)
    print(f"{len(scene.body.data.vertices):,} vertices: {took.clock:.2f} s, {took.processor:.2f} s of the processor; "
          f"the process grew from {before / 1e9:.2f} to {_process_bytes() / 1e9:.2f} GB, "
          f"of which arrays {_peak_bytes(scene) / 1e9:.2f} GB")


def _process_bytes() -> int:
    """Return the most memory that the process has held, where the system tells it."""
    if not importlib.util.find_spec("resource"):
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _peak_bytes(scene: Scene) -> int:
    """Return the most that numpy held at once while the operator ran again, which that slows down."""
    tracemalloc.start()
    scene.bind(auto_bind)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _armature(case: Any) -> Any:
    context: Any = bpy.context
    data = bpy.data.armatures.new("Rig")
    rig: Any = bpy.data.objects.new("Rig", data)
    context.scene.collection.objects.link(rig)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    size = float(np.ptp(case.vertices, axis=0).max())
    bones: list[Any] = []
    for name, parent, head, tail in zip(case.bone_names, case.bone_parents, case.bone_heads, case.bone_tails,
                                        strict=True):
        bone: Any = data.edit_bones.new(str(name))
        if np.linalg.norm(tail - head) < _SHORTEST_BONE * size:
            tail = head + np.array((0.0, 0.0, 0.01 * size))
        bone.head, bone.tail = head.tolist(), tail.tolist()
        bone.parent = bones[parent] if parent >= 0 else None
        bones.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _mesh(case: Any) -> Any:
    context: Any = bpy.context
    data = bpy.data.meshes.new("Body")
    faces = np.split(case.face_vertices, np.cumsum(case.face_sizes)[:-1])
    data.from_pydata(case.vertices.tolist(), [], [face.tolist() for face in faces])
    body = bpy.data.objects.new("Body", data)
    context.scene.collection.objects.link(body)
    return body


def _judge() -> Any:
    """Return the module that judges weights, which lies beside the data."""
    path = _SHARED.parent / "tools" / "score_weights.py"
    if not path.exists():
        raise SystemExit(f"no judge at {path}; set TAKT_DATA to the folder of data beside it")
    spec = importlib.util.spec_from_file_location("score_weights", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def main(arguments: list[str]) -> int:
    """Measure what was asked for; without a word everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[[], "quality", "robust", "speed", "million"], metavar="WHAT")
    parser.add_argument("--data", type=Path, default=_SHARED / "bind")
    parser.add_argument("--levels", type=int, default=2)
    parser.add_argument("--times", type=int, default=3, help="default: 3")
    options = parser.parse_args(arguments)
    takt.register()
    judge, what = _judge(), options.what or ["quality", "robust", "speed", "million"]
    if "quality" in what:
        quality(options.data, judge)
    if "robust" in what:
        weights.main([str(options.data)])
    if "speed" in what:
        write_curve(_CURVE, [(entry.vertices, entry.takt.processor, entry.heat.processor)
                             for entry in speed(options.data, judge, options.levels, options.times) if entry.enlarged])
        print(f"drawn into {_CURVE}")
    if "million" in what:
        million(options.data, judge)
    return 0


if __name__ == "__main__":
    checkout.run(lambda: main(sys.argv[1:]))
