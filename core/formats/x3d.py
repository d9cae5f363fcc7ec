"""X3D and its humanoids by H-Anim, in XML (`.x3d`) and in the classic encoding, which is that of VRML 97 too.

See x3d_body.py for the skeleton, and x3d_motion.py for clips.
Prototypes, scripts and other files are left out, with a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from ..clips.clip_file import ClipFile
from . import x3d_classic, x3d_xml
from .format import Format, Holds, Write
from .gzipped import MAGIC, unpacked
from .node_clips import named_apart, of_whom
from .placed import distortions
from .x3d_character import characters_of
from .x3d_classic_write import in_classic
from .x3d_motion import clips, humanoids_of
from .x3d_scene import Scene
from .x3d_write import X3dFile as X3dFile
from .x3d_write import write as write


def clips_of(scene: Scene) -> ClipFile:
    """Return the humanoids of a scene with their clips; the skeleton is that of the first clip, or else humanoid.

    Raises FileError, with the line, for content that cannot be read, and if there is no humanoid.
    """
    found = humanoids_of(scene, "skeleton to play")
    played = list(clips(scene, found))
    for body in found:
        for each in distortions(body.name, body.placed):
            scene.note(each, body.humanoid.line)
    warnings = scene.warnings()
    if not played and not scene.has_unplayed:
        warnings += ("has no motion: no TimeSensor drives a joint, and there is no HAnimMotion",)
    apart = named_apart(played)
    return ClipFile(played[0].skeleton if played else found[0].skeleton, apart, warnings=warnings + of_whom(apart),
                    places={body.skeleton: body.placed for body in found})


def read(data: bytes, path: Path | None = None) -> ClipFile:
    """Read X3D in XML, also compressed by gzip; see clips_of. path: for messages."""
    return clips_of(_xml(data, path))


def read_classic(data: bytes, path: Path | None = None) -> ClipFile:
    """Read X3D in the classic encoding, or VRML 97, also compressed by gzip; see clips_of. path: for messages."""
    return clips_of(_classic(data, path))


def _xml(data: bytes, path: Path | None) -> Scene:
    return x3d_xml.read(unpacked(data, path), path)


def _classic(data: bytes, path: Path | None) -> Scene:
    return x3d_classic.read(unpacked(data, path), path)


def _either(data: bytes, path: Path | None) -> Scene:
    """Read a scene whose file name does not tell its encoding."""
    plain = unpacked(data, path)
    return x3d_classic.read(plain, path) if plain.startswith(b"#") else x3d_xml.read(plain, path)


def _format(identifier: str, label: str, endings: tuple[str, ...], scene: Callable[[bytes, Path | None], Scene],
            begins: tuple[str, ...], write: Write | None = None) -> Format:
    return Format(identifier, label, endings, Holds(own_axes=False), in_metres=write is not None, write=write,
                  read=lambda source: clips_of(scene(source.data, source.path)),
                  read_characters=lambda source: characters_of(scene(source.data, source.path)),
                  begins=(*begins, MAGIC.decode("latin-1")))


FORMAT: Final = _format("X3D", "X3D", (".x3d",), _xml, ("<",), write)
CLASSIC: Final = _format("X3D_CLASSIC", "X3D classic", (".x3dv",), _classic, ("#X3D", "#VRML"),
                         lambda file, fps: in_classic(write(file, fps)))
VRML: Final = _format("VRML", "VRML 97", (".wrl", ".wrz"), _classic, ("#VRML", "#X3D"))
COMPRESSED: Final = _format("X3D_COMPRESSED", "X3D compressed", (".x3dz", ".x3dvz"), _either, ("<", "#X3D", "#VRML"))
WITH_SKIN: Final = (FORMAT, CLASSIC)
"""Those that an X3dFile can be written as."""
