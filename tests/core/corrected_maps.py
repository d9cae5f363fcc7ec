"""Skeleton maps as a user corrects them."""

from collections.abc import Mapping

from takt.core.skeletons.maps import SkeletonMap


def corrected(found: SkeletonMap, meant: Mapping[str, str | None]) -> SkeletonMap:
    """Return a map with other meanings of some joints, by name; a joint that had one of these meanings loses it."""
    given = {name: joint for joint, name in meant.items() if name is not None}
    new = tuple(meant[joint] if joint in meant else None if given.get(name or "") else name
                for joint, name in zip(found.skeleton.names, found.meant, strict=True))
    sure = tuple(0.0 if name is None else 1.0 if joint in meant else certainty
                 for joint, name, certainty in zip(found.skeleton.names, new, found.certainties, strict=True))
    return SkeletonMap(found.skeleton, new, sure, found.turn, (), is_checked=True, pose=found.pose)
