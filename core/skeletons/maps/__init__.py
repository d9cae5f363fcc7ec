"""Skeleton maps: which joint of a rig is which joint of H-Anim."""

from .find import find_map, find_map_once, map_in_any_pose
from .map_file import SUFFIX, SavedMap, is_map, read_map, write_map
from .skeleton_map import ESSENTIAL, SURE, SkeletonMap, fingerprint

__all__ = ["ESSENTIAL", "SUFFIX", "SURE", "SavedMap", "SkeletonMap", "find_map", "find_map_once", "fingerprint",
           "is_map", "map_in_any_pose", "read_map", "write_map"]
