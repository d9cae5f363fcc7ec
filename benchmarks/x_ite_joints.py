"""Where X_ITE, a player of X3D, has the joints of the sample's dance: bench x_ite_joints.

The dance is baked and written both ways, as interpolators and as HAnimMotion, and opened in Chromium without a window.
Prints for each way the greatest distance of a joint from where Takt has it, at 20 times; exits with 1 where that is
more than 0.0001 m. See x_ite_player.py for what it needs.
"""

import sys
import tempfile
from pathlib import Path

from takt.benchmarks.timing import say
from takt.benchmarks.x_ite_player import TIMES, farthest, missing, played
from takt.cli import main as takt
from takt.core.library.clip_files import read_clip_file
from takt.samples.clip_files import LIBRARY

JOINTS_M = 1e-4


def main() -> int:
    """Compare."""
    if missing():
        say(missing())
        return 2
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for way, options in (("interpolators", ()), ("HAnimMotion", ("--hanim-motion",))):
            path = Path(folder) / f"{way}.x3d"
            takt(["bake", str(LIBRARY / "dance.pha"), str(path), *options])
            found = played(path.read_bytes())
            if "error" in found:
                say(f"{way}: {found['error']}")
                return 1
            clip = read_clip_file(path).clips[0]
            worst = farthest(clip, found["frames"])
            failed |= worst > JOINTS_M
            say(f"X_ITE {found['version']}, {way:13}: {len(clip.skeleton)} joints, {clip.duration_s:.0f} s, {TIMES} "
                f"times: {worst:.1e} m apart (≤ {JOINTS_M:g})")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
