"""The elements of scores of version 2 and their attributes, as data for the parser and the tables of the docs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Final, NamedTuple


class Kind(Enum):
    """The kind of an attribute's content; the value names it in words."""

    NAME = "a name"
    NEW_NAME = "letters, digits and underscores, no word of the language"
    SRC = "a dotted path below the library, as in feet.Steps"
    BODY = "a part of the body, as in upper or legs - feet"
    LENGTH = "a number of ticks, 0 or more"
    SHARE = "a number"
    WEIGHT = "a number, 0 or more"
    COUNT = "a whole number, 0 or more"
    REPEAT = "a whole number, 1 or more, or fit"
    TRUTH = "yes or no"
    PART = "a share from 0 to 1, or seconds as in 1.5s"
    VALUE = "a number, or yes or no"
    MODE = "replace, mix or add"
    TICK = "a plain number of ticks, 0 or more"
    TICK_LENGTH = "a plain number of seconds per tick, from 0.000001 to 1000000"
    SECONDS = "a plain number of seconds"
    JOINTS = "a plain number of joints, 0 or more"
    VERSION = "1 or 2"
    ROLE_KIND = "place, path, prop, floor or person"
    PLACE = "a role that is a place"
    PATH = "a role that is a path"
    TARGET = "a role that is a place or a prop"
    PROP = "a role that is a prop"
    PERSON = "a role that is a person"
    LOOKED_AT = "a role that is a place, a prop or a person"
    HAND = "left hand or right hand"
    PART_OR_PLACE = "a share from 0 to 1, or seconds as in 1.5s, or a role that is a place"

    @cached_property
    def is_expression(self) -> bool:
        """Whether the attribute may hold an expression."""
        return self in _EXPRESSIONS


_EXPRESSIONS: Final = frozenset({Kind.LENGTH, Kind.SHARE, Kind.WEIGHT, Kind.COUNT, Kind.REPEAT, Kind.TRUTH, Kind.PART,
                                 Kind.VALUE, Kind.PLACE, Kind.PATH, Kind.PART_OR_PLACE, Kind.TARGET,
                                 Kind.PROP, Kind.PERSON, Kind.LOOKED_AT})
PARTS: Final = frozenset({Kind.PART, Kind.PART_OR_PLACE})
"""Attributes that may be given in seconds."""
ROLE_KINDS: Final = ("place", "path", "prop", "floor", "person")
HANDS: Final = ("left hand", "right hand")
FIT: Final = "fit"
"""The value of `repeat` for a call that is repeated as often as its way needs."""
WORDS: Final[Mapping[Kind, str]] = MappingProxyType({Kind.REPEAT: FIT})
"""The word that an attribute of a kind may hold in place of an expression."""
MODES: Final = ("replace", "mix", "add")


class Attribute(NamedTuple):
    """An attribute; default: its value if it is not given, or None if it must be given."""

    kind: Kind
    says: str
    default: str | None = None


class Rule(NamedTuple):
    """The contents of an element. children: allowed elements; least: their minimum number.

    open_kind: of attributes with names chosen by the author, or None if there are none.
    """

    says: str
    attributes: Mapping[str, Attribute]
    children: tuple[str, ...] = ()
    least: int = 0
    open_kind: Kind | None = None


_TRANSITION: Final = Attribute(Kind.LENGTH, "how long the transition after it is; 0 for none", "automatic")
_WEIGHT_IN_PICK: Final = Attribute(Kind.WEIGHT, "how likely it is among its neighbours; only inside a pick", "1")
AIMS: Final = ("look", "reach", "hold", "meet")
"""Elements that let a part of the body aim at something in the scene, on top of the played motion."""
RESTS: Final = ("wait", *AIMS)
"""Elements that have a duration, but play no clip."""
PLAYED: Final = ("call", *RESTS, "loop", "pick", "together")
"""Elements that have a duration."""
BLOCK: Final = (*PLAYED, "let", "if", "elif", "else")
"""Elements that a block may contain."""
_FADE: Final = Attribute(Kind.JOINTS, "over how many joints the border fades", "0")

GRAMMAR: Final[Mapping[str, Rule]] = MappingProxyType({
    "pha": Rule("A file, which is one module.", {
        "version": Attribute(Kind.VERSION, "the version of the language", "1"),
        "tickLength": Attribute(Kind.TICK_LENGTH, "how long a tick is"),
        "extends": Attribute(Kind.SRC, "the module whose procedures this one takes over and may replace", ""),
    }, ("load", "include", "music", "tempo", "mask", "role", "let", "procedure")),
    "load": Rule("Loads a file, so that calls can name its clips.", {"src": Attribute(Kind.SRC, "the clips' file")}),
    "include": Rule("Includes another score, so that calls can name its procedures.",
                    {"src": Attribute(Kind.SRC, "the score")}),
    "music": Rule("The music to dance to; at most one.", {
        "src": Attribute(Kind.SRC, "the sound file"),
        "offset": Attribute(Kind.SECONDS, "where in the sound file tick 0 is", "0"),
    }),
    "tempo": Rule("Changes the length of ticks from a tick on, counted from the start of the performance.", {
        "tick": Attribute(Kind.TICK, "from which tick on"),
        "tickLength": Attribute(Kind.TICK_LENGTH, "how long a tick is from there on"),
        "over": Attribute(Kind.TICK, "over how many ticks the length changes, evenly", "0"),
    }),
    "mask": Rule("A name for a part of the body.", {
        "name": Attribute(Kind.NEW_NAME, "the name"),
        "body": Attribute(Kind.BODY, "the part of the body"),
        "fade": _FADE,
    }),
    "role": Rule("A name for an object of the scene, which the user chooses there.", {
        "name": Attribute(Kind.NEW_NAME, "the name"),
        "is": Attribute(Kind.ROLE_KIND, "place: a position with a direction to face; path: a line to go along; prop: "
                                        "what hands reach for and hold; floor: what feet stand on; person: another "
                                        "character"),
    }),
    "let": Rule("A constant with a name: for all procedures of a file, or up to the end of a block.", {
        "name": Attribute(Kind.NEW_NAME, "the name"),
        "value": Attribute(Kind.VALUE, "the value"),
    }),
    "procedure": Rule("A named sequence of calls and other blocks.", {"name": Attribute(Kind.NAME, "the name")},
                      ("param", *BLOCK), least=1),
    "param": Rule("A parameter, whose value a call may set.", {
        "name": Attribute(Kind.NEW_NAME, "the name"),
        "default": Attribute(Kind.VALUE, "the value where a call does not set it"),
    }),
    "call": Rule("Plays a clip or a procedure.", {
        "name": Attribute(Kind.NAME, "what is played"),
        "duration": Attribute(Kind.LENGTH, "how long it lasts; 0 plays nothing"),
        "transition": _TRANSITION,
        "repeat": Attribute(Kind.REPEAT, "how many times in a row; fit: as often as the way to a place or along a path "
                                         "needs, within the duration", "1"),
        "mirror": Attribute(Kind.TRUTH, "whether left and right are exchanged", "no"),
        "reverse": Attribute(Kind.TRUTH, "whether it plays backwards", "no"),
        "from": Attribute(Kind.PART, "where in the clip the call begins: a fraction of the clip, or seconds, as in "
                                     "1.5s", "0"),
        "to": Attribute(Kind.PART_OR_PLACE, "where in the clip the call ends: a fraction of the clip, or seconds, as "
                                            "in 1.5s; or a place: the call's path is bent to end there", "1"),
        "at": Attribute(Kind.PLACE, "the place where it begins", ""),
        "along": Attribute(Kind.PATH, "the path that the call follows", ""),
        "facing": Attribute(Kind.TRUTH, "whether the character also faces in the same direction as the place", "yes"),
        "weight": _WEIGHT_IN_PICK,
    }, ("with",)),
    "with": Rule("Sets parameters of the called procedure; its attributes are their names.", {}, open_kind=Kind.VALUE),
    "wait": Rule("A rest: the last pose is held; in a lane, the lanes below show.", {
        "duration": Attribute(Kind.LENGTH, "how long"),
        "transition": _TRANSITION,
        "weight": _WEIGHT_IN_PICK,
    }),
    "look": Rule("Turns head, neck and chest to something, on top of everything else that plays. Its lane rests.", {
        "at": Attribute(Kind.LOOKED_AT, "what is looked at"),
        "duration": Attribute(Kind.LENGTH, "how long"),
        "transition": _TRANSITION,
        "weight": _WEIGHT_IN_PICK,
    }),
    "reach": Rule("Brings a hand to something, on top of everything else that plays. Its lane rests.", {
        "for": Attribute(Kind.TARGET, "what is reached for"),
        "with": Attribute(Kind.HAND, "which hand"),
        "duration": Attribute(Kind.LENGTH, "how long it takes to get there"),
        "hold": Attribute(Kind.LENGTH, "how long the hand stays there, before it goes back", "0"),
        "transition": _TRANSITION,
        "weight": _WEIGHT_IN_PICK,
    }),
    "hold": Rule("Lets a prop move with a hand, on top of everything else that plays. Its lane rests. Without a reach "
                 "before it, the hand comes to the prop by itself. Afterwards the prop stays where the hand left it.", {
        "prop": Attribute(Kind.PROP, "what is held"),
        "with": Attribute(Kind.HAND, "which hand; if both hands hold one prop, it moves with the hand that "
                                       "held it first"),
        "duration": Attribute(Kind.LENGTH, "how long"),
        "transition": _TRANSITION,
        "weight": _WEIGHT_IN_PICK,
    }),
    "meet": Rule("Brings a hand and a hand of a person together, on top of everything else that plays. Its lane "
                 "rests. If the person's score has the same `meet`, both hands move, in proportion to the weights of "
                 "their lanes. Otherwise only this hand moves.", {
        "person": Attribute(Kind.PERSON, "the character to meet"),
        "with": Attribute(Kind.HAND, "which hand"),
        "hand": Attribute(Kind.HAND, "which hand of the person"),
        "duration": Attribute(Kind.LENGTH, "how long it takes to get there"),
        "hold": Attribute(Kind.LENGTH, "how long the hands stay together, before each goes back", "0"),
        "transition": _TRANSITION,
        "weight": _WEIGHT_IN_PICK,
    }),
    "loop": Rule("Plays its block several times in a row.", {
        "times": Attribute(Kind.COUNT, "how many times"),
        "index": Attribute(Kind.NEW_NAME, "name of the loop's counter, which begins at 0", ""),
        "transition": _TRANSITION,
        "weight": _WEIGHT_IN_PICK,
    }, BLOCK, least=1),
    "if": Rule("Plays its block if the test is true.", {"test": Attribute(Kind.TRUTH, "the test")}, BLOCK),
    "elif": Rule("Plays its block if no test before it was true, and its own is.",
                 {"test": Attribute(Kind.TRUTH, "the test")}, BLOCK),
    "else": Rule("Plays its block if no test before it was true.", {}, BLOCK),
    "pick": Rule("Plays one of its children, chosen at random.", {
        "transition": _TRANSITION,
        "weight": _WEIGHT_IN_PICK,
    }, PLAYED, least=1),
    "together": Rule("Plays its lanes at the same time; all have the same length.", {
        "duration": Attribute(Kind.LENGTH, "how long", "that of the longest lane"),
        "transition": _TRANSITION,
        "weight": _WEIGHT_IN_PICK,
    }, ("lane",), least=1),
    "lane": Rule("A row of blocks for one part of the body.", {
        "body": Attribute(Kind.BODY, "which part", "whole"),
        "mode": Attribute(Kind.MODE, "whether it replaces, is mixed with or is added to what lies below", "replace"),
        "fade": _FADE,
        "weight": Attribute(Kind.WEIGHT, "weight at the beginning of the block", "1"),
        "weightEnd": Attribute(Kind.WEIGHT, "weight at the end of the block", "as weight"),
        "ease": Attribute(Kind.LENGTH, "how long it fades in, and how long it fades out", "automatic"),
        "easeIn": Attribute(Kind.LENGTH, "how long it fades in", "as ease"),
        "easeOut": Attribute(Kind.LENGTH, "how long it fades out", "as ease"),
    }, BLOCK, least=1),
})
"""Every element of version 2, by its tag."""
MOST: Final[Mapping[str, tuple[int, str]]] = MappingProxyType({
    "load": (10_000, "divide it among several files"),
    "include": (1_000, "include files that include others"),
    "tempo": (10_000, "let a tempo change over many ticks"),
    "mask": (1_000, "divide it among several files"),
    "role": (1_000, "divide it among several files"),
    "let": (1_000, "divide it among several files"),
})
"""Limits of elements directly below `pha`, and advice if there are more."""
MISSING: Final[Mapping[tuple[str, str], tuple[str, str, str]]] = MappingProxyType({
    ("call", "duration"): ("repeat", FIT,
                           "<call> duration: found none beside repeat=\"fit\", expected how long all rounds last "
                           "together: write about how long, and a warning tells what fits"),
})
"""By tag and attribute: another attribute, its word, and the message if the first is missing beside that word."""


def is_word(kind: Kind, value: str) -> bool:
    """Return whether an attribute of a kind holds its word in place of an expression.

    >>> is_word(Kind.REPEAT, "fit"), is_word(Kind.REPEAT, "2"), is_word(Kind.LENGTH, "fit")
    (True, False, False)
    """
    return kind in WORDS and value.strip() == WORDS[kind]
