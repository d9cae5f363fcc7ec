"""The state of a preview that is on."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import bpy

from ..bridge.scores import parameters
from ..core.playing.stage import Playable
from .cast import Actors, Cast
from .character import PreviewCharacter
from .choices import Choices
from .hiding import Hiding, Layer
from .preparing import Preparing
from .smooth import Smooth


class Member(NamedTuple):
    """A character in a view layer, with its drawable meshes; has_bones: whether its bones are drawn too."""

    character: PreviewCharacter
    armature: bpy.types.Object
    meshes: list[bpy.types.Object]
    has_bones: bool


Members = list[Member]


class Trial(NamedTuple):
    """A motion that a character plays instead of its score, and its start time."""

    armature_uid: int
    motion: Playable
    since_s: float


class Chosen(NamedTuple):
    """What a picture shows: the choices, a motion that is tried out, and the time of the player's clock."""

    choices: Choices
    trial: Trial | None
    now_s: float


@dataclass(eq=False)
class Running:
    """The state of a preview that is on; members: in each view layer, with the number of changes.of_scenes.

    values: last values of the characters' scores, by the session uids of their objects. playing: motions of characters,
    valid as long as the key stays the same.
    """

    characters: dict[int, PreviewCharacter]
    cast: Cast = field(default_factory=Cast)
    smooth: Smooth = field(default_factory=Smooth)
    members: dict[Layer, tuple[int, Members]] = field(default_factory=dict)
    actors: Actors = field(default_factory=Actors)
    values: dict[int, parameters.Seen] = field(default_factory=dict)
    playing: tuple[Hashable, dict[int, Playable | None]] = (None, {})
    preparing: Preparing = field(default_factory=Preparing)
    hiding: Hiding = field(default_factory=Hiding)
    failed: bool = False
    handle: Any = None
