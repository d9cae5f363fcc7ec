"""Skeleton maps: which joint of a rig is which joint of H-Anim."""

from .find import find_map, map_in_any_pose, map_of_moment
from .map_file import SUFFIX, SavedMap, read_map, saved_pose, write_map
from .skeleton_map import ESSENTIAL, SURE, SkeletonMap, fingerprint

__all__ = ["ESSENTIAL", "SUFFIX", "SURE", "SavedMap", "SkeletonMap", "find_map", "fingerprint", "map_in_any_pose",
           "map_of_moment", "read_map", "saved_pose", "write_map"]
