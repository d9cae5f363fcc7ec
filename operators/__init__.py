"""One file for each thing a user can do."""

from typing import Any, cast

import bpy

from ..bridge import language
from ..preview import joint_handles
from . import (
    command,
    export_ogre,
    export_performance,
    export_procedures,
    import_character,
    import_ogre,
    play_clip,
    score_editor,
    select_character,
)
from .add_sample import TAKT_OT_add_sample
from .auto_bind import TAKT_OT_auto_bind, draw_in_parent_menu
from .bake_tweaks import TAKT_OT_bake_tweaks
from .bend_report import TAKT_OT_bend_report
from .bend_test import TAKT_OT_bend_in_turn, TAKT_OT_bend_test
from .breakdown import TAKT_OT_breakdown
from .change_libraries import TAKT_OT_change_libraries, TAKT_OT_forget_folder
from .choose_method import TAKT_OT_choose_method
from .clean_tweaks import TAKT_OT_clean_tweaks
from .clip_folders import TAKT_OT_add_clip_files, TAKT_OT_add_clip_folder, TAKT_OT_move_folder
from .edit_score import TAKT_OT_edit_score
from .export_ogre import TAKT_OT_export_ogre
from .export_performance import TAKT_OT_export_performance
from .export_procedures import TAKT_OT_export_procedures
from .extract_tweaks import TAKT_OT_extract_tweaks
from .fit_skeleton import TAKT_OT_fit_skeleton
from .help import TAKT_OT_help, manual_map
from .import_character import TAKT_FH_character, TAKT_OT_import_character
from .import_ogre import TAKT_FH_ogre, TAKT_OT_import_ogre
from .import_pha import TAKT_FH_pha, TAKT_OT_import_pha, draw_in_import_menu
from .improve_weights import TAKT_OT_improve_weights
from .insert_clip import TAKT_OT_insert_clip
from .keep_mine import TAKT_OT_keep_mine
from .mark_clip_assets import TAKT_OT_mark_clip_assets
from .music import TAKT_FH_sound, TAKT_OT_choose_music, TAKT_OT_find_beats, TAKT_OT_remove_music
from .new_score import TAKT_OT_new_score
from .play_clip import TAKT_FH_clip, TAKT_OT_play_clip
from .play_on_character import TAKT_OT_play_on_character
from .player import TAKT_OT_player
from .preview import TAKT_OT_preview
from .procedure_actions import TAKT_OT_procedure_actions
from .rebuild import TAKT_OT_rebuild
from .reference_pose import TAKT_OT_set_reference_pose
from .render_film import TAKT_OT_render_film
from .retarget_clips import TAKT_OT_retarget_clips
from .same_score import TAKT_OT_same_score
from .save_clip import TAKT_OT_save_clip
from .score_file import TAKT_OT_reload_score, TAKT_OT_save_score
from .seed_each import TAKT_OT_seed_each
from .select_character import TAKT_OT_select_character
from .show_zones import TAKT_OT_show_zones
from .skeleton_map import TAKT_OT_find_map, TAKT_OT_save_map
from .stopping import stop_running
from .strip import TAKT_GGT_strip, TAKT_GT_strip
from .tag_clip import TAKT_OT_favourite_clip, TAKT_OT_score_clip_menu, TAKT_OT_tag_clip
from .tweak import TAKT_OT_tweak
from .tweak_call import TAKT_OT_tweak_call
from .tweak_file import TAKT_OT_load_tweaks, TAKT_OT_save_tweaks
from .use_bones import TAKT_OT_select_idle_bones, TAKT_OT_use_bones

_CLASSES = (
    TAKT_OT_help,
    TAKT_OT_add_sample,
    TAKT_OT_auto_bind,
    TAKT_OT_fit_skeleton,
    TAKT_OT_select_idle_bones,
    TAKT_OT_use_bones,
    TAKT_OT_improve_weights,
    TAKT_OT_bend_test,
    TAKT_OT_bend_in_turn,
    TAKT_OT_bend_report,
    TAKT_OT_show_zones,
    TAKT_OT_import_pha,
    TAKT_OT_new_score,
    TAKT_OT_insert_clip,
    TAKT_OT_rebuild,
    TAKT_OT_keep_mine,
    TAKT_OT_tweak,
    TAKT_OT_bake_tweaks,
    TAKT_OT_extract_tweaks,
    TAKT_OT_breakdown,
    TAKT_OT_tweak_call,
    TAKT_OT_clean_tweaks,
    TAKT_OT_save_tweaks,
    TAKT_OT_load_tweaks,
    TAKT_OT_same_score,
    TAKT_OT_play_on_character,
    TAKT_OT_seed_each,
    TAKT_OT_choose_method,
    TAKT_OT_save_score,
    TAKT_OT_reload_score,
    TAKT_OT_edit_score,
    TAKT_OT_find_map,
    TAKT_OT_save_map,
    TAKT_OT_set_reference_pose,
    TAKT_OT_preview,
    TAKT_OT_select_character,
    TAKT_OT_player,
    TAKT_GT_strip,
    TAKT_GGT_strip,
    TAKT_OT_render_film,
    TAKT_OT_export_performance,
    TAKT_OT_export_procedures,
    TAKT_OT_procedure_actions,
    TAKT_OT_export_ogre,
    TAKT_FH_pha,
    TAKT_OT_change_libraries,
    TAKT_OT_forget_folder,
    TAKT_OT_add_clip_folder,
    TAKT_OT_add_clip_files,
    TAKT_OT_move_folder,
    TAKT_OT_save_clip,
    TAKT_OT_mark_clip_assets,
    TAKT_OT_tag_clip,
    TAKT_OT_favourite_clip,
    TAKT_OT_score_clip_menu,
    TAKT_OT_import_character,
    TAKT_FH_character,
    TAKT_OT_import_ogre,
    TAKT_FH_ogre,
    TAKT_OT_play_clip,
    TAKT_OT_retarget_clips,
    TAKT_FH_clip,
    *score_editor.CLASSES,
    TAKT_OT_choose_music,
    TAKT_OT_find_beats,
    TAKT_OT_remove_music,
    TAKT_FH_sound,
)
_MENUS = ((bpy.types.VIEW3D_MT_object_parent, draw_in_parent_menu),
          (bpy.types.TOPBAR_MT_file_import, draw_in_import_menu),
          (bpy.types.TOPBAR_MT_file_import, import_character.draw_in_import_menu),
          (bpy.types.TOPBAR_MT_file_import, import_ogre.draw_in_import_menu),
          (bpy.types.TOPBAR_MT_file_import, play_clip.draw_in_import_menu),
          (bpy.types.TOPBAR_MT_file_export, export_performance.draw_in_export_menu),
          (bpy.types.TOPBAR_MT_file_export, export_procedures.draw_in_export_menu),
          (bpy.types.TOPBAR_MT_file_export, export_ogre.draw_in_export_menu))


def register() -> None:
    """Register the operators and add them to Blender's menus."""
    for cls in _CLASSES:
        language.register_class(cls)
    for menu, draw in _MENUS:
        cast(Any, menu).append(draw)
    bpy.utils.register_manual_map(manual_map)
    command.register()
    select_character.register()


def unregister() -> None:
    """Remove the operators from Blender's menus and unregister them."""
    manager = bpy.context.window_manager
    stop_running(_CLASSES, () if manager is None else manager.windows)
    select_character.unregister()
    command.unregister()
    joint_handles.hide(*joint_handles.shown())
    bpy.utils.unregister_manual_map(manual_map)
    for menu, draw in reversed(_MENUS):
        cast(Any, menu).remove(draw)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
