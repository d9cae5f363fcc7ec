"""What the tests share that quote the specification's sections 1 to 4 sentence by sentence."""

import pytest

from takt.core.errors import FileError
from takt.core.library.library import Library
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import Programme, resolve
from takt.core.pha.sequence import Sequence
from takt.core.playing.motion import Motion, compose
from takt.core.playing.playing import Playing
from takt.core.playing.transitions.blending import Style
from takt.core.playing.transitions.limits import Limits
from takt.tests.core.scores import STEPS, UP_Z, procedure, score

SAME = 1e-9
AUTO = float("nan")
LOAD = '<load src="feet.Steps"/>'


def programme(*procedures: str, head: str = LOAD, tick: float = 1.0, clips: Library = STEPS) -> Programme:
    """Resolve a score of these procedures."""
    return resolve(parse(score(*procedures, tick=tick, head=head)), clips)


def main(*calls: str, **more: object) -> Sequence:
    """Unfold a score whose main makes these calls."""
    return expand(programme(procedure("main", *calls), **more))  # type: ignore[arg-type]


def names(p: Programme, start: str = "main") -> list[str]:
    """Return the clips that a procedure plays, in full."""
    s = expand(p, start)
    return [s.clips[clip] for clip in s.clip]


def refused(*procedures: str, head: str = LOAD, clips: Library = STEPS) -> str:
    """Return what is said of a score that cannot be played."""
    with pytest.raises(FileError) as caught:
        expand(programme(*procedures, head=head, clips=clips))
    return str(caught.value)


def motion(*calls: str, method: str = "APPEND", curve: str = "COSINE", loop: bool = False, speed: str = "PATHS",
           clips: Library = STEPS, limits: Limits | None = None, **style: str) -> Motion:
    """Play a score whose main makes these calls, as authored."""
    p = programme(procedure("main", *calls), clips=clips)
    return compose(expand(p, "main", loop), p.clips,
                   Playing(Style(method, curve, **style), "AS_AUTHORED", UP_Z, speed, limits))  # type: ignore[arg-type]
