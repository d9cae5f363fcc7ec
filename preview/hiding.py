"""Hide the original meshes while they are previewed, and their bones if the preview draws them.

They are hidden only in Blender's evaluated copies, after each evaluation. So this never reaches a file, an
autosave or an undo step, and an evaluation with the preview off shows them again.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..bridge import changes
from .character import are_bones_shown, armature_of, is_worked_on

Layer = tuple[int, str]
"""A view layer, by its scene's uid and its name."""
_Hidden = list[tuple[int, dict[int, int]]]
"""For each collection its number of objects, and the objects to hide: their uids by their indices."""


@dataclass(eq=False)
class Hiding:
    """Which evaluated objects of each view layer the preview hides, by collection.

    _hidden stores them with the number of changes.of_scenes: they are searched again only when the scene changes.
    """

    _masks: dict[Layer, list[npt.NDArray[np.bool_]]] = field(default_factory=dict)
    _hidden: dict[Layer, tuple[int, _Hidden]] = field(default_factory=dict)

    def hide(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, armatures: Container[int]) -> None:
        """Hide all that armatures, given by their uids, move, except objects that are being edited."""
        layer = depsgraph.view_layer_eval
        if depsgraph.mode != "VIEWPORT" or layer is None:
            return
        key, evaluated = (scene.session_uid, layer.name), _evaluated(scene, depsgraph)
        made_at, indices = self._hidden.get(key, (-1, []))
        if made_at != changes.of_scenes() or not _are_there(evaluated, indices):
            indices = _look_through(scene, evaluated, armatures)
            self._hidden[key] = changes.of_scenes(), indices
        masks = self._masks[key] = []
        for copies, (count, hidden) in zip(evaluated, indices, strict=True):
            mask = np.zeros(count, dtype=np.bool_)
            mask[list(hidden)] = True
            flags = _flags(copies)
            copies.foreach_set("hide_viewport", flags | mask)
            masks.append(mask & ~flags)

    def show(self, scene: bpy.types.Scene) -> None:
        """Show the copies again before an evaluation, since Blender may compute the originals' visibility from them."""
        for layer in scene.view_layers:
            masks = self._masks.pop((scene.session_uid, layer.name), [])
            if masks and layer.depsgraph is not None:
                for copies, mask in zip(_evaluated(scene, layer.depsgraph), masks, strict=False):
                    if len(copies) == len(mask):
                        copies.foreach_set("hide_viewport", _flags(copies) & ~mask)


def _look_through(scene: bpy.types.Scene, evaluated: Sequence[Any], armatures: Container[int]) -> _Hidden:
    """Search a whole scene for objects to hide."""
    uids = {ob.session_uid for ob in scene.objects if not is_worked_on(ob)
            and (armature := armature_of(ob)) is not None and armature.session_uid in armatures
            and (ob.type == "MESH" or are_bones_shown(ob))}
    # The evaluated copies have no uid of their own.
    return [(len(copies), {index: uid for index, copy in enumerate(copies)
                           if copy.is_evaluated and (uid := copy.original.session_uid) in uids})
            for copies in evaluated]


def _are_there(evaluated: Sequence[Any], indices: _Hidden) -> bool:
    """Return whether objects to hide still have their indices; an object that is not evaluated is the user's own."""
    return len(evaluated) == len(indices) and all(
        len(copies) == count and all((copy := copies[index]).is_evaluated and copy.original.session_uid == uid
                                     for index, uid in hidden.items())
        for copies, (count, hidden) in zip(evaluated, indices, strict=True))


def _evaluated(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> list[Any]:
    """Return the evaluated objects of each collection.

    Between a change and its evaluation, the objects of depsgraph.objects and view_layer_eval.objects may be freed.
    """
    assert scene.collection is not None
    found: list[Any] = [collection.evaluated_get(depsgraph)
                        for collection in (scene.collection, *scene.collection.children_recursive)]
    return [copy.objects for copy in found if copy.is_evaluated]


def _flags(copies: Any) -> npt.NDArray[np.bool_]:
    """Return which copies are hidden. Values written by foreach_set cause no evaluation."""
    flags = np.empty(len(copies), dtype=np.bool_)
    copies.foreach_get("hide_viewport", flags)
    return flags
