"""Skeleton maps: which joint of a rig is which joint of H-Anim."""

from .find import find_map
from .map_file import SUFFIX, SavedMap, read_map, write_map
from .skeleton_map import SURE, SkeletonMap, fingerprint

__all__ = ["SUFFIX", "SURE", "SavedMap", "SkeletonMap", "find_map", "fingerprint", "read_map", "write_map"]
