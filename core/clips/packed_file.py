"""Pack a clip file into bytes that another process unpacks: only arrays and names, no code."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import numpy as np

from ..errors import TaktError
from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Skeleton
from ..skeletons.skin_sample import SkinSample
from .clip import Clip
from .clip_file import ClipFile
from .tracks import Tracks

_HEAD: Final = "head"
_TRACKS: Final = ("rotations", "translations", "scales")
_PARTS: Final = {Skeleton: ("parents", "rest_rotations", "rest_translations", "rest_scales"),
                 SkinSample: ("joints", "offsets"), Tracks: ("joints", "starts", "times_s", "values")}
Value = TypeVar("Value")


def pack(file: ClipFile) -> bytes:
    """Return a file's skeletons, clips and warnings as an .npz.

    Clips that share a skeleton or a skin sample still share it after unpacking. Contacts and the names of further files
    are left out: a file that was just read has none.
    """
    skeletons = _distinct([file.skeleton, *(clip.skeleton for clip in file.clips)])
    skins = _distinct([clip.skin for clip in file.clips if clip.skin is not None])
    arrays: dict[str, Any] = {}
    for kind, values in (("skeleton", skeletons), ("skin", skins)):
        for number, value in enumerate(values.values()):
            _put(arrays, f"{kind}{number}", value)
    for number, clip in enumerate(file.clips):
        for channel in _TRACKS:
            _put(arrays, f"clip{number}.{channel}", getattr(clip, channel))
    order, skin_order = list(skeletons), list(skins)
    head = {"warnings": file.warnings, "skeleton": order.index(id(file.skeleton)),
            "skeletons": [{"names": one.names, "name": one.name, "meant": dict(one.meant)}
                          for one in skeletons.values()],
            "skins": len(skins),
            "clips": [{"name": clip.name, "duration_s": clip.duration_s, "is_looping": clip.is_looping,
                       "skeleton": order.index(id(clip.skeleton)),
                       "skin": None if clip.skin is None else skin_order.index(id(clip.skin))} for clip in file.clips]}
    arrays[_HEAD] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    written = io.BytesIO()
    np.savez(written, **arrays)
    return written.getvalue()


def unpack(data: bytes) -> ClipFile:
    """Return the packed file; raise TaktError if the bytes are something else or incomplete."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            head = json.loads(arrays[_HEAD].tobytes())
            skeletons = [Skeleton(tuple(said["names"]), **_arrays_of(arrays, f"skeleton{number}", Skeleton),
                                  name=said["name"], meant=said["meant"])
                         for number, said in enumerate(head["skeletons"])]
            skins = [SkinSample(**_arrays_of(arrays, f"skin{number}", SkinSample)) for number in range(head["skins"])]
            clips = []
            for number, said in enumerate(head["clips"]):
                rotations, translations, scales = (
                    Tracks(**_arrays_of(arrays, f"clip{number}.{channel}", Tracks)) for channel in _TRACKS)
                clips.append(Clip(said["name"], skeletons[said["skeleton"]], said["duration_s"], rotations,
                                  translations, scales, is_looping=said["is_looping"],
                                  skin=None if said["skin"] is None else skins[said["skin"]]))
            return ClipFile(skeletons[head["skeleton"]], tuple(clips), warnings=tuple(head["warnings"]))
    except (OSError, EOFError, KeyError, IndexError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise TaktError(f"what another process has read of a file is not whole: {error}") from error


def _distinct(values: list[Value]) -> dict[int, Value]:
    """Return different objects by their identity, each once, in their order."""
    return {id(value): value for value in values}


def _put(arrays: dict[str, Any], name: str, value: Any) -> None:
    for part in _PARTS[type(value)]:
        arrays[f"{name}.{part}"] = getattr(value, part)


def _arrays_of(arrays: Mapping[str, FloatArray], name: str, kind: type) -> dict[str, Any]:
    return {part: arrays[f"{name}.{part}"] for part in _PARTS[kind]}
