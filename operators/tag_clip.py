"""The user's own tags for a clip of the shelf: written beside the clips, so there is nothing to undo in the .blend."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ..bridge.active_character import score_problem
from ..bridge.language import say
from ..bridge.reports import GreyWithReason, refuse, report, words_of
from ..bridge.scores import score_tree
from ..bridge.shelf import own_tags, shelf_order
from ..core.classes.tags_file import FAVOURITE
from ..core.errors import TaktError
from ..core.score_editor.commands import Playable
from .clip_folders import shown_armature

_NO_CLIP = "Point at a clip of the library on the shelf, or select a block that plays one"


class _ForClip(GreyWithReason):
    """Acts on the clip that is named; where none is, on that of the selected block."""

    if TYPE_CHECKING:
        clip: str
    else:
        clip: StringProperty(name="Clip", options={"SKIP_SAVE", "HIDDEN"})

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is no shelf."""
        return score_problem(shown_armature(context))

    def found(self, context: bpy.types.Context) -> tuple[bpy.types.Object, Playable] | None:
        """Return the character of the shelf, and the clip, or None if there is none."""
        armature_object, tree = shown_armature(context), score_tree.tree_of(context)
        assert armature_object is not None  # poll has checked it
        name = self.clip or ("" if tree is None else shelf_order.clip_of_block(armature_object, tree))
        clip = own_tags.named(armature_object, name) if name else None
        return None if clip is None else (armature_object, clip)

    def give(self, armature_object: bpy.types.Object, clip: Playable, tags: tuple[str, ...]) -> bool:
        """Write tags; if that fails, report what to do, and return False."""
        try:
            own_tags.give(armature_object, clip, tags)
        except (TaktError, OSError) as error:
            refuse(self, words_of(error))  # type: ignore[arg-type]  # Blender's operator
            return False
        score_tree.redraw()
        return True


class TAKT_OT_tag_clip(_ForClip, bpy.types.Operator):
    """Give a clip of the shelf tags of your own, which are kept in takt.tags beside the clips"""

    bl_idname = "takt.tag_clip"
    bl_label = "Tags of Clip"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        tags: str
    else:
        tags: StringProperty(name="Tags", description="Words with commas between them, by which the clip is found",
                             options={"SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Ask for the tags; the field begins with the present ones."""
        found = self.found(context)
        if found is None:
            return refuse(self, _NO_CLIP)
        self.clip, self.tags = found[1].full_name, ", ".join(_without_favourite(own_tags.of_clip(*found)))
        assert context.window_manager is not None
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the clip's name and the field."""
        assert self.layout is not None
        self.layout.label(text=self.clip, translate=False)
        self.layout.activate_init = True  # the user can type at once
        self.layout.prop(self, "tags")

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Write the tags."""
        found = self.found(context)
        if found is None:
            return refuse(self, _NO_CLIP)
        tags = tuple(each.strip() for each in self.tags.split(",") if each.strip())
        if FAVOURITE in own_tags.of_clip(*found):
            tags = FAVOURITE, *_without_favourite(tags)
        return {"FINISHED"} if self.give(*found, tags) else {"CANCELLED"}


def _without_favourite(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags without that of favourites, which has a button of its own."""
    return tuple(each for each in tags if each != FAVOURITE)


class TAKT_OT_favourite_clip(_ForClip, bpy.types.Operator):
    """Make a clip of the shelf a favourite, or a favourite no longer; the search finds favourites by that word"""

    bl_idname = "takt.favourite_clip"
    bl_label = "Favourite"
    bl_options = {"REGISTER"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Toggle the tag of favourites."""
        found = self.found(context)
        if found is None:
            return refuse(self, _NO_CLIP)
        before = own_tags.of_clip(*found)
        others, is_new = _without_favourite(before), FAVOURITE not in before
        if not self.give(*found, (FAVOURITE, *others) if is_new else others):
            return {"CANCELLED"}
        name = found[1].full_name
        report(self, {"INFO"}, f"'{name}' is a favourite now" if is_new else f"'{name}' is no favourite any longer")
        return {"FINISHED"}


class TAKT_OT_score_clip_menu(bpy.types.Operator):
    """Open the menu of the clip below the mouse"""

    bl_idname = "takt.score_clip_menu"
    bl_label = "Clip of the Shelf"
    bl_options = {"INTERNAL"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Open the menu on a clip of the library; pass events elsewhere on."""
        from ..preview.score_editor.windows import window_of

        armature_object = shown_armature(context) if score_tree.is_score_editor(context.space_data) else None
        window = None if context.space_data is None else window_of(context.space_data)
        if armature_object is None or window is None or window.shelf is None:
            return {"PASS_THROUGH"}
        chip = window.shelf.at(float(event.mouse_region_x), float(event.mouse_region_y))
        clip = None if chip is None else own_tags.named(armature_object, chip.full_name)
        if clip is None:
            return {"PASS_THROUGH"}

        def draw(menu: Any, _context: bpy.types.Context) -> None:
            menu.layout.operator_context = "INVOKE_DEFAULT"
            menu.layout.operator("takt.favourite_clip", icon="SOLO_ON" if FAVOURITE in own_tags.of_clip(
                armature_object, clip) else "SOLO_OFF").clip = clip.full_name
            menu.layout.operator("takt.tag_clip", text=say("Tags of Clip…"), icon="BOOKMARKS",
                                 translate=False).clip = clip.full_name

        assert context.window_manager is not None
        context.window_manager.popup_menu(draw, title=clip.title)
        return {"FINISHED"}
