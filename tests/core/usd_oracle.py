"""Run by a Python that has usd-core: makes files of UsdSkel, and tells where OpenUSD itself has their joints.

python usd_oracle.py FOLDER: writes each case into it, and prints as JSON, by file, the joints' names, the times in
seconds, the matrices of joints in the skeleton's space, and those of the prim that it is.
"""

import importlib
import json
import math
import random
import sys
from pathlib import Path
from typing import Any

TIMES = (1.0, 1.5, 4.25, 9.0, 20.75)
INCHES = {"up": "Z", "unit": 0.0254, "fps": 30.0}
CASES: dict[str, dict[str, Any]] = {
    "plain.usda": {}, "plain.usdc": {}, "packed.usdz": {}, "any.usd": {}, "inches.usdc": INCHES, "inches.usda": INCHES,
    "large.usdc": {"joints": 70}, "still.usdc": {"samples": 1}, "sparse.usda": {"step": 5},
    "sparse.usdc": {"step": 5},
    "moving.usdc": {"moving": True}, "moving.usda": {"moving": True}, "some.usdc": {"animated": 4},
    "whole.usdc": {"whole": True}}
"""What each file has that is not as usual: axis, unit, time codes per second, joints, samples, time codes between them,
prims around it that move, joints that the animation has, and numbers that are whole, which crate files compress."""


def main(folder: Path) -> None:
    """Make and evaluate all cases."""
    usd = {name: importlib.import_module(f"pxr.{name}")
           for name in ("Gf", "Sdf", "Usd", "UsdGeom", "UsdSkel", "UsdUtils", "Vt")}
    found = {}
    for seed, (name, case) in enumerate(CASES.items()):
        path = folder / name
        layer = path if path.suffix != ".usdz" else folder / "inside.usdc"
        make(usd, layer, random.Random(seed), **case)
        if layer != path:
            usd["UsdUtils"].CreateNewUsdzPackage(str(layer), str(path))
        found[name] = evaluated(usd, path)
    print(json.dumps(found))  # noqa: T201


def make(usd: dict[str, Any], path: Path, rng: random.Random, up: str = "Y", unit: float = 1.0, fps: float = 24.0,
         joints: int = 9, samples: int = 21, step: int = 1, moving: bool = False, animated: int = 0,
         whole: bool = False) -> None:
    """Write a skeleton that rests in a pose of its own, with an animation of its joints in another order."""
    gf, skel = usd["Gf"], usd["UsdSkel"]
    stage = usd["Usd"].Stage.CreateNew(str(path))
    usd["UsdGeom"].SetStageUpAxis(stage, up)
    usd["UsdGeom"].SetStageMetersPerUnit(stage, unit)
    stage.SetTimeCodesPerSecond(fps)
    root = skel.Root.Define(stage, "/Root")
    stage.SetDefaultPrim(root.GetPrim())
    rig = skel.Skeleton.Define(stage, "/Root/Body/Rig")
    place = usd["UsdGeom"].Xformable(stage.OverridePrim("/Root/Body")) if moving else usd["UsdGeom"].Xformable(root)
    if moving:
        stage.GetPrimAtPath("/Root/Body").SetSpecifier(usd["Sdf"].SpecifierDef)
        stage.GetPrimAtPath("/Root/Body").SetTypeName("Xform")
    way = place.AddTranslateOp()
    way.Set(gf.Vec3d(1.0, 2.0, 3.0))
    place.AddRotateYZXOp().Set(gf.Vec3f(10.0, 20.0, 30.0))
    for time in range(1, samples + 1) if moving else ():
        way.Set(gf.Vec3d(time / 10.0, 2.0, 3.0), time)
    names = ["Hips"]
    for number in range(1, joints):
        names.append(f"{names[number - 1] if number % 4 else 'Hips'}/J{number}")
    local = [gf.Matrix4d(gf.Rotation(gf.Vec3d(*(rng.gauss(0, 1) for _ in range(3))), rng.uniform(0.0, 60.0)),
                         gf.Vec3d(*(rng.gauss(0, 1) for _ in range(3)))) for _ in names]
    rig.CreateJointsAttr(names)
    rig.CreateRestTransformsAttr(usd["Vt"].Matrix4dArray(local))
    rig.CreateBindTransformsAttr(skel.ConcatJointTransforms(skel.Topology(names), usd["Vt"].Matrix4dArray(local)))
    dance = skel.Animation.Define(stage, "/Root/Body/Rig/Dance")
    order = rng.sample(range(joints), animated or joints)
    dance.CreateJointsAttr([names[joint] for joint in order])
    ways, turns, scales = dance.CreateTranslationsAttr(), dance.CreateRotationsAttr(), dance.CreateScalesAttr()
    for time in range(1, samples + 1, step):
        moved = [[value + 0.1 * math.sin(time / 5.0 + joint) for value in local[joint].ExtractTranslation()]
                 for joint in order]
        turned = [gf.Rotation(gf.Vec3d(1.0, float(joint), 0.0), 20.0 * math.sin(time / 7.0 + joint)).GetQuat()
                  * local[joint].ExtractRotationQuat() for joint in order]
        if whole:
            moved, turned = [[round(value) for value in row] for row in moved], [gf.Quatd(1.0) for _ in turned]
        ways.Set(usd["Vt"].Vec3fArray([gf.Vec3f(*row) for row in moved]), time)
        turns.Set(usd["Vt"].QuatfArray([gf.Quatf(q) for q in turned]), time)
    scales.Set(usd["Vt"].Vec3hArray([gf.Vec3h(1.0, 1.0, 1.0)] * len(order)))
    skel.BindingAPI.Apply(rig.GetPrim()).CreateAnimationSourceRel().SetTargets([dance.GetPath()])
    stage.GetRootLayer().Save()


def evaluated(usd: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return what OpenUSD says about a file."""
    skel = usd["UsdSkel"]
    stage = usd["Usd"].Stage.Open(str(path))
    cache = skel.Cache()
    cache.Populate(skel.Root.Get(stage, "/Root"), usd["Usd"].PrimDefaultPredicate)
    rig = skel.Skeleton.Get(stage, "/Root/Body/Rig")
    query, rate = cache.GetSkelQuery(rig), stage.GetTimeCodesPerSecond()

    def rows(matrix: Any) -> list[list[float]]:
        return [[matrix[row][column] for row in range(4)] for column in range(4)]

    return {"joints": list(query.GetJointOrder()), "seconds": [(time - 1.0) / rate for time in TIMES],
            "matrices": [[rows(each) for each in query.ComputeJointSkelTransforms(usd["Usd"].TimeCode(time))]
                         for time in TIMES],
            "rig": [rows(usd["UsdGeom"].XformCache(usd["Usd"].TimeCode(time)).GetLocalToWorldTransform(rig.GetPrim()))
                    for time in TIMES]}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
