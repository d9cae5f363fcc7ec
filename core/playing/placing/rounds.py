"""Continuation of cyclic clips, whose end leads to their beginning, such as walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...clips.body_contacts import Contact
from ...clips.clip import Clip, Tracks
from ...clips.contacts import FootContacts, joined
from ...clips.excerpt import Excerpt
from ...clips.keyed import by_joint, packed, packed_by_joint
from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from .placement import Bearing, Placement, Root
from .root_motion import roots_carried

_REST = {4: rot.IDENTITY, 3: np.zeros(3)}


def going_round(clip: Clip, lead_s: float, bearing: Bearing | None) -> Excerpt:
    """Return a cyclic clip as an excerpt of a clip that is lead_s longer at both ends.

    The added time repeats the clip's other end. lead_s: at most the clip's duration. bearing: that of the root if the
    clip travels, so that repeats continue from its position; None repeats poses in place. Where repeats meet the clip,
    the clip's own keys are used, so it should end as it begins.
    """
    length_s = clip.duration_s
    parts = [Excerpt(clip, begin_s, end_s).keyed for begin_s, end_s in
             ((length_s - lead_s, length_s), (0.0, length_s), (0.0, lead_s))]
    moved = [] if bearing is None else [joint for joint in bearing.chain.tolist() if clip.moved[joint]]
    if bearing is not None and moved:
        ends = bearing.placement(clip.sample(np.array((0.0, length_s)), "SLERP"))
        by = ends.at(1) @ ends.at(0).inverse()
        roots = roots_carried([clip], moved[0], clip.skeleton, bearing.up)
        parts[0], parts[2] = _carried(parts[0], roots, by.inverse()), _carried(parts[2], roots, by)
    begins_s = 0.0, lead_s, lead_s + length_s
    whole = replace(clip, duration_s=length_s + 2.0 * lead_s, is_looping=False,
                    rotations=_in_a_row([part.rotations for part in parts], begins_s),
                    translations=_in_a_row([part.translations for part in parts], begins_s),
                    scales=_in_a_row([part.scales for part in parts], begins_s), contacts=_contacts(parts, begins_s),
                    bearing=_bearing(parts, begins_s))
    return Excerpt(whole, lead_s, lead_s + length_s, goes_round=True)


def _carried(part: Clip, roots: Sequence[Root], by: Placement) -> Clip:
    """Return a part of a clip with its roots moved over the ground by a placement."""
    rotations, translations = map(by_joint, (part.rotations, part.translations))
    still = np.array((0.0, part.duration_s))
    for root in roots:
        times, turns = rotations.get(root.joint, (still, rot.identities(2)))
        rotations[root.joint] = times, root.placed(turns, np.zeros((len(times), 3)), by.numbers)[0]
        times, shifts = translations.get(root.joint, (still, np.zeros((2, 3))))
        translations[root.joint] = times, root.placed(rot.identities(len(times)), shifts, by.numbers)[1]
    return replace(part, rotations=packed_by_joint(rotations, 4), translations=packed_by_joint(translations, 3))


def _in_a_row(parts: Sequence[Tracks], begins_s: Sequence[float]) -> Tracks:
    """Return three parts' tracks, one after another; where two parts meet, the middle one's key is kept."""
    channels = parts[0].values.shape[1]
    keys = [by_joint(part) for part in parts]
    rows = []
    for joint in sorted(set().union(*keys)):
        still = (np.array((0.0, begins_s[2] - begins_s[1])), np.tile(_REST[channels], (2, 1)))  # of the middle one
        before, own, after = (each.get(joint, still) for each in keys)
        times = before[0][:-1], begins_s[1] + own[0], begins_s[2] + after[0][1:]
        rows.append((joint, np.concatenate(times), np.concatenate((before[1][:-1], own[1], after[1][1:]))))
    return packed(rows, channels)


def _bearing(parts: Sequence[Clip], begins_s: Sequence[float]) -> tuple[Contact, ...]:
    return tuple(replace(each, times_s=begin_s + each.times_s)
                 for part, begin_s in zip(parts, begins_s, strict=True) for each in part.bearing)


def _contacts(parts: Sequence[Clip], begins_s: Sequence[float]) -> dict[str, FootContacts] | None:
    found = [part.contacts for part in parts]
    if any(each is None for each in found):
        return None

    def spans(side: str, name: str) -> FloatArray:
        return joined(np.concatenate([begin_s + getattr(each[side], name)
                                      for each, begin_s in zip(found, begins_s, strict=True) if each is not None]))

    return {side: FootContacts(*(spans(side, name) for name in ("heel", "ball", "released")))
            for side in found[1] or ()}
