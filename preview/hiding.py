"""The original meshes, hidden while they are previewed.

They are hidden in Blender's evaluated copies alone, after each evaluation. So nothing of it ever reaches a file, an
autosave or an undo step, and an evaluation with the preview off shows them again.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from .character import armature_of, is_worked_on

Layer = tuple[int, str]
"""A view layer, by its scene's uid and its name."""


@dataclass(eq=False)
class Hiding:
    """Which evaluated objects of each view layer are hidden by the preview alone, by collection."""

    _masks: dict[Layer, list[npt.NDArray[np.bool_]]] = field(default_factory=dict)

    def hide(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, armatures: Container[int]) -> None:
        """Hide what armatures, by their uids, move; but not what is being worked on."""
        layer = depsgraph.view_layer_eval
        if depsgraph.mode != "VIEWPORT" or layer is None:
            return
        hidden = {ob.session_uid for ob in scene.objects if ob.type == "MESH" and not is_worked_on(ob)
                  and (armature := armature_of(ob)) is not None and armature.session_uid in armatures}
        masks = self._masks[scene.session_uid, layer.name] = []
        for copies in _evaluated(scene, depsgraph):
            # The copies have no uid of their own.
            mask = np.array([copy.is_evaluated and copy.original.session_uid in hidden for copy in copies], np.bool_)
            flags = _flags(copies)
            copies.foreach_set("hide_viewport", flags | mask)
            masks.append(mask & ~flags)

    def show(self, scene: bpy.types.Scene) -> None:
        """Show the copies again, before an evaluation: from them Blender may work out whether originals can be seen."""
        for layer in scene.view_layers:
            masks = self._masks.pop((scene.session_uid, layer.name), [])
            if masks and layer.depsgraph is not None:
                for copies, mask in zip(_evaluated(scene, layer.depsgraph), masks, strict=False):
                    if len(copies) == len(mask):
                        copies.foreach_set("hide_viewport", _flags(copies) & ~mask)


def _evaluated(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Iterator[Any]:
    """Yield the evaluated objects of each collection.

    Between a change and its evaluation, what depsgraph.objects and view_layer_eval.objects go through may be gone.
    """
    assert scene.collection is not None
    for collection in (scene.collection, *scene.collection.children_recursive):
        copy: Any = collection.evaluated_get(depsgraph)
        if copy.is_evaluated:
            yield copy.objects


def _flags(copies: Any) -> npt.NDArray[np.bool_]:
    """Return which are hidden. foreach_set tells nobody of a change, so that nothing is evaluated anew."""
    flags = np.empty(len(copies), dtype=np.bool_)
    copies.foreach_get("hide_viewport", flags)
    return flags
