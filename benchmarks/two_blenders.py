"""Two Blenders that write the same files at the same time: what they wrote is whole, and nothing is lost unsaid.

python3 dev.py bench two_blenders [--seconds S] [--blenders N] lets N (2) Blenders play one score of one library, and
for S (5) seconds each of them saves clips under names that all of them use, without Overwrite; adds lines to the score,
saves it, and where it was changed outside reloads it and adds its line again; gives tags to clips; and saves the
skeleton's map. Meanwhile all files are read again and again. Prints what was written, how often each was refused, and
each failure; exits with 1 where there is any. A file that cannot be read, a clip that is another's, a line or a tag
that is gone count as failures.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import checkout

import takt
from takt.benchmarks.steps_file import add_rig, make_library
from takt.benchmarks.timing import say
from takt.bridge import properties
from takt.core.classes import tags_file
from takt.core.errors import TaktError
from takt.core.library.clip_files import read_clip_file
from takt.core.library.files import read_file
from takt.core.pha.document import parse
from takt.core.skeletons.maps import SUFFIX, read_map

_SCORE = "dance.pha"
_MARK = "takt-two-blenders "
_SAID_BY = "{writer} says {number}"
_START_S = 60.0
_NAMES = 1_000
_context: Any = bpy.context
_ops: Any = bpy.ops


def main(arguments: list[str]) -> int:
    """Start the writers, read beside them, and compare; return 1 after a failure."""
    parser = argparse.ArgumentParser(prog="bench two_blenders")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--blenders", type=int, default=2)
    parser.add_argument("--writer", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.writer is not None:
        takt.register()
        sys.stdout.write(f"{_MARK}{json.dumps(_write(options.folder, options.writer, options.seconds))}\n")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "library"
        make_library(folder)
        command = [sys.executable, "-m", "benchmarks.two_blenders", "--folder", str(folder), "--seconds",
                   str(options.seconds), "--writer"]
        running = [subprocess.Popen([*command, str(writer)], stdout=subprocess.PIPE, text=True)
                   for writer in range(options.blenders)]
        failures = list(_read_beside(folder, running, _START_S + options.seconds))
        told = [_told(each.communicate()[0]) for each in running]
        failures += _lost(folder, told)
    for writer, each in enumerate(told):
        say(f"Blender {writer}: " + ", ".join(f"{what} {count}" for what, count in each["counts"].items()))
    for failure in failures:
        say(failure)
    say(f"Blender {bpy.app.version_string}: {len(told)} at once, {sum(len(each['clips']) for each in told)} clips, "
        f"{sum(len(each['lines']) for each in told)} lines of the score, {sum(len(each['tags']) for each in told)} "
        f"tags; {len(failures)} failures")
    return int(bool(failures))


def _told(output: str) -> dict[str, Any]:
    said = [line.removeprefix(_MARK) for line in output.splitlines() if line.startswith(_MARK)]
    found: dict[str, Any] = json.loads(said[0]) if said else {"counts": {"ended early": 1}, "clips": {}, "lines": [],
                                                             "tags": []}
    return found


def _write(folder: Path, writer: int, seconds: float) -> dict[str, Any]:
    """Write all that there is, again and again; return what was written."""
    _ops.wm.read_factory_settings(use_empty=True)
    rig = add_rig("Rig")
    _ops.takt.import_pha(filepath=str(folder / _SCORE))
    rig.pose.bones[0].location.x = float(writer)  # clips of different writers are different
    properties.character(rig).library = str(folder)
    _ops.takt.find_map()
    counts, clips, lines, tags = Counter[str](), dict[str, str](), list[str](), list[str]()
    (folder / f"ready {writer}").touch()
    until_s = time.monotonic() + _START_S
    while len(list(folder.glob("ready *"))) < 2 and time.monotonic() < until_s:
        time.sleep(0.01)
    until_s = time.monotonic() + seconds
    for number in range(_NAMES):
        if time.monotonic() > until_s:
            break
        name = f"clip{number}"
        if _is_done(_ops.takt.save_clip, source="POSE", name=name, folder=str(folder)):
            clips[name] = _digest(folder / f"{name}.skeleton.xml")
        else:
            counts["clips refused"] += 1
        lines.append(_SAID_BY.format(writer=writer, number=number))
        counts["scores refused"] += _save_line(properties.character(rig).text, lines[-1])
        tags.append(f"feet.{writer}.{number}")
        tags_file.with_tags(folder, tags[-1], (tags_file.FAVOURITE,))
        _ops.takt.save_map()
        counts["maps"] += 1
    return {"counts": {"clips": len(clips), "lines": len(lines), "tags": len(tags), **counts}, "clips": clips,
            "lines": lines, "tags": tags}


def _is_done(operator: Any, **values: Any) -> bool:
    try:
        return bool(operator(**values) == {"FINISHED"})
    except RuntimeError as error:
        if "is there already" in str(error) or "was changed outside" in str(error):
            return False
        raise


def _save_line(text: bpy.types.Text | None, line: str) -> int:
    """Add a line to the score and save it; return how often others had saved it meanwhile."""
    assert text is not None  # it was imported
    refused = 0
    while True:
        text.from_string(text.as_string().replace("</pha>", f"<!-- {line} -->\n</pha>"))
        if _is_done(_ops.takt.save_score):
            return refused
        refused += 1
        _ops.takt.reload_score()


def _read_beside(folder: Path, running: list["subprocess.Popen[str]"], most_s: float) -> Iterator[str]:
    """Read all files while they are written; yield what is cut."""
    until_s = time.monotonic() + most_s
    while any(each.poll() is None for each in running) and time.monotonic() < until_s:
        for path in (path for path in folder.glob("*") if path.is_file() and not path.name.startswith(".")):
            try:
                _read(path)
            except TaktError as error:
                yield f"while they were written: {error}"
        time.sleep(0.01)
    for each in running:
        if each.poll() is None:
            each.kill()
            yield "a Blender did not end"


def _read(path: Path) -> object:
    if path.suffix == ".pha":
        return parse(read_file(path), path)
    if path.suffix == SUFFIX:
        return read_map(read_file(path), path)
    if path.name == tags_file.NAME:
        return tags_file.parse(read_file(path), path)
    return read_clip_file(path) if path.name.endswith(".skeleton.xml") else None


def _lost(folder: Path, told: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what was saved and is not there any more, or is another's."""
    score, tags = (folder / _SCORE).read_text(encoding="utf-8"), tags_file.read_lines(folder)[0]
    for writer, each in enumerate(told):
        if not each["lines"]:
            yield f"Blender {writer} has written nothing"
        yield from (f"the clip {name} of Blender {writer} is another's" for name, digest in each["clips"].items()
                    if _digest(folder / f"{name}.skeleton.xml") != digest)
        yield from (f"the line '{line}' is lost" for line in each["lines"] if f"<!-- {line} -->" not in score)
        yield from (f"the tag of {name} is lost" for name in each["tags"] if name not in tags)
    left = sorted(path.name for path in folder.glob(".takt-*"))
    yield from (f"{name} was left" for name in left)


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


if __name__ == "__main__":
    checkout.run(lambda: main(sys.argv[1:]))
