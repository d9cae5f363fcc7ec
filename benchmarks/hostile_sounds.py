"""Damaged sound files, decoded as the extension decodes them, by Blender's own reader, and drawn as waveforms."""

import io
import tempfile
import wave
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import aud
import numpy as np

import takt
from takt.bridge.scores import sound
from takt.core.music.beats import find_beats
from takt.core.music.onsets import RATE_HZ
from takt.core.music.waveform import Waveform
from takt.tests.core import hostile

_RATE_HZ, _SECONDS = 44_100, 2.0
_BIT_RATE, _AT_ONCE = 128_000, 4096
_HEAD = 256
"""Bytes at the beginning of a file in which there are its sizes, rates and counts."""
_NUMBERS = (0, 1, 2, 255, 2**15, 2**16 - 1, 2**24, 2**31 - 1, 2**31, 2**32 - 1)
"""What is written over two or four bytes of the beginning."""
_KINDS = (("flac", aud.CONTAINER_FLAC, aud.CODEC_FLAC, 0), ("ogg", aud.CONTAINER_OGG, aud.CODEC_VORBIS, _BIT_RATE),
          ("mp3", aud.CONTAINER_MP3, aud.CODEC_MP3, _BIT_RATE))


def damaged(count: int) -> Iterator[hostile.Case]:
    """Damage sounds of each kind in turn, so often: cut them, change bits and bytes, and numbers at their beginning."""
    takt.register()
    random = np.random.default_rng((hostile.SEED, 14))
    with tempfile.TemporaryDirectory() as folder:
        whole = list(_made(Path(folder)).items())
        for number in range(count):
            ending, data = whole[number % len(whole)]
            yield partial(heard, _changed(data, number // len(whole) % 4, random), Path(folder) / f"damaged.{ending}")
    takt.unregister()


def heard(data: bytes, path: Path) -> object:
    """Decode a sound, look for its beats, and draw it."""
    path.write_bytes(data)
    samples = sound.read_samples(path)
    Waveform.of(samples, RATE_HZ).columns(np.linspace(-1.0, 20.0, 50))
    return find_beats(samples)


def _changed(data: bytes, way: int, random: np.random.Generator) -> bytes:
    values = np.frombuffer(data, dtype=np.uint8).copy()
    if way == 0:
        return data[:int(random.integers(0, len(data)))]
    if way == 1:
        values[int(random.integers(len(data)))] ^= 1 << int(random.integers(8))
    elif way == 2:
        at = random.integers(0, len(data), 64)
        values[at] = random.integers(0, 256, len(at))
    else:
        width, order = int(random.choice((2, 4))), str(random.choice(("<", ">")))
        value = int(random.choice(_NUMBERS)) % 256**width
        begin = int(random.integers(4, _HEAD - width))
        values[begin:begin + width] = np.frombuffer(np.array(value, f"{order}u{width}").tobytes(), np.uint8)
    return values.tobytes()


def _made(folder: Path) -> dict[str, bytes]:
    """Return a sound of beats as each kind of file by its ending; each of them can be read."""
    times = np.arange(int(_RATE_HZ * _SECONDS)) / _RATE_HZ
    beats = np.sin(2.0 * np.pi * 440.0 * times) * np.exp(-20.0 * (times % 0.5))
    found = {"wav": _as_wav(beats)}
    (folder / "whole.wav").write_bytes(found["wav"])
    for ending, container, codec, bit_rate in _KINDS:
        path = folder / f"whole.{ending}"
        aud.Sound.file(str(folder / "whole.wav")).write(str(path), _RATE_HZ, aud.CHANNELS_STEREO, aud.FORMAT_S16,
                                                        container, codec, bit_rate, _AT_ONCE)
        found[ending] = path.read_bytes()
    for ending, data in found.items():
        heard(data, folder / f"whole.{ending}")
    return found


def _as_wav(samples: np.ndarray) -> bytes:
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(_RATE_HZ)
        file.writeframes(np.repeat((samples * 30_000.0).astype("<i2"), 2).tobytes())
    return written.getvalue()
