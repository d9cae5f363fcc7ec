"""What is wrong with how a rig made by rule is bound: limbs without vertices, vertices that follow another limb."""

from __future__ import annotations

from typing import Any

import numpy as np

from takt.core.binding.inside import bind_inside_distance

from .made_rigs import Made, distances

_NEAR_JOINT = 2.0
"""Within so many radii of a limb's first joint, its skin may follow the limb above, and that one's this one."""

_CLEARLY = 0.5
"""A vertex belongs to a limb that is nearer than any other by this share of its radius."""


def faults_of(made: Made) -> list[str]:
    """Return what is wrong, in words."""
    body, names = made.body, [limb.name for limb in made.limbs]
    weights = bind_inside_distance(body).dense(len(body.bone_names))
    limb_of = np.array([names.index(name) if name else -1 for name in made.limb_of])
    moved: Any = weights.any(axis=0)
    for bone in np.flatnonzero(~moved):  # a rigid piece may follow a bone or its twist bone
        moved[bone] = any(moved[twist] for twist, name in enumerate(made.plain_names)
                          if name.replace("_twist", "") == made.plain_names[bone].replace("_twist", ""))
    faults = [f"{name} has no vertex" for bone, name in enumerate(body.bone_names)
              if limb_of[bone] >= 0 and not moved[bone]]
    faults += [f"{name} moves skin" for bone, name in enumerate(body.bone_names)
               if limb_of[bone] < 0 and weights[:, bone].any()]
    of_limb = np.stack([weights[:, limb_of == k].sum(axis=1) for k in range(len(names))], axis=1)
    strongest = of_limb.argmax(axis=1)
    points = made.rest_points
    away = distances(made.limbs, points)
    near, first = np.sort(away, axis=1), away.argmin(axis=1)
    radius = np.array([limb.radius for limb in made.limbs])
    clear = near[:, 1] - near[:, 0] > _CLEARLY * radius[first] if len(names) > 1 else np.ones(len(points), np.bool_)
    start = np.array([limb.joints[0] for limb in made.limbs], dtype=float)
    above = np.array([names.index(limb.above) if limb.above else -1 for limb in made.limbs])
    for wrong in np.flatnonzero(clear & (strongest != first)):
        own, other = int(first[wrong]), int(strongest[wrong])
        lower = own if above[own] == other else other if above[other] == own else -1
        if lower < 0 or np.linalg.norm(points[wrong] - start[lower]) > _NEAR_JOINT * radius[[own, other]].max():
            faults.append(f"a vertex of {names[own]} follows {names[other]}")
    return sorted(set(faults))
