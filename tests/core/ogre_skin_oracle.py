"""Vertices as OGRE's own software skinning moves them. Run by a Python that has `ogre-python`:

python ogre_skin_oracle.py FILE.mesh CLIP TIME…

prints, as JSON, for each time the positions of all vertices in one row, shared ones first, then submesh by submesh.
"""

import ctypes
import json
import os
import struct
import sys
from pathlib import Path

import Ogre  # type: ignore[import-not-found]


def main(path: Path, clip: str, times: list[float]) -> None:
    log = Ogre.LogManager()
    log.createLog("", True, False, True)
    root = Ogre.Root("", "", "")
    buffers = Ogre.DefaultHardwareBufferManager()  # noqa: F841  (must live: in main memory, as there is no window)
    Ogre.MaterialManager.getSingleton().initialise()
    Ogre.ResourceGroupManager.getSingleton().addResourceLocation(str(path.parent), "FileSystem", "takt")
    mesh = Ogre.MeshManager.getSingleton().load(path.name, "takt").__deref__()
    scene = root.createSceneManager()
    result = []
    for number, time in enumerate(times):  # each with an entity of its own: one is moved only once in a frame
        entity = scene.createEntity(f"character {number}", path.name)
        scene.getRootSceneNode().createChildSceneNode().attachObject(entity)
        entity.addSoftwareAnimationRequest(False)
        state = entity.getAnimationState(clip)
        state.setEnabled(True)
        state.setLoop(False)
        state.setTimePosition(time)
        entity._updateAnimation()
        parts = [entity._getSkelAnimVertexData()] if mesh.sharedVertexData else []
        for index in range(entity.getNumSubEntities()):
            if not mesh.getSubMesh(index).useSharedVertices:
                parts.append(entity.getSubEntity(index)._getSkelAnimVertexData())
        result.append([value for part in parts for value in positions(part)])
    print(json.dumps(result), flush=True)  # noqa: T201
    os._exit(0)  # taking OGRE down crashes now and then, after all is said


def positions(part: Ogre.VertexData) -> list[float]:
    element = part.vertexDeclaration.findElementBySemantic(Ogre.VES_POSITION)
    buffer = part.vertexBufferBinding.getBuffer(element.getSource()).__deref__()
    data = ctypes.string_at(int(buffer.lock(Ogre.HardwareBuffer.HBL_READ_ONLY)), buffer.getSizeInBytes())
    buffer.unlock()
    step = buffer.getVertexSize()
    return [value for vertex in range(part.vertexCount)
            for value in struct.unpack_from("3f", data, vertex * step + element.getOffset())]


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2], [float(text) for text in sys.argv[3:]])
