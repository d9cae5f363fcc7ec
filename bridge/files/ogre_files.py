"""An OGRE character gathered from the files beside its mesh: skeleton, material scripts, textures."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ...core.clips.clip import Clip
from ...core.errors import FileError
from ...core.formats import FORMATS, ogre_material, ogre_mesh_binary, ogre_mesh_xml
from ...core.formats.ogre import OgreSkeleton
from ...core.formats.ogre_links import linked_clips
from ...core.formats.ogre_material import OgreMaterial
from ...core.formats.ogre_mesh import Whole
from ...core.library.clip_files import read_clip_file
from ...core.library.files import linked_file, read_file
from ...core.skinning.influences import Influences

_MESH_READERS = {".mesh": ogre_mesh_binary.read, ".mesh.xml": ogre_mesh_xml.read}
ENDINGS = (*_MESH_READERS, *FORMATS["OGRE"].endings, *FORMATS["OGRE_XML"].endings)
_MOST_SCRIPTS = 200


@dataclass(frozen=True, eq=False)
class OgreCharacter:
    """An OGRE character from its files.

    clips: the skeleton's own and those of its linked skeletons.
    mesh: None for a file with only a skeleton; skeleton: None if the mesh has none, or it was not found.
    influences: of the mesh's vertices by the skeleton's joints, None if one of the two is missing.
    materials: by name, as far as scripts have them; textures: the image files that were found, by material.
    warnings: what is missing.
    """

    name: str
    mesh: Whole | None
    skeleton: OgreSkeleton | None
    clips: tuple[Clip, ...]
    influences: Influences | None
    materials: dict[str, OgreMaterial]
    textures: dict[str, Path]
    warnings: tuple[str, ...]


def read_character(path: Path) -> OgreCharacter:
    """Read an OGRE file with its related files; raise TaktError if an existing one cannot be read."""
    path = path.resolve()
    name = path.name
    ending = next((e for e in sorted(ENDINGS, key=len, reverse=True) if name.lower().endswith(e)), None)
    if ending is None:
        raise FileError.at(f"this is no OGRE file that can be imported; {', '.join(ENDINGS)} can", path)
    stem = name[:-len(ending)]
    if ending not in _MESH_READERS:
        alone = OgreSkeleton.of_file(read_clip_file(path))
        clips, said = _clips(path.parent, name, alone)
        return OgreCharacter(stem, None, alone, clips, None, {}, {}, said)
    mesh = _MESH_READERS[ending](read_file(path), path)
    whole, warnings = mesh.whole(), list[str]()
    skeleton = _skeleton(path.parent, mesh.skeleton)
    clips, said = _clips(path.parent, mesh.skeleton, skeleton)
    warnings += said
    if mesh.skeleton and skeleton is None:
        warnings.append(f"The skeleton '{mesh.skeleton}' is not beside the mesh: imported without bones")
    influences = None if skeleton is None else whole.influences(skeleton.skeleton, skeleton.handles)
    if skeleton is not None and (skeleton.skeleton.rest_scales != 1.0).any():
        warnings.append("Bones that are scaled at rest lose that scale, which Blender's bones cannot have")
    materials = _materials(path.parent, whole.materials)
    unknown = [name for name in whole.materials if name not in materials]
    if unknown:
        warnings.append(f"No material script beside the mesh has {', '.join(unknown[:8])}")
    textures, missing = _textures(path.parent, materials)
    if missing:
        warnings.append(f"Not found beside the mesh: {', '.join(missing[:8])}")
    return OgreCharacter(stem, whole, skeleton, clips, influences, materials, textures, tuple(warnings))


def _beside(folder: Path, kind: str) -> tuple[Path, ...]:
    """Return the folders with files of a kind for a folder's models, as in OGRE's own media."""
    return folder, folder.parent / "materials" / kind


def _skeleton(folder: Path, link: str) -> OgreSkeleton | None:
    """Read the skeleton that a mesh or a skeleton names; only the name is used, never a path to another folder."""
    file = linked_file(folder, link, (folder,))
    return None if file is None else OgreSkeleton.of_file(read_clip_file(file))


def _clips(folder: Path, own: str, skeleton: OgreSkeleton | None) -> tuple[tuple[Clip, ...], tuple[str, ...]]:
    """Return the clips of a skeleton, its own and those of its linked skeletons, and warnings."""
    if skeleton is None:
        return (), ()
    linked, warnings = linked_clips(skeleton, own, lambda name: _skeleton(folder, name))
    return (*skeleton.played, *linked), tuple(warning[0].upper() + warning[1:] for warning in warnings)


def _materials(folder: Path, names: tuple[str, ...]) -> dict[str, OgreMaterial]:
    known: dict[str, OgreMaterial] = {}
    for script in _scripts(folder):
        try:
            text = read_file(script.resolve()).decode("utf-8", "replace")
        except FileError:
            continue  # the mesh is useful without its material
        known = ogre_material.read(text) | known
    found = {name: ogre_material.inherited(known, name) for name in names}
    return {name: material for name, material in found.items() if material is not None}


def _scripts(folder: Path) -> Iterator[Path]:
    for searched in _beside(folder, "scripts"):
        if searched.is_dir():
            yield from sorted(searched.glob("*.material"))[:_MOST_SCRIPTS]


def _textures(folder: Path, materials: dict[str, OgreMaterial]) -> tuple[dict[str, Path], list[str]]:
    """Return the image of each material that has one, and the names of missing ones."""
    found: dict[str, Path] = {}
    missing: list[str] = []
    for name, material in materials.items():
        image = _file_name(material.texture or "")
        if image:
            there = next((path for textures in _beside(folder, "textures") if (path := textures / image).is_file()),
                         None)
            if there is None:
                missing.append(image)
            else:
                found[name] = there
    return found, list(dict.fromkeys(missing))


def _file_name(text: str) -> str:
    return PurePosixPath(text.replace("\\", "/")).name
