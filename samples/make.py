"""Makes the sample library's clips again: `python3 samples/make.py [FOLDER]`.

Needs numpy alone. The scores beside the clips are written by hand.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import checkout  # noqa: F401

from takt.samples.clip_files import LIBRARY, write_files

if __name__ == "__main__":
    write_files(Path(sys.argv[1]) if len(sys.argv) > 1 else LIBRARY)
