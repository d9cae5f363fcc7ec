"""Music of scores: sound files decoded by Blender, drawn as waveforms, played by the scene's sequencer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import aud
import bpy
import numpy as np

from ..core.errors import FileError
from ..core.library.store import Stamp, stamp
from ..core.maths.arrays import FloatArray
from ..core.music.onsets import RATE_HZ
from ..core.music.waveform import Waveform
from .background import BackgroundWork

_MOST_WAVEFORMS = 8
_LOOK_AGAIN_S = 0.1
_CHANNELS = range(1, 129)
_STRIP = "Takt Music"


class _Decoding(NamedTuple):
    work: BackgroundWork[Waveform]
    then: Callable[[], None]


_waveforms: OrderedDict[tuple[Path, Stamp], Waveform | None] = OrderedDict()
"""By file; None where it cannot be decoded."""
_works: dict[tuple[Path, Stamp], _Decoding] = {}


def read_samples(path: Path) -> FloatArray:
    """Decode a sound file: its samples, all channels as one, (N,), at RATE_HZ; raise FileError where that fails."""
    try:
        sound = aud.Sound.file(str(path))
        _ = sound.specs  # raises where the file cannot be read; 4.5 would end the whole process in data()
        return np.asarray(sound.rechannel(1).resample(RATE_HZ, 0).data()[:, 0], dtype=np.float64)
    except aud.error as error:  # type: ignore[misc]  # the stubs do not say that it is an exception
        raise FileError.at("cannot be read as sound; save it as WAV, FLAC, Ogg Vorbis or MP3", path) from error


def waveform(path: Path, then: Callable[[], None]) -> Waveform | None:
    """Return the waveform of a sound file; None while it is being decoded beside Blender, and where it cannot be.

    then: is called in the main thread when it is there.
    """
    try:
        version = path, stamp(path)
    except OSError:
        return None
    if version in _waveforms:
        _waveforms.move_to_end(version)
        return _waveforms[version]
    if version not in _works:
        if not _works:
            bpy.app.timers.register(collect, first_interval=_LOOK_AGAIN_S, persistent=True)
        _works[version] = _Decoding(BackgroundWork(lambda _: Waveform.of(read_samples(path), RATE_HZ)), then)
    return None


def play_along(scene: bpy.types.Scene, path: Path, frame: float) -> None:
    """Let the scene play a sound file from about a frame on, and keep to its time.

    Strips of sound lie on whole frames. The strip of an earlier call is replaced; others stay.
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
    """Take away what play_along added."""
    editor = scene.sequence_editor
    if editor is not None:
        for strip in [strip for strip in editor.strips if strip.get("takt")]:
            editor.strips.remove(strip)


def unregister() -> None:
    """Keep nothing any longer, and wait for what is being decoded."""
    for decoding in _works.values():
        decoding.work.end()
    _works.clear()
    _waveforms.clear()


def collect() -> float | None:
    """Keep what is decoded, and tell of it; return in how many seconds to look again, None when all is done."""
    for version, decoding in list(_works.items()):
        if not decoding.work.has_ended():
            continue
        del _works[version]
        try:
            _waveforms[version] = decoding.work.result()
        except FileError:
            _waveforms[version] = None
        decoding.then()
    while len(_waveforms) > _MOST_WAVEFORMS:
        _waveforms.popitem(last=False)
    return _LOOK_AGAIN_S if _works else None
