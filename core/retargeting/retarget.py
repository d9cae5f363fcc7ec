"""Retargeting of clips from one skeleton to another: the steps of the other files in their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.contacts import foot_contacts
from ..errors import SkeletonMismatchError
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray
from ..maths.equal_values import once_for_equal
from ..skeletons.hanim import UP
from ..skeletons.maps import SkeletonMap, find_map, map_in_any_pose
from ..skeletons.skeleton import Skeleton
from ..skeletons.skin_sample import SkinSample
from .beginning import away_at_first, carriers, shifted
from .comparing.file_axes import right_angled
from .comparing.first_pose import first_pose_end, from_time
from .comparing.matching import has_same_joints, pair
from .comparing.palms import both_backs
from .comparing.reference import NONE_STANDS, REST_POSE, SAME_UP, Reference, find_reference, rebased, stood_up
from .comparing.straightened import may_be_human
from .comparing.upright import raised_onto_feet, turned
from .comparing.whole_body import WholeBody
from .contacts.kept_contacts import with_contacts_kept
from .ground.all_steps import brought_to_ground, with_arms_above
from .ground.by_joints import BodyMotion, ground_by_joints
from .ground.by_skin import moments
from .ground.grounding import Ground, lifted, with_feet_drawn_up
from .ground.lower_ground import LowerGround
from .hips import HIPS, HipsPath
from .loose import carried
from .plan import Plan
from .roots import body_root, by_their_way
from .skin_points import SkinPoints
from .target_tracks import TargetTracks

_FARTHEST_SIZES = 1e6
"""Greatest distance in body sizes: beyond it a clip is damaged, and floating-point precision is lost."""
_MOST_KNOWN: Final = 4
"""Number of targets cached for the next clip."""
_MOST_PLANS: Final = 32
"""Number of pairs of bodies cached: the clips of one folder usually share few bodies."""
_OTHER_AXES_RAD = np.radians(50.0)
"""If the bodies' own axes differ by more than this from the stated turn, the bodies' axes count."""


@dataclass(frozen=True, eq=False)
class Retargeted:
    """A clip on its new skeleton, and how its joints were matched.

    clip: its skeleton is the target. matched: pairs of names, source and target. unmatched_source: joints that move and
    have no counterpart. unmatched_target: joints that stay at rest. is_own: the skeletons are the same (up to the
    joints' axes and one scale), and every track plays. doubles: joint → joint of the target: the first copies the
    second, at whose rest position it is. source_map: the roles of the clip's joints. reference: the pose in which the
    bodies were compared, in words. left_out_s: seconds removed from the clip's beginning, a pose that is not part of
    the motion. begins_away: horizontal distance of the body's start from its rest position, in body heights.
    """

    clip: Clip
    matched: tuple[tuple[str, str], ...]
    unmatched_source: tuple[str, ...]
    unmatched_target: tuple[str, ...]
    is_own: bool
    doubles: dict[int, int]
    source_map: SkeletonMap
    reference: str = ""
    left_out_s: float = 0.0
    begins_away: float = 0.0

    @property
    def doubt(self) -> str:
        """Why limbs may point elsewhere than in the clip: its body is not recognised; "" if it is."""
        why = "; ".join(self.source_map.warnings) or "no body that stands is recognised in it"
        return (f"played by the names of its bones alone, since {why}: a skeleton map of it can say what they are"
                if self.reference == NONE_STANDS else "")

    @property
    def notes(self) -> tuple[str, ...]:
        """Automatic decisions, one sentence each."""
        pose = (self.doubt or f"compared in {self.reference}",) if self.reference not in ("", REST_POSE) else ()
        left_out = (f"the first {self.left_out_s:.3g} s are a pose that is no part of the motion, and are left out",)
        return pose + (left_out if self.left_out_s else ())


def standing_still(clip: Clip, target: Skeleton, source_map: SkeletonMap) -> Retargeted:
    """Return the replacement for a clip that cannot be played: the target at rest, for the clip's duration."""
    still = Clip.still(target, clip.duration_s, clip.name, clip.is_looping)
    names = tuple(clip.skeleton.names[j] for j in np.flatnonzero(clip.moved))
    return Retargeted(still, (), names, target.names, False, {}, source_map)


def retarget(clip: Clip, target: Skeleton, turn: FloatArray = rot.IDENTITY, *, source_map: SkeletonMap | None = None,
             target_map: SkeletonMap | None = None, skin: BoolArray | None = None,
             without_first_pose: bool = False, points: SkinPoints | None = None,
             keep_contacts: bool = False, begins_at_rest: bool = False) -> Retargeted:
    """Play a clip on another skeleton.

    turn: (4,) from the clip's model axes to the target's, unless both bodies show that it is another one. source_map,
    target_map: H-Anim roles of the joints, found if not given. skin: (J,) joints of the target that deform its skin,
    default all. points: samples of the target's skin, if known; they rest on the ground (see ground/). keep_contacts:
    hands keep touching each other and the body, arms stay outside the trunk (see contacts/). without_first_pose: a
    T-pose before the motion is removed. begins_at_rest: the clip is shifted over the ground so that the body begins at
    its rest position.

    On its own skeleton every track plays, translations and scales too, up to rounding. On another one joints only
    rotate, each from the pose in which the clip's body stands (see comparing/). The hips follow the source's path,
    scaled by the leg ratio. Limbs outside the body's hierarchy play as if they were in it. Skin of a double moves with
    the joint that it copies.

    Raises SkeletonMismatchError if no joints match or the match is uncertain, and if the clip moves a joint farther
    than _FARTHEST_SIZES.
    """
    _refuse_far(clip)
    skins = clip.skin, None if points is None else _sample(points, target)
    deforming = np.ones(len(target), np.bool_) if skin is None else skin
    bodies = _Bodies.of(clip, source_map or find_map(clip.skeleton), target, target_map or find_map(target), turn,
                        deforming, points, skins)
    whole, plan, pairs, shown, clip = bodies.whole, bodies.plan, bodies.plan.pairs, clip.skin, bodies.source
    target, points = whole.skeleton, None if points is None else _own_points(whole, points)
    start_s = first_pose_end(clip) if without_first_pose else None
    if start_s is not None:
        clip = from_time(clip, start_s)
    stood = clip if plan.is_own or not bodies.reference.is_positioned else raised_onto_feet(clip, pairs)
    stood = replace(stood, skin=shown)
    away = _away(bodies, stood, up := bodies.target.up(rot.rotate(turn, UP)))
    if begins_at_rest:
        stood, away = shifted(stood, -away), np.zeros(3)
    played, lower = _played(bodies, stood, target, points)
    if keep_contacts and not plan.is_own:
        played = with_contacts_kept(played, bodies.target, points, stood,
                                    replace(bodies.reference.map, skeleton=stood.skeleton))
    if points is not None and not plan.is_own and bodies.up is not None and len(played.translations):
        played = with_arms_above(played, bodies.target, points, bodies.up, lower)
    used = np.union1d(pairs.source, pairs.other)
    doubles = {int(whole.order[joint]): int(whole.order[on]) for joint, on in plan.doubles.items()}
    return Retargeted(
        whole.as_it_is(played), tuple((clip.skeleton.names[s], target.names[t])
                                      for s, t in zip(pairs.source.tolist(), pairs.target.tolist(), strict=True)),
        tuple(clip.skeleton.names[j] for j in np.setdiff1d(np.flatnonzero(bodies.moved), used)),
        tuple(target.names[j] for j in np.setdiff1d(np.arange(len(target)), pairs.target)), plan.is_own,
        doubles, bodies.reference.map, bodies.reference.why, start_s or 0.0,
        plan.ratio * float(np.linalg.norm(away)) / max(float(np.ptp(target.rest_world[..., 3] @ up)), 1e-30))


def with_contacts(made: Retargeted, clip: Clip, source_map: SkeletonMap) -> Retargeted:
    """Return a retargeted clip with the foot contacts of the original.

    source_map: of the clip's own skeleton.
    """
    found = foot_contacts(clip, source_map, source_map.up(UP))
    contacts = {side: each.part(made.left_out_s, clip.duration_s) for side, each in found.items()}
    return replace(made, clip=replace(made.clip, contacts=contacts))


def _refuse_far(clip: Clip) -> None:
    tracks, positions = clip.translations, clip.skeleton.rest_world[..., 3]
    size = float(np.ptp(positions, axis=0).max(initial=0.0)) or 1.0
    far = np.abs(tracks.values).max(axis=1, initial=0.0)
    if far.max(initial=0.0) > _FARTHEST_SIZES * size:
        track = int(np.searchsorted(tracks.starts, int(far.argmax()), side="right")) - 1
        joint = clip.skeleton.names[tracks.joints[track]]
        raise SkeletonMismatchError(
            f"clip {clip.name!r} leads {joint!r} {far.max():.3g} away, while its body measures {size:.3g}; expected "
            f"at most {_FARTHEST_SIZES:,.0f} times as much: mend the file, or its unit")


@dataclass(frozen=True, eq=False)
class _Bodies:
    """Two bodies in the poses in which they are compared.

    source: the clip in the target's axes, on a skeleton that rests in its reference pose. moved: (J,) joints that the
    original clip moves. whole: the target. target: the map of its skeleton, made upright if it leans. up: (3,) the up
    direction, or None if its body does not show it.
    """

    source: Clip
    moved: BoolArray
    whole: WholeBody
    target: SkeletonMap
    reference: Reference
    plan: Plan
    up: FloatArray | None

    @classmethod
    def of(cls, clip: Clip, source: SkeletonMap, own: Skeleton, target: SkeletonMap, turn: FloatArray,
           skin: BoolArray, points: SkinPoints | None,
           skins: tuple[SkinSample | None, SkinSample | None]) -> _Bodies:
        """Compare bodies in their rest poses if they share a skeleton, else in the poses in which they stand."""
        up = target.up(rot.rotate(turn, UP))
        if has_same_joints(source.skeleton, target.skeleton, clip.moved):
            at_rest = Reference(clip, source, None, True, "")
            found = cls._planned(at_rest, clip.moved, WholeBody.as_own(own), target, turn, up, skin, skins)
            if found.plan.is_own:
                return found
        whole, standing = _standing_body(own, target, (float(up[0]), float(up[1]), float(up[2])), points)
        skins = skins[0], None if skins[1] is None else whole.sample(skins[1])
        return cls._planned(find_reference(clip, source), clip.moved, whole, standing, turn, up,
                            skin[whole.order], skins)

    @classmethod
    def _planned(cls, reference: Reference, moved: BoolArray, whole: WholeBody, target: SkeletonMap, turn: FloatArray,
                 up: FloatArray, skin: BoolArray, skins: tuple[SkinSample | None, SkinSample | None]) -> _Bodies:
        both = f"clip {reference.clip.name!r} and skeleton {target.skeleton.name!r}"
        lies = f"the clip is of {NONE_STANDS}" if reference.why == NONE_STANDS else ""
        never_stands = f"{both} cannot be compared: {lies}. Give it a frame in which the body stands"
        if lies and reference.map.is_sure and target.is_sure:
            raise SkeletonMismatchError(never_stands)
        if reference.map.is_sure and target.may_stand and not target.is_humanoid:
            raise SkeletonMismatchError(_why_not_standing(both, target))
        try:
            pairs = pair(reference.map, target, moved)
        except SkeletonMismatchError as error:
            named = map_in_any_pose(reference.clip.skeleton)
            if lies and target.is_sure and named.is_sure and may_be_human(named.skeleton, named.joint_of):
                raise SkeletonMismatchError(never_stands) from error
            # uncertain joints, such as left and right exchanged, do not rule out a standing body
            unseen = lies if reference.map.is_sure else "no standing body is recognised in the clip"
            too = f"; {unseen}" if lies else ""
            raise SkeletonMismatchError(f"{both} {error}{too}") from error
        axes = _turn(turn, reference.map, target, up)
        upright = turned(reference.clip, axes)
        own_up = None if target.turn is None else rot.rotate(target.turn, UP)
        backs = _both_backs(replace(reference.map, skeleton=upright.skeleton), target, skins, reference.time_s is None)
        plan = _plan_as_own(upright.skeleton, target.skeleton, pairs)
        if plan is None:
            stays = by_their_way(upright, target.skeleton, pairs, own_up if reference.is_positioned else None)
            plan = _plan(upright.skeleton, target.skeleton, pairs.at(stays), skin, own_up, backs)
        return cls(upright, moved, whole, target, reference, plan, own_up)


def _why_not_standing(both: str, target: SkeletonMap) -> str:
    """Return why a skeleton with limbs cannot be compared: it is known by names, but lies, or it is not recognised."""
    if map_in_any_pose(target.skeleton).is_humanoid:
        return (f"{both} cannot be compared: the skeleton does not rest upright. If it has two legs, pose it upright, "
                "then Find Joints and Set Reference Pose")
    return (f"{both} cannot be compared: neither names nor rest pose show which bones of the skeleton are legs and "
            "arms. If it has two of each, Find Joints and choose them in the list; if it does not rest upright, pose "
            "it upright, then Set Reference Pose")


_plan, _plan_as_own = once_for_equal(_MOST_PLANS)(Plan.of), once_for_equal(_MOST_PLANS)(Plan.as_own)
_both_backs = once_for_equal(_MOST_PLANS)(both_backs)


@lru_cache(maxsize=_MOST_KNOWN)
def _standing_body(own: Skeleton, found: SkeletonMap, up: tuple[float, float, float],
                   points: SkinPoints | None) -> tuple[WholeBody, SkeletonMap]:
    """Return a skeleton with limbs attached to its body, and its map in a standing pose; cached for later clips."""
    whole = WholeBody.of(own, found)
    return whole, stood_up(whole.map(found), np.array(up), None if points is None else _own_points(whole, points))


@lru_cache(maxsize=_MOST_KNOWN)
def _sample(points: SkinPoints, own: Skeleton) -> SkinSample:
    return points.sample(own)


@lru_cache(maxsize=_MOST_KNOWN)
def _own_points(whole: WholeBody, points: SkinPoints) -> SkinPoints:
    return whole.points(points)


def _away(bodies: _Bodies, stood: Clip, up: FloatArray) -> FloatArray:
    """Return the horizontal offset of a clip's first hips position from the target's, (3,) in the clip's size."""
    pairs = bodies.plan.pairs
    hips = [p for p, name in enumerate(pairs.meant) if name in HIPS]
    joints = pairs.source[hips] if len(hips) == len(HIPS) else carriers(stood)
    rest = stood.skeleton.rest_world[joints, :, 3]
    if not bodies.reference.is_positioned and len(hips) == len(HIPS):
        rest = bodies.target.skeleton.rest_world[pairs.target[hips], :, 3] / bodies.plan.ratio
    return away_at_first(stood, joints, rest.mean(axis=0), up) if len(joints) else np.zeros(3)


def _played(bodies: _Bodies, stood: Clip, own: Skeleton,
            points: SkinPoints | None) -> tuple[Clip, LowerGround | None]:
    """Make the target's tracks, convert them to its own skeleton, and return them with the ground."""
    plan, target = bodies.plan, bodies.target.skeleton
    tracks = TargetTracks(stood, target, plan)
    rotations, translations, scales = tracks.rotations(), tracks.translations(), tracks.scales()
    loose, by_joints = plan.pairs.target[plan.carried], None
    if not plan.is_own and bodies.up is not None:
        rotations, translations, by_joints = _standing(bodies, stood, rotations, translations, bodies.up,
                                                       points is not None)

    def played(moves: Tracks) -> Clip:
        besides = None if points is None else moments(stood.duration_s, rotations)
        moves = carried(target, loose, rotations, moves, besides)
        new = Clip(stood.name, target, stood.duration_s, rotations, moves, scales, stood.is_looping)
        return new if target is own else rebased(new, own)

    if plan.is_own or bodies.up is None or points is None:
        return played(translations), None
    source_map = replace(bodies.reference.map, skeleton=stood.skeleton)
    return brought_to_ground(stood, source_map, bodies.target, points, bodies.up, plan.ratio,
                             body_root(target, plan.pairs), translations, played,
                             () if by_joints is None else (by_joints,))


def _standing(bodies: _Bodies, stood: Clip, rotations: Tracks, translations: Tracks,
              up: FloatArray, has_skin: bool) -> tuple[Tracks, Tracks, Ground | None]:
    """Return rotations and translations with the hips on their path, and feet as high as the clip's. up: (3,)."""
    plan, target = bodies.plan, bodies.target.skeleton
    loose = plan.pairs.target[plan.carried]
    is_known = bodies.reference.is_positioned
    path = HipsPath.of(stood, target, plan.pairs, plan.ratio, None if is_known else up)
    if path is not None:
        translations = path.followed(rotations, translations)
    if not len(translations):
        return rotations, translations, None
    here = BodyMotion(target, rotations, carried(target, loose, rotations, translations), up)
    there = BodyMotion(stood.skeleton, stood.rotations, stood.translations, up)
    is_high = is_known and stood.skeleton is bodies.source.skeleton
    ground = ground_by_joints(there, here, plan.pairs, bodies.target, plan.ratio, is_high, has_skin)
    if ground is None:
        return rotations, translations, None
    translations = lifted(target, translations, ground, up, body_root(target, plan.pairs))
    if ground.drawn.any() and not has_skin:
        moves = carried(target, loose, rotations, translations)
        hopping = Clip("", target, stood.duration_s, rotations, moves, Tracks.empty(3))
        rotations = with_feet_drawn_up(hopping, bodies.target, ground, up).rotations
    return rotations, translations, ground


def _turn(stated: FloatArray, source: SkeletonMap, target: SkeletonMap, up: FloatArray) -> FloatArray:
    """Return the turn (4,) from the clip's model axes to the target's, with equal facing directions.

    The stated turn is kept if it is about the same, apart from the target's up (3,): a tilted object tilts what it
    plays.
    """
    if source.turn is None or target.turn is None or not (source.is_sure and target.is_sure):
        return stated
    (there, aside), (here, own_aside) = (_right_angled(turn) for turn in (source.turn, target.turn))
    axes = rot.multiply(here, rot.conjugate(there))
    if rot.angle_between(axes, stated) <= _OTHER_AXES_RAD:
        wanted, found = rot.rotate(rot.conjugate(own_aside), up), rot.rotate(stated, rot.rotate(there, UP))
        axes = stated if found @ wanted > 1.0 - SAME_UP else rot.multiply(rot.shortest_arc(found, wanted), stated)
    return rot.multiply(own_aside, rot.multiply(axes, rot.conjugate(aside)))


def _right_angled(turn: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the nearest right-angled turn (4,), and the remaining turn after it."""
    nearest = rot.from_matrix(right_angled(rot.to_matrix(turn)))
    return nearest, rot.multiply(turn, rot.conjugate(nearest))
