"""The order of the steps that bring the skin of a retargeted body to the ground.

Each step works on the result of the steps before it. On stairs, all of them work on a copy of the motion that stays on
level ground.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ...clips.body_contacts import BodyContacts
from ...clips.clip import Clip, Tracks
from ...maths.arrays import FloatArray
from ...skeletons.hanim import ROOT
from ...skeletons.hierarchy import path_to_root
from ...skeletons.maps import SkeletonMap
from ..skin_points import SkinPoints
from .body_skin import BodySkin
from .by_skin import ground_by_skin, moments, with_arms_off_ground
from .contact_detection import find_contacts
from .contact_heights import as_high_as_contacts
from .ground_without_legs import ground_without_legs, has_legs
from .grounding import Ground, lifted, moved, with_feet_drawn_up
from .lower_ground import LowerGround, lower_ground
from .resting_head import with_resting_head
from .seated_legs import with_legs_beside_trunk
from .tipped import AGAIN_RAD, MOST_RAD, on_hands_and_feet, tipped
from .toes import with_toes_bent


@dataclass(eq=False)
class _Lifted:
    """A body to which several steps apply lifts.

    found: the map of its joints, on the standing skeleton. up: (3,) unit. root: the joint that is moved. translations:
    the tracks so far; shown: makes the clip of the body from them. lower: the ground where it goes down. lifts: those
    applied so far.
    """

    found: SkeletonMap
    up: FloatArray
    root: int | None
    translations: Tracks
    shown: Callable[[Tracks], Clip]
    lower: LowerGround | None = None
    lifts: list[Ground] = field(default_factory=list)

    def level(self, clip: Clip) -> Clip:
        """Return the clip as it would be on level ground."""
        return clip if self.lower is None else self.lower.flat(clip, self.found.leg_length, self.up)

    def move(self, ground: Ground) -> None:
        """Lift the body."""
        self.lifts.append(ground)
        self.translations = lifted(self.found.skeleton, self.translations, ground, self.up, self.root)

    def lift(self, clip: Clip, ground: Ground | None) -> Clip:
        """Return a clip of the body on level ground, lifted; its rotations stay."""
        if ground is None:
            return clip
        self.move(ground)
        return self._with_rotations(clip)

    def go(self, clip: Clip, times: FloatArray, offsets: FloatArray) -> Clip:
        """Return a clip of the body on level ground that is moved by offsets (F, 3) at times (F,); rotations stay."""
        self.translations = moved(self.found.skeleton, self.translations, times, offsets, self.root)
        return self._with_rotations(clip)

    def _with_rotations(self, clip: Clip) -> Clip:
        return replace(self.level(self.shown(self.translations)), rotations=clip.rotations)


def brought_to_ground(source: Clip, source_map: SkeletonMap, found: SkeletonMap, skin: SkinPoints, up: FloatArray,
                      ratio: float, root: int | None, translations: Tracks, shown: Callable[[Tracks], Clip],
                      before: Sequence[Ground] = ()) -> tuple[Clip, LowerGround | None]:
    """Return the clip that a body plays on the ground, and that ground if it is not level.

    source: the clip as it was compared, in the target's axes, with the map of its skeleton. found: the map of the
    target's joints, on the standing skeleton; skin: in its own rest pose. up: (3,) unit, in both. ratio: how much
    larger the target is. root: the target's joint that translations move. shown: makes a clip on the target's own
    skeleton from translations. before: the lifts so far.
    """
    if not has_legs(found):
        return _without_legs(found, skin, up, translations, shown), None
    if not len(translations):
        return shown(translations), None
    body, played = _Lifted(found, up, root, translations, shown, lifts=[*before]), shown(translations)
    skinned = BodySkin.of(found, played.skeleton, skin, tuple(up.tolist()))
    body.lower = lower_ground(played, found, found.leg_length, up)
    level = source if body.lower is None else body.lower.flat(source, source_map.leg_length, up)
    contacts = find_contacts(level, source_map, up)
    played = _lying(contacts, body.level(played), body, skinned)
    looked_at = moments(source.duration_s, played.rotations, played.translations)
    played = with_toes_bent(played, found, skin, up, looked_at)
    ground = ground_by_skin(contacts, level, source_map, played, skinned, ratio, body.lifts)
    if ground is not None:
        body.move(ground)
    done = replace(played, translations=shown(body.translations).translations)
    if ground is not None:
        done = with_feet_drawn_up(done, replace(found, skeleton=done.skeleton), ground, up)
    resting = with_resting_head(contacts, body.level(done), skinned)
    return replace(done, rotations=resting.rotations, bearing=contacts.others), body.lower


def _lying(contacts: BodyContacts, played: Clip, body: _Lifted, skin: BodySkin) -> Clip:
    """Return the clip of a body that is supported by more than its feet in the source."""
    on_hands = on_hands_and_feet(contacts, played, skin, body.root)
    played = played if on_hands is None else body.go(*on_hands)
    for most_rad in (MOST_RAD, AGAIN_RAD):  # raised thighs raise the buttocks, so it may tip again
        played = tipped(contacts, played, skin, body.root, most_rad)
        played = with_legs_beside_trunk(contacts, played, skin)
    return body.lift(played, as_high_as_contacts(contacts, played, skin))


def _without_legs(found: SkeletonMap, skin: SkinPoints, up: FloatArray, translations: Tracks,
                  shown: Callable[[Tracks], Clip]) -> Clip:
    """Return the clip of a body without legs, brought to the ground."""
    played, root = shown(translations), found.joint_of.get(ROOT)
    ground = ground_without_legs(played, found, skin, up, moments(played.duration_s, played.rotations))
    if ground is None or root is None:
        return played
    return shown(lifted(found.skeleton, translations, ground, up, path_to_root(found.skeleton.parents, root)[-1]))


def with_arms_above(played: Clip, found: SkeletonMap, skin: SkinPoints, up: FloatArray,
                    lower: LowerGround | None) -> Clip:
    """Return a clip whose arms are above the ground; the last step of all, since Keep Contacts moves arms.

    played: as brought_to_ground and Keep Contacts have made it; found, skin, up, lower: as there.
    """
    level = played if lower is None else lower.flat(played, found.leg_length, up)
    drawn = with_arms_off_ground(level, BodySkin.of(found, played.skeleton, skin, tuple(up.tolist())))
    return played if drawn is level else replace(played, rotations=drawn.rotations)
