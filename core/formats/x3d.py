"""X3D and its humanoids by H-Anim, in XML (`.x3d`) and in the classic encoding, which is that of VRML 97 too.

See x3d_body.py for what is the skeleton, x3d_motion.py for clips.
Prototypes, scripts and other files are left out, and said to be.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ..clips.clip_file import ClipFile
from . import x3d_classic, x3d_xml
from .format import Format, Holds
from .node_clips import named_apart, of_whom
from .x3d_character import characters_of
from .x3d_classic_write import in_classic
from .x3d_motion import clips, humanoids_of
from .x3d_scene import Scene
from .x3d_write import X3dFile as X3dFile
from .x3d_write import write as write


def clips_of(scene: Scene) -> ClipFile:
    """Return the humanoids of a scene with their clips; the skeleton is that of the first clip, or humanoid.

    Raises FileError, with the line, for what cannot be read, and where there is no humanoid.
    """
    found = humanoids_of(scene, "skeleton to play")
    played = list(clips(scene, found))
    warnings = scene.warnings()
    if not played:
        warnings += ("has no motion: no TimeSensor drives a joint, and there is no HAnimMotion",)
    apart = named_apart(played)
    return ClipFile(played[0].skeleton if played else found[0].skeleton, apart, warnings=warnings + of_whom(apart))


def read(data: bytes, path: Path | None = None) -> ClipFile:
    """Read X3D in XML; see clips_of. path: for messages."""
    return clips_of(x3d_xml.read(data, path))


def read_classic(data: bytes, path: Path | None = None) -> ClipFile:
    """Read X3D in the classic encoding, or VRML 97; see clips_of. path: for messages."""
    return clips_of(x3d_classic.read(data, path))


FORMAT: Final = Format("X3D", "X3D", (".x3d",), Holds(own_axes=False),
                       read=lambda source: read(source.data, source.path), write=write, in_metres=True,
                       read_characters=lambda source: characters_of(x3d_xml.read(source.data, source.path)))
CLASSIC: Final = Format("X3D_CLASSIC", "X3D classic", (".x3dv",), Holds(own_axes=False),
                        read=lambda source: read_classic(source.data, source.path),
                        write=lambda file, fps: in_classic(write(file, fps)), in_metres=True,
                        read_characters=lambda source: characters_of(x3d_classic.read(source.data, source.path)))
VRML: Final = Format("VRML", "VRML 97", (".wrl",), Holds(own_axes=False), read=CLASSIC.read,
                     read_characters=CLASSIC.read_characters)
WITH_SKIN: Final = (FORMAT, CLASSIC)
"""Those that an X3dFile can be written as."""
