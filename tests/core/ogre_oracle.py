"""Poses as OGRE itself makes them. Run by a Python that has `ogre-python`, which is not the tests' own:

python ogre_oracle.py FILE.skeleton SAMPLES

prints, as JSON, for each animation, those of linked skeletons too, its times and each bone's position, orientation and
scale in the model.
"""

import json
import os
import sys
from pathlib import Path

import Ogre  # type: ignore[import-not-found]


def main(path: Path, samples: int) -> None:
    log = Ogre.LogManager()
    log.createLog("", True, False, True)
    root = Ogre.Root("", "", "")  # noqa: F841  (must live)
    groups = Ogre.ResourceGroupManager.getSingleton()
    groups.addResourceLocation(str(path.parent), "FileSystem", "takt")
    resource = Ogre.SkeletonManager.getSingleton().create(path.name, "takt")
    resource.load()
    skeleton = resource.__deref__()
    states = Ogre.AnimationStateSet()
    skeleton._initAnimationState(states)
    result = {}
    for name in list(states.getAnimationStates().keys()):
        state = states.getAnimationState(name)
        times = [state.getLength() * i / max(samples - 1, 1) for i in range(samples)]
        state.setEnabled(True)
        result[name] = {"times": times, "poses": [pose(skeleton, states, state, t) for t in times]}
        state.setEnabled(False)
    print(json.dumps(result), flush=True)  # noqa: T201
    os._exit(0)  # taking OGRE down crashes now and then, after all is said


def pose(skeleton: Ogre.Skeleton, states: Ogre.AnimationStateSet, state: Ogre.AnimationState,
         time_s: float) -> dict[str, list[float]]:
    state.setLoop(False)
    state.setTimePosition(time_s)
    skeleton.setAnimationState(states)
    skeleton._updateTransforms()
    bones = {}
    for handle in range(skeleton.getNumBones()):
        bone = skeleton.getBone(handle)
        p, q, s = bone._getDerivedPosition(), bone._getDerivedOrientation(), bone._getDerivedScale()
        bones[bone.getName()] = [p.x, p.y, p.z, q.w, q.x, q.y, q.z, s.x, s.y, s.z]
    return bones


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), int(sys.argv[2]))
