"""Music of scores: sound files decoded by Blender, drawn as waveforms, played by the scene's sequencer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import aud
import bpy
import numpy as np

from ...core.errors import FileError
from ...core.library.store import Stamp, stamp
from ...core.maths.arrays import Float32Array
from ...core.music.onsets import RATE_HZ
from ...core.music.waveform import Waveform
from ..background import BackgroundWork
from ..guard import guarded

_MOST_S: Final = 3600.0
"""Longer sounds are refused: half a megabyte of FLAC may hold hours of silence."""
_PIECE_S: Final = 60.0
"""Length that is decoded at a time: Blender takes ten times the memory of what it decodes at once."""
_MOST_BYTES: Final = 1 << 28
"""Greatest size of all cached waveforms except the last one: six hours."""
_LOOK_AGAIN_S = 0.1
_CHANNELS = range(1, 129)
_STRIP = "Takt Music"


class _Decoding(NamedTuple):
    work: BackgroundWork[Waveform]
    then: Callable[[], None]


_waveforms: OrderedDict[tuple[Path, Stamp], Waveform | FileError] = OrderedDict()
"""Waveforms by file, or the error if a file cannot be decoded."""
_works: dict[tuple[Path, Stamp], _Decoding] = {}


def read_samples(path: Path) -> Float32Array:
    """Decode a sound file: return its samples, mixed to mono, (N,), at RATE_HZ.

    Raises FileError if that fails, or it lasts longer than an hour.
    """
    try:
        sound = aud.Sound.file(str(path))
        rate_hz, _ = sound.specs  # raises if the file cannot be read; in 4.5 data() would crash
        too_long = sound.length > _MOST_S * rate_hz  # by its header, which may be wrong
        pieces = [np.zeros(0, dtype=np.float32)]
        while not too_long and (start_s := (len(pieces) - 1) * _PIECE_S) <= _MOST_S:
            piece = sound.limit(start_s, start_s + _PIECE_S).rechannel(1).resample(RATE_HZ, 0).data()[:, 0]
            if not len(piece):
                return np.concatenate(pieces)
            pieces.append(piece)
    except aud.error as error:  # type: ignore[misc]  # the stubs do not say that it is an exception
        raise FileError.at("cannot be read as sound; save it as WAV, FLAC, Ogg Vorbis or MP3", path) from error
    raise FileError.at(f"lasts longer than {_MOST_S / 60.0:.0f} minutes; cut it", path)


def waveform(path: Path, then: Callable[[], None]) -> Waveform | None:
    """Return the waveform of a sound file, or None while it is being decoded, or if it cannot be.

    then: called in the main thread when it is ready.
    """
    try:
        version = path, stamp(path)
    except OSError:
        return None
    if version in _waveforms:
        _waveforms.move_to_end(version)
        known = _waveforms[version]
        return known if isinstance(known, Waveform) else None
    if version not in _works:
        if not _works:
            bpy.app.timers.register(collect, first_interval=_LOOK_AGAIN_S, persistent=True)
        _works[version] = _Decoding(BackgroundWork(lambda _: Waveform.of(read_samples(path), RATE_HZ)), then)
    return None


def trouble_with(path: Path) -> str:
    """Return why there is no waveform of a sound file, or "" if there is one or it is not known yet."""
    try:
        known = _waveforms.get((path, stamp(path)))
    except OSError:
        return ""
    return known.problems[0].message if isinstance(known, FileError) else ""


def play_along(scene: bpy.types.Scene, path: Path, frame: float) -> None:
    """Let the scene play a sound file from a frame on, in sync.

    Strips of sound start at whole frames. The strip of an earlier call is replaced; others stay.
    """
    stop(scene)
    editor = scene.sequence_editor or scene.sequence_editor_create()
    assert editor is not None
    taken = {strip.channel for strip in editor.strips}
    channel = next((number for number in _CHANNELS if number not in taken), _CHANNELS[-1])
    strip = editor.strips.new_sound(_STRIP, str(path), channel, round(frame))
    strip["takt"] = True
    scene.sync_mode = "AUDIO_SYNC"


def stop(scene: bpy.types.Scene) -> None:
    """Remove the strip that play_along added."""
    editor = scene.sequence_editor
    if editor is not None:
        for strip in [strip for strip in editor.strips if strip.get("takt")]:
            editor.strips.remove(strip)


def unregister() -> None:
    """Clear the cache, and wait for running decoders."""
    for decoding in _works.values():
        decoding.work.end()
    _works.clear()
    _waveforms.clear()


@guarded(None)
def collect() -> float | None:
    """Store decoded waveforms, and call the callbacks; return the seconds until the next call, or None when done."""
    for version, decoding in list(_works.items()):
        if not decoding.work.has_ended():
            continue
        del _works[version]
        try:
            _waveforms[version] = decoding.work.result()
        except FileError as error:
            _waveforms[version] = error
        decoding.then()
    while len(_waveforms) > 1 and sum(_size(each) for each in _waveforms.values()) > _MOST_BYTES:
        _waveforms.popitem(last=False)
    return _LOOK_AGAIN_S if _works else None


def _size(known: Waveform | FileError) -> int:
    return known.size if isinstance(known, Waveform) else 0
