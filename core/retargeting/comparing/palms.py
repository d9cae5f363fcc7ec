"""Directions of the backs of hands at rest: by fingers, by skin, or as usual for arms at rest.

Fingers with unknown names, or with few joints, still show the hand's plane.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from ...skeletons.hanim import UP
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.maps.names import is_helper
from ...skeletons.skin_sample import SkinSample

FINGERS: Final = ("index", "middle", "ring", "pinky")
_WRISTS: Final = ("l_wrist", "r_wrist")
_IN_LINE: Final = 0.05
"""Sine below which two directions are parallel."""
_FLAT: Final = 0.5
_NOT_ROUND: Final = 0.75
"""Flat hands are thinner than _FLAT of their length and _NOT_ROUND of their width, all as standard deviations."""
_FEWEST: Final = 8
_FEWEST_FINGERS: Final = 6
"""Least numbers of skin points from which the plane of a hand, and the plane of its fingers, are measured."""
_THUMB_IS_NEAR: Final = 0.7
"""A finger is the thumb if it begins nearer to the wrist than this share of the next finger's distance."""
_FINGERS_FROM: Final = 0.55
"""Share of the way from the wrist to the finger tips beyond which only fingers reach, no thumb."""


def backs_of_hands(found: SkeletonMap) -> dict[str, FloatArray]:
    """Return directions (3,) of the backs of hands at rest, by wrists' names, from planes of wrist and knuckles.

    The planes contain the wrist and the outermost fingers except the thumb; a single finger shows no plane.
    """
    position, joint_of, backs = found.skeleton.rest_world[:, :, 3], found.joint_of, {}
    for side, sign in (("l", 1.0), ("r", -1.0)):
        knuckles = [position[joint_of[name]] for name in knuckle_names(side) if name in joint_of]
        if f"{side}_wrist" in joint_of and len(knuckles) > 1:
            first, last = (knuckles[i] - position[joint_of[f"{side}_wrist"]] for i in (0, -1))
            back = sign * np.cross(first, last)
            if np.linalg.norm(back) > _IN_LINE * np.linalg.norm(first) * np.linalg.norm(last):
                backs[f"{side}_wrist"] = back / np.linalg.norm(back)
    return backs


def usual_backs(found: SkeletonMap, turn: FloatArray) -> dict[str, FloatArray]:
    """Return the usual directions (3,) of the backs of hands at rest, accurate to about 15°, by wrists' names.

    The back of the hand faces up if the arm is stretched sideways. For other arms it is turned with the arm by the
    shortest arc. turn: (4,) from H-Anim's axes to the model's.
    """
    position, joint_of, backs = found.skeleton.rest_world[:, :, 3], found.joint_of, {}
    up = rot.rotate(turn, UP)
    for side, sign in (("l", 1.0), ("r", -1.0)):
        if {f"{side}_shoulder", f"{side}_wrist"} <= joint_of.keys():
            arm = position[joint_of[f"{side}_wrist"]] - position[joint_of[f"{side}_shoulder"]]
            backs[f"{side}_wrist"] = rot.rotate(rot.shortest_arc(rot.rotate(turn, np.array((sign, 0.0, 0.0))), arm), up)
    return backs


def backs_by_joints(found: SkeletonMap, turn: FloatArray) -> dict[str, FloatArray]:
    """Return directions of the backs of hands with unknown fingers, by the plane in which the fingers begin.

    Thumbs are ignored. The back is the side of the plane to which usual_backs points. turn: see there.
    """
    skeleton, backs = found.skeleton, {}
    for wrist, usual in usual_backs(found, turn).items():
        at = skeleton.rest_world[found.joint_of[wrist], :, 3]
        fingers = [joint for joint in np.flatnonzero(skeleton.parents == found.joint_of[wrist]).tolist()
                   if not is_helper(skeleton.names[joint])]
        away = skeleton.rest_world[fingers, :, 3] - at
        away = away[np.argsort(np.linalg.norm(away, axis=1))]
        far = np.linalg.norm(away, axis=1)
        if len(far) > 2 and far[0] < _THUMB_IS_NEAR * far[1]:
            away, far = away[1:], far[1:]
        if len(far) < 2 or len(far) > len(FINGERS) or far[0] <= _THUMB_IS_NEAR * far[-1]:
            continue
        along = away / far[:, None]
        first, last = divmod(int((along @ along.T).argmin()), len(along))
        back = np.cross(along[first], along[last])
        if np.linalg.norm(back) > _IN_LINE:
            backs[wrist] = back / np.linalg.norm(back) * (1.0 if back @ usual >= 0.0 else -1.0)
    return backs


def backs_by_skin(found: SkeletonMap, skin: SkinSample, turn: FloatArray) -> dict[str, FloatArray]:
    """Return directions of the backs of flat hands, by the plane of their skin in the map's rest pose.

    Thumbs are ignored. turn: see usual_backs.
    """
    backs = {}
    for wrist, usual in usual_backs(found, turn).items():
        joint, thumb = found.joint_of[wrist], found.joint_of.get(f"{wrist[0]}_thumb1")
        of_hand = with_descendants(found.skeleton.parents, np.array([joint]))
        if thumb is not None:
            of_hand &= ~with_descendants(found.skeleton.parents, np.array([thumb]))
        hand = skin.of_joints(found.skeleton, of_hand) - found.skeleton.rest_world[joint, :, 3]
        back = _back_of_hand(hand, thumb is None) if len(hand) >= _FEWEST else None
        if back is not None:
            backs[wrist] = back * (1.0 if back @ usual >= 0.0 else -1.0)
    return backs


def _back_of_hand(hand: FloatArray, has_thumb: bool) -> FloatArray | None:
    """Return a normal (3,) of a flat hand, towards its back or its palm. hand: (N, 3) skin points, from the wrist.

    A thumb hangs below the plane of the hand, and tilts the measured plane about the hand's length, usually by 12°. So
    in hands with a thumb, the finger tips give the rotation about the hand's length, and the whole hand gives the
    direction of its length.
    """
    sizes, axes = np.linalg.eigh(np.cov(hand.T))
    if sizes[0] >= min(_FLAT**2 * sizes[2], _NOT_ROUND**2 * sizes[1]):
        return None
    plane, fingers = np.asarray(axes[:, 0]), hand
    if not has_thumb:
        return plane
    for _ in range(2):  # the first direction is still affected by the thumb
        along = fingers.mean(axis=0)
        along = along - plane * (along @ plane)
        reach = hand @ along
        fingers = hand[reach > _FINGERS_FROM * reach.max()]
    if len(fingers) < _FEWEST_FINGERS:
        return plane
    flat = np.linalg.eigh(np.cov(fingers.T))[1][:, 0]
    back = flat - along * (flat @ along) / (along @ along)
    length = np.linalg.norm(back)
    return np.asarray(back / length) if length > _IN_LINE else plane


def hand_axes(along: FloatArray, back: FloatArray) -> FloatArray | None:
    """Return axes (3, 3) of a hand: along it, out of its back, across; None if the first two are parallel."""
    across = np.cross(along, back)
    if np.linalg.norm(across) <= _IN_LINE * np.linalg.norm(along) * np.linalg.norm(back):
        return None
    back, across = back / np.linalg.norm(back), across / np.linalg.norm(across)
    return np.stack((np.cross(back, across), back, across), axis=1)


def knuckle_names(side: str) -> list[str]:
    """Return the names of the knuckles of a hand, from the index finger on."""
    return [f"{side}_{finger}1" for finger in FINGERS]


def both_backs(source: SkeletonMap, target: SkeletonMap, skins: tuple[SkinSample | None, SkinSample | None],
               is_at_rest: bool) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return the directions of the backs of hands of source and target, by wrists' names, if one of them is known.

    Both skeletons are in the same axes, in the poses in which they are compared. skins: of source and target, if known.
    is_at_rest: whether the source's pose is a rest pose. In a frame of a motion, forearms may be twisted.
    """
    turn = target.turn
    there, here = backs_of_hands(source), backs_of_hands(target)
    if turn is None:
        return {wrist: (there[wrist], here[wrist]) for wrist in there.keys() & here.keys()}
    there, here = (backs if skin is None or len(backs) == len(_WRISTS) else backs_by_skin(found, skin, turn) | backs
                   for found, skin, backs in zip((source, target), skins, (there, here), strict=True))
    there, here = (backs_by_joints(found, turn) | backs for found, backs in ((source, there), (target, here)))
    seen = there.keys() | here.keys()
    here = usual_backs(target, turn) | here
    if is_at_rest:
        there = usual_backs(source, turn) | there
    return {wrist: (there[wrist], here[wrist]) for wrist in there.keys() & here.keys() & seen}
