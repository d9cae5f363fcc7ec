"""Whether Blender can start its graphics without a window: some failures would end the process."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

import bpy

_LIBRARY: Final = "libEGL.so.1"
_VULKAN: Final = "VULKAN"


def missing() -> str:
    """Return which library of the system is missing and how to get it, or "".

    On Linux, a Blender without a window draws by OpenGL with EGL. If there is none, it aborts as its graphics start.
    """
    if sys.platform != "linux" or not bpy.app.background or _draws_by_vulkan():
        return ""
    try:
        ctypes.CDLL(_LIBRARY)
    except OSError as error:
        return (f"{error}. Without a desktop, Blender needs the libraries of OpenGL; on Debian and Ubuntu: apt-get "
                "install libegl1 libgl1-mesa-dri")
    return ""


def _draws_by_vulkan() -> bool:
    """Return whether Vulkan was chosen in the preferences, or by --gpu-backend, which takes precedence."""
    said = dict(zip(sys.argv, sys.argv[1:], strict=False)).get("--gpu-backend")
    preferences = bpy.context.preferences
    chosen = "" if preferences is None else str(getattr(preferences.system, "gpu_backend", ""))
    return (chosen if said is None else said.upper()) == _VULKAN
