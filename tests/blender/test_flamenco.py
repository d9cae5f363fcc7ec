"""The job type for Flamenco: what it calls is understood by the command, and writes a file for each seed."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.operators import command
from takt.samples.clip_files import LIBRARY
from takt.tests.beside import missing

SCRIPT = LIBRARY.parent / "flamenco" / "takt_variations.js"
RUN = """
const fs = require("fs");
const author = { Task: (name, type) => ({ name, type, commands: [], addCommand(each) { this.commands.push(each); } }),
                 Command: (name, parameters) => ({ name, parameters }) };
const job = { settings: JSON.parse(process.argv[1]), tasks: [], addTask(each) { this.tasks.push(each); } };
const source = fs.readFileSync(process.argv[2], "utf8");
new Function("author", "job", source + "; compileJob(job); return JOB_TYPE;")(author, job);
console.log(JSON.stringify(job.tasks));
"""


def tasks(settings: dict[str, Any]) -> Any:
    """Return the tasks that Flamenco would make of settings."""
    if shutil.which("node") is None:
        missing("node is not installed")
    done = subprocess.run(["node", "-e", RUN, json.dumps(settings), str(SCRIPT)], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def test_each_seed_is_a_task_that_writes_a_file(tmp_path: Path) -> None:
    ops: Any = bpy.ops
    assert ops.takt.add_sample() == {"FINISHED"}
    rig = tmp_path / "hero.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(rig), copy=True)
    made = tasks({"verb": "play", "rig": str(rig), "score": str(LIBRARY / "variation.pha"), "folder": str(tmp_path),
                  "ending": ".blend", "seeds": "2, 5-6"})
    assert [each["name"] for each in made] == ["takt-play-2", "takt-play-5", "takt-play-6"]
    for task in made:
        [call] = task["commands"]
        assert (call["name"], call["parameters"]["exe"]) == ("exec", "{blender}")
        head, arguments = call["parameters"]["args"][:3], call["parameters"]["args"][3:]
        assert head == ["--background", "--command", "takt"] and command.run(arguments) == 0
    assert sorted(each.name for each in tmp_path.glob("seed*")) == [
        "seed_0002.blend", "seed_0005.blend", "seed_0006.blend"]


def test_values_roles_and_frames_are_handed_on() -> None:
    [task] = tasks({"verb": "film", "rig": "a.blend", "folder": "out", "ending": ".mp4", "seeds": "1",
                    "values": "turns=3, fast=yes", "cast": "seat=Chair", "frames": "1-48"})
    assert task["commands"][0]["parameters"]["args"][3:] == [
        "film", "a.blend", "--out", "out/seed_0001.mp4", "--seed", "1", "--set", "turns=3", "--set", "fast=yes",
        "--cast", "seat=Chair", "--frames", "1-48"]


def test_seeds_that_are_none_are_refused() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        tasks({"verb": "play", "rig": "a", "folder": "b", "ending": ".blend", "seeds": "9-2"})
