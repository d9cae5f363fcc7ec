"""The attributes of a selected block as fields of the tree: typing into one edits the text, as one undo step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import bpy
from bpy.props import BoolProperty, StringProperty

from ...core.errors import EditError
from ...core.pha.edits import Edit, RemoveAttribute, SetAttribute
from ...core.pha.grammar import GRAMMAR, PLAYED, Attribute, Kind
from ...core.pha.text import Text
from ...core.playing.why import Why, why
from ...core.score_editor.change import Edits
from ...core.score_editor.layout import BoxId, Layout
from .. import language
from . import score, score_blocks, score_edits, score_tree

_TAGS = PLAYED
_OF_VERSION_1 = ("name", "duration", "transition", "repeat")
_YES, _NO = "yes", "no"
_refused: dict[str, tuple[str, BoxId, Text]] = {}
"""By a tree's name: why the last typed value was refused, for which block, and in which text."""


def chosen(tree: score_tree.TaktScoreTree, armature_object: bpy.types.Object) -> tuple[Layout, BoxId, int] | None:
    """Return the layout, the selected box and the number of other selected ones, or None if none is."""
    blocks = score_blocks.shown(armature_object)
    if blocks is None or blocks.layout is None:
        return None
    found = blocks.layout.found(score_tree.selection(tree, blocks.selectable))
    return (blocks.layout, blocks.layout.id_of(int(found[0])), len(found) - 1) if len(found) else None


def why_transition(tree: score_tree.TaktScoreTree, armature_object: bpy.types.Object) -> tuple[str, ...]:
    """Return the reason of the length of the transition after the selected block, or why it is unknown."""
    found = chosen(tree, armature_object)
    if found is None:
        return ("Select a block: its transition is the one after it",)
    layout, box, _ = found
    boxes = layout.found(frozenset((box,)))
    segment = layout.segment_until(float(layout.boxes.end[int(boxes[0])]))
    said = None if segment is None else why_behind(layout, segment, armature_object)
    return ("No transition follows the selected block",) if said is None else said.sentences


def why_behind(layout: Layout, segment: int, armature_object: bpy.types.Object) -> Why | None:
    """Return why the transition after a segment of the main row is as long as it is, or None if unknown."""
    known = score.known_performance(armature_object)
    motion = score.last_good(armature_object.session_uid) if known is None or known.motion is None else known.motion
    return None if motion is None or len(motion.sequence) != len(layout.rows[0]) else why(motion, segment)


def attributes(layout: Layout, box: BoxId) -> Iterator[tuple[str, Attribute]]:
    """Yield the attributes that a box's element may have, by name."""
    document = layout.documents[box.document]
    rule = GRAMMAR.get(document.text.shape.tags[box.element])
    for name, attribute in rule.attributes.items() if rule is not None else ():
        if document.version > 1 or name in _OF_VERSION_1:
            yield name, attribute


def box_of(layout: Layout, box: BoxId, name: str, attribute: Attribute) -> str:
    """Return the name of the check box for an attribute, or "" if it needs a text field now."""
    said = layout.documents[box.document].text.shape.attributes[box.element].get(name, _NO)
    return f"is_{name}" if attribute.kind is Kind.TRUTH and said.strip() in (_YES, _NO) else ""


def refused(tree: score_tree.TaktScoreTree) -> str:
    """Return why the last typed value was refused, or "" if it was not, or selection or text have changed."""
    why, *typed_in = _refused.get(tree.name, ("",))
    armature_object = score_tree.character_of(tree, bpy.context)
    found = None if armature_object is None else chosen(tree, armature_object)
    return why if found is not None and typed_in == [found[1], found[0].documents[found[1].document].text] else ""


def forget_refusals() -> None:
    """Clear messages about earlier input."""
    _refused.clear()


class TaktScoreFields(bpy.types.PropertyGroup):
    """The attributes of the selected block's element; missing ones are empty.

    An attribute that is yes or no also has a check box, named is_…, unless its value is an expression.
    """


def _read(name: str, fields: Any) -> str:
    tree, armature_object = _of(fields)
    found = None if armature_object is None else chosen(tree, armature_object)
    if found is None:
        return ""
    layout, box, _ = found
    return layout.documents[box.document].text.shape.attributes[box.element].get(name, "")


def _write(name: str, fields: Any, value: str) -> None:
    tree, armature_object = _of(fields)
    found = None if armature_object is None else chosen(tree, armature_object)
    if armature_object is None or found is None:
        return
    layout, box, _ = found
    text, value = layout.documents[box.document].text, value.strip()
    old = text.shape.attributes[box.element].get(name)
    if value == (old or ""):
        return
    edit: Edit = SetAttribute(box.element, name, value, over_expression=True) if value else RemoveAttribute(
        box.element, name)
    try:
        new, _ = score_edits.attempted(armature_object, score_blocks.refresh(armature_object), Edits(text, (edit,)))
        score_edits.write(bpy.context, armature_object, new)
    except EditError as error:
        _refused[tree.name] = str(error), box, text
    else:
        forget_refusals()


def _of(fields: Any) -> tuple[score_tree.TaktScoreTree, bpy.types.Object | None]:
    tree = cast(score_tree.TaktScoreTree, fields.id_data)
    return tree, score_tree.character_of(tree, bpy.context)


def _said_of(name: str) -> tuple[str, str, Kind]:
    """Return the label, the description and the kind of an attribute."""
    attribute = next(GRAMMAR[tag].attributes[name] for tag in _TAGS if name in GRAMMAR[tag].attributes)
    label = re.sub("(?<=[a-z])(?=[A-Z])", " ", name)  # weightEnd: Weight End
    return label.title(), attribute.says[0].upper() + attribute.says[1:], attribute.kind


def _field(name: str) -> Any:
    def get(fields: Any) -> str:
        return _read(name, fields)

    def set_(fields: Any, value: str) -> None:
        _write(name, fields, value)

    label, says, _ = _said_of(name)
    return StringProperty(name=label, description=says, options={"SKIP_SAVE"}, get=get, set=set_)


def _check_box(name: str) -> Any:
    def get(fields: Any) -> bool:
        return _read(name, fields).strip() == _YES

    def set_(fields: Any, value: bool) -> None:
        if value != get(fields):
            _write(name, fields, _YES if value else "")

    label, says, _ = _said_of(name)
    return BoolProperty(name=label, description=says, options={"SKIP_SAVE"}, get=get, set=set_)


_NAMES = tuple(dict.fromkeys(name for tag in _TAGS for name in GRAMMAR[tag].attributes))
TaktScoreFields.__annotations__ = {name: _field(name) for name in _NAMES} | {
    f"is_{name}": _check_box(name) for name in _NAMES if _said_of(name)[2] is Kind.TRUTH} | {
    "types_expressions": BoolProperty(
        name="Expressions", options={"SKIP_SAVE"},
        description="Enter yes or no as text, so that it can be an expression, such as i % 2 == 1")}


def register() -> None:
    """Add the fields to trees."""
    language.register_class(TaktScoreFields)
    setattr(score_tree.TaktScoreTree, "fields", bpy.props.PointerProperty(type=TaktScoreFields))  # noqa: B010


def unregister() -> None:
    """Remove the fields."""
    delattr(score_tree.TaktScoreTree, "fields")
    bpy.utils.unregister_class(TaktScoreFields)
