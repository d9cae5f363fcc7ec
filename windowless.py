"""Whether a Blender without a window can draw here: for the GPU tests and the demo."""

import os
import subprocess
import sys

import checkout  # noqa: F401

_TIMEOUT_S = 120.0


def missing_graphics() -> str:
    """Return why nothing can be drawn here, or "" where it can.

    Another process tries: without graphics libraries Blender does not raise but ends.
    """
    try:
        attempt = subprocess.run([sys.executable, __file__], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 errors="replace", timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"Blender's graphics did not start within {_TIMEOUT_S:.0f} s"
    if attempt.returncode == 0:
        return ""
    last = (attempt.stderr.strip().splitlines() or ["no message"])[-1]
    return (f"Blender's graphics do not start (exit code {attempt.returncode}: {last}); "
            "on Debian and Ubuntu: apt-get install libegl1 libgl1-mesa-dri")


def _attempt() -> int:
    from takt.bridge.versions import start_gpu

    reason = start_gpu()
    print(reason, file=sys.stderr, flush=True)
    return 1 if reason else 0


if __name__ == "__main__":
    os._exit(_attempt())  # 4.5 may crash while it winds down
