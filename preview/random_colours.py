"""The random colour of an object in Solid mode: a hue computed from the object's name, the same as Blender's.

Sources: Blender's Workbench, which hashes the data-block's name; A. Appleby, MurmurHash2
(2008), and B. Jenkins, lookup3 (2006), the hashes that it uses, both in the public domain.
"""

import colorsys
from typing import Final

import bpy

_SATURATION: Final = 0.5
_VALUE: Final = 0.8
_LARGEST: Final = 0xFFFFFFFF
_FACTOR: Final = 0x5BD1E995
_START: Final = 0xDEADBEEF + 21
_TURNS: Final = (14, 11, 25, 16, 4, 14, 24)


def random_colour(ob: bpy.types.Object) -> tuple[float, float, float, float]:
    """Return the random colour of an object, linear RGBA."""
    hashed = _murmur(f"OB{ob.name}")
    if ob.library is not None:
        hashed = (hashed * 13 & _LARGEST) ^ _murmur(ob.library.filepath)
    return *colorsys.hsv_to_rgb(_jenkins(hashed) / _LARGEST, _SATURATION, _VALUE), 1.0


def _murmur(name: str) -> int:
    """Return MurmurHash2 of a name as a C string, including its zero."""
    data = name.encode() + b"\0"
    found = len(data)
    for begin in range(0, len(data), 4):
        part = data[begin:begin + 4]
        word = int.from_bytes(part, "little")
        if len(part) < 4:
            found = (found ^ word) * _FACTOR & _LARGEST
            break
        word = word * _FACTOR & _LARGEST
        found = (found * _FACTOR & _LARGEST) ^ ((word ^ word >> 24) * _FACTOR & _LARGEST)
    found = (found ^ found >> 13) * _FACTOR & _LARGEST
    return found ^ found >> 15


def _jenkins(word: int) -> int:
    """Return the last step of lookup3 for one word."""
    changed, following, last = _START, _START + word & _LARGEST, _START
    for turn in _TURNS:
        changed = (changed ^ last) - (last << turn | last >> 32 - turn) & _LARGEST
        changed, following, last = following, last, changed
    return last
