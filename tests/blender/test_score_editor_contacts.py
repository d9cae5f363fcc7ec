"""Contacts of feet in the score editor: a click switches one off or on; kept with the character, and undone."""

from typing import Any

import bpy
import numpy as np

from takt.bridge import properties
from takt.bridge.scores import score, score_blocks
from takt.core.clips.released import read_released
from takt.core.score_editor.contacts import Contacts
from takt.core.score_editor.layout import Layout
from takt.core.score_editor.stripes import CONTACT_PX, Stripes
from takt.operators.score_editor.contact import TAKT_OT_score_contact
from takt.preview.score_editor import windows
from takt.samples import dancer
from takt.tests.blender.score_editors import Hand, context, editing

operators: Any = bpy.ops


def laid_out(rig: bpy.types.Object) -> tuple[Layout, Contacts]:
    score_blocks.find_windows(rig)
    layout = score_blocks.refresh(rig).layout
    assert layout is not None and layout.contacts is not None
    return layout, layout.contacts


def place(layout: Layout, contacts: Contacts, number: int) -> tuple[float, float]:
    window = windows.window_of(context.space_data)
    assert window is not None
    stripes, here = Stripes.of(layout, window.view), slice(number, number + 1)
    assert stripes.contacts is not None
    x = float((window.view.x(contacts.begin[here]) + window.view.x(contacts.end[here]))[0]) / 2.0
    return x, stripes.contacts[1] - (float(contacts.foot[number]) + 0.5) * CONTACT_PX


def test_a_click_switches_a_contact_off_and_on_and_undo_brings_it_back() -> None:
    rig, _ = dancer.bound_dancer()
    dancer.play()
    name = rig.name
    with editing():
        layout, contacts = laid_out(rig)
        before = score.motion_of(rig)
        assert before is not None and contacts.is_on.all() and len(contacts) > 50
        number = int(np.argmax(contacts.end - contacts.begin))
        operators.ed.undo_push(message="before")
        hand = Hand(TAKT_OT_score_contact)
        assert hand.press(*place(layout, contacts, number)) == {"FINISHED"}
        operators.ed.undo_push(message="click")
        [off] = read_released(properties.character(rig).released)
        assert off.clip == contacts.clips[contacts.clip[number]]
        assert not score_blocks.is_complete(rig)
        now = laid_out(rig)[1]
        assert len(now) == len(contacts) and 0 < (~now.is_on).sum() < len(now)
        after = score.motion_of(rig)
        assert after is not None and after is not before
        operators.ed.undo()
        rig = bpy.data.objects[name]
        assert properties.character(rig).released == "" and laid_out(rig)[1].is_on.all()
        operators.ed.redo()
        rig = bpy.data.objects[name]
        layout, now = laid_out(rig)
        back = int(np.flatnonzero(~now.is_on)[0])
        assert hand.press(*place(layout, now, back)) == {"FINISHED"}
        assert properties.character(rig).released == ""
        assert hand.press(*place(layout, now, number)[:1], 1e4) == {"PASS_THROUGH"}


def test_all_are_switched_on_again() -> None:
    rig, _ = dancer.bound_dancer()
    dancer.play()
    with editing():
        layout, contacts = laid_out(rig)
        assert not operators.takt.score_contacts_on.poll()
        Hand(TAKT_OT_score_contact).press(*place(layout, contacts, 0))
        assert properties.character(rig).released and operators.takt.score_contacts_on.poll()
        assert operators.takt.score_contacts_on() == {"FINISHED"}
        assert laid_out(rig)[1].is_on.all()
