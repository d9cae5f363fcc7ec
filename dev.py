#!/usr/bin/env python3
"""Start Takt's tools. Needs Python 3.11 or newer with pip; all it installs stays in .dev/, which git ignores."""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import release as rules
import texts as words

ROOT = Path(__file__).resolve().parent
DEV = ROOT / ".dev"
BUILD = ROOT / "build"

# Blender's line → the Python that its wheel is made for, and the wheel. What stands first is tried first.
BLENDERS = {
    "5.2": ("3.13", "bpy~=5.2.0"),
    "4.5": ("3.11", "bpy~=4.5.0"),
    "5.0": ("3.11", "bpy~=5.0.0"),
}

OGRE_PYTHON = "3.12"
"""The only one that OGRE's wheel is made for."""

# Blender 4.5 may crash or stall while its process winds down, so the process ends as soon as pytest is done.
PYTEST = """
import os, sys, pytest
code = pytest.main(sys.argv[1:])
sys.stdout.flush()
sys.stderr.flush()
os._exit(int(code))
"""

SIDE_BY_SIDE = ("--numprocesses", "auto")
BY_FILE = ("--dist", "loadfile", "--no-loadscope-reorder")
"""A process runs whole files, in the order that tests/conftest.py puts them in: the longest first."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""For NumPy: tests run a process for each processor, and in a bench threads that wait would count as work."""
KEEP_COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}
"""If the variable is set otherwise, each process of the tests compiles all their files again."""


def main() -> int:
    """Run one subcommand; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (demo, test, lint, build, site, texts, release, bench):
        says = (command.__doc__ or "").partition("\n")[0]
        subparser = commands.add_parser(command.__name__, help=says, description=says, allow_abbrev=False)
        subparser.set_defaults(run=command)
        if command in (demo, test, bench):
            subparser.add_argument("--blender", choices=BLENDERS, help="default: the newest LTS with a fitting Python")
        if command is test:
            subparser.add_argument("--quick", action="store_true",
                                   help="the fast tests of core alone, side by side, without Blender")
        if command in (demo, site):
            default = BUILD / command.__name__
            subparser.add_argument("--out", type=Path, default=default, help=f"default: build/{default.name}")
    options, rest = parser.parse_known_args()
    if rest and options.run not in (test, bench, texts):
        parser.error(f"{options.command} does not know {' '.join(rest)}")
    options.rest = rest
    try:
        return int(options.run(options))
    except SetupError as error:
        print(f"dev.py: {error}", file=sys.stderr)
        return 1


def demo(options: argparse.Namespace) -> int:
    """Go the whole way: build the zip, install it into a fresh Blender, bind, import the dance, draw it."""
    python = blender_python(options.blender)
    if code := build_zip(python):
        return code
    out = options.out.resolve()
    say(f"demo into {out}")
    return run([python, ROOT / "samples" / "demo.py", zip_path(), out], fresh_user_folder("demo"))


def test(options: argparse.Namespace) -> int:
    """Run all tests inside Blender's own Python module; further arguments go to pytest."""
    # What fails, crashes or finds no test gives a code other than 0.
    if options.quick:
        return quick(options.rest)
    return run_tests(blender_python(options.blender), options.rest)


def run_tests(python: Path, what: Sequence[object], settings: Mapping[str, str] | None = None) -> int:
    """Run tests side by side in a Python with Blender's module; what: further arguments of pytest."""
    return run([python, "-c", PYTEST, *SIDE_BY_SIDE, *BY_FILE, *what],
               {**fresh_user_folder("test"), **ogre_python(), **usd_python(), **ONE_THREAD, **KEEP_COMPILED,
                **(settings or {})})


def quick(rest: Sequence[str]) -> int:
    """Run the tests of core that are not marked as slow, or files of these, with NumPy and pytest alone."""
    chosen = any(Path(each.partition("::")[0]).exists() for each in rest)
    python = environment("core", sys.executable, dependencies("core"))
    what = rest if chosen else (ROOT / "tests" / "core", *rest)
    return run([python, "-m", "pytest", "-m", "not slow", *SIDE_BY_SIDE, "--dist", "worksteal", "--quiet", *what],
               ONE_THREAD | KEEP_COMPILED)


def lint(_: argparse.Namespace) -> int:
    """Check style and, strictly, types."""
    python = environment("lint", sys.executable, dependencies("lint"))
    # The link lets mypy see the package under its name, whatever the folder is called.
    link = DEV / "types" / "takt"
    link.parent.mkdir(exist_ok=True)
    if not link.exists():
        link.symlink_to(ROOT, target_is_directory=True)
    say("ruff check")
    style = run([python, "-m", "ruff", "check", ROOT])
    say("mypy --strict")
    types = run([python, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml",
                 "--cache-dir", DEV / "mypy", "-p", "takt"], folder=link.parent)
    return style or types


def build(_: argparse.Namespace) -> int:
    """Make the extension's zip with Blender's own tool and validate it."""
    return build_zip(blender_python())


def site(options: argparse.Namespace) -> int:
    """Make the web site out of README and docs/, to be read from disk or put on a server."""
    python = environment("site", sys.executable, dependencies("site"))
    return run([python, ROOT / "docs" / "pages.py", ROOT, options.out.resolve()])


def texts(options: argparse.Namespace) -> int:
    """Gather what Takt says into languages/texts.json; texts LANGUAGE… says what is wrong with these instead."""
    template = ROOT / words.FOLDER / words.TEMPLATE
    if not options.rest:
        shown = BUILD / "shown_texts.json"
        shown.parent.mkdir(exist_ok=True)
        if code := run([blender_python(), ROOT / "docs" / "shown_texts.py", shown], fresh_user_folder("texts")):
            return code
        found = words.gathered(ROOT, map(tuple, json.loads(shown.read_text(encoding="utf-8"))))
        template.parent.mkdir(exist_ok=True)
        template.write_text(words.written(found), encoding="utf-8")
        say(f"{sum(map(len, found.values()))} texts are in {template.relative_to(ROOT)}")
    wrong = 0
    for name in options.rest:
        found = list(words.problems(words.read(template), words.read(template.with_name(f"{name}.json"))))
        print(*found, sep="\n", flush=True)
        say(f"{name}: {len(found) or 'no'} problems")
        wrong += len(found)
    return bool(wrong)


def release(_: argparse.Namespace) -> int:
    """Make the zip and the wheel of a release and test it with all seeds, or say what is wrong with it instead."""
    problems = [*rules.problems_of_text(ROOT), *rules.problems_of_git(ROOT, version())]
    if build_zip(blender_python()):
        problems.append("the zip: Blender's own tool refuses it; the lines above say why")
    else:
        problems += rules.problems_of_zip(zip_path())
    try:
        wheel, said = built_wheel()
        problems += rules.problems_of_command(said, version())
    except SetupError as error:
        problems.append(f"the wheel: {error}")
    if not problems and run_all_seeds():
        problems.append("the tests: with all seeds, some of core fail; the lines above say which")
    if problems:
        print(f"This is no release of {version()} yet:", *problems, sep="\n- ", flush=True)
        return 1
    say(f"{zip_path().relative_to(ROOT)} is for extensions.blender.org, {wheel.relative_to(ROOT)} for PyPI")
    return 0


def run_all_seeds() -> int:
    """Run the slow tests of core with all of their seeds, of which other runs take a part; return the exit code."""
    say("all seeds of the slow tests, which take about an hour on two processors")
    return run_tests(blender_python(), ("-m", "slow", ROOT / "tests" / "core"), {"TAKT_ALL_SEEDS": "1"})


def built_wheel() -> tuple[Path, str]:
    """Build the wheel of the command, install it alone; return it, and what its `takt --version` says."""
    python = environment("wheel", sys.executable, dependencies("wheel"))
    pip = [sys.executable, fresh_pip(), "--python", python]
    folder, source = BUILD / "wheel", copy_tracked(ROOT, BUILD / "source")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        if run([*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, source]):
            raise SetupError("it could not be built; the lines above say why")
    finally:
        if source != ROOT:
            shutil.rmtree(source)
    wheel = next(folder.glob("*.whl"))
    if run([*pip, "install", "--quiet", "--no-deps", "--force-reinstall", wheel]):
        raise SetupError("it could not be installed; the lines above say why")
    return wheel, subprocess.run([python.parent / "takt", "--version"], capture_output=True, text=True, check=False,
                                 cwd=folder).stdout


def bench(options: argparse.Namespace) -> int:
    """Run one of the benchmarks: bench NAME; further arguments go to it."""
    names = sorted(p.stem for p in (ROOT / "benchmarks").glob("*.py") if "__main__" in p.read_text(encoding="utf-8"))
    if not options.rest or options.rest[0] not in names:
        raise SetupError(f"bench wants one of: {', '.join(names) or 'nothing there yet'}")
    name, *arguments = options.rest
    settings = usd_python() if name in ("agreement", "damaged_usd") else {}
    return run([blender_python(options.blender), "-m", f"benchmarks.{name}", *arguments],
               {**fresh_user_folder("bench"), **ONE_THREAD, **settings})


def build_zip(python: Path) -> int:
    """Build and validate the zip with the tool that comes with Blender's module."""
    archive = zip_path()
    archive.parent.mkdir(parents=True, exist_ok=True)
    say(f"build {archive.relative_to(ROOT)}")
    scripts = next(python.parent.parent.glob("[Ll]ib/**/bpy/[0-9]*/scripts"))
    tool = [python, scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"]
    tags = ["--valid-tags", scripts / "modules" / "_bpy_internal" / "extensions" / "tags.py"]
    source = copy_tracked(ROOT, BUILD / "source")
    try:
        return (run([python, source / "docs" / "pages.py", source])
                or run([*tool, "build", "--source-dir", source, "--output-filepath", archive, *tags])
                or run([*tool, "validate", *tags, archive]))
    finally:
        if source != ROOT:
            shutil.rmtree(source)  # else lint would read it as a part of the package


def copy_tracked(root: Path, to: Path) -> Path:
    """Copy a checkout without what git does not track, as logs and notes that lie about in it; return the copy.

    A tree that is no checkout, as it comes from an archive, is taken as it is.
    """
    if not (root / ".git").exists():
        return root
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode:
        raise SetupError(f"git does not list the files of {root}: {listed.stderr.strip()}")
    shutil.rmtree(to, ignore_errors=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).is_file():  # else it is deleted, and git not yet told
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)
    return to


def zip_path() -> Path:
    """Return where the zip is built, named after the manifest."""
    return BUILD / f"{rules.manifest_of(ROOT)['id']}-{version()}.zip"


def version() -> str:
    """Return the version, which the manifest alone has."""
    return str(rules.manifest_of(ROOT)["version"])


class SetupError(Exception):
    """Something that the tools need is not there; the message says what to do."""


def blender_python(line: str | None = None) -> Path:
    """Return the Python of an environment with Blender's module, of one line or the best that fits."""
    lines = [line] if line else list(BLENDERS)
    fitting = next(((candidate, python) for candidate in lines for python in pythons(BLENDERS[candidate][0])), None)
    chosen, python = fitting or (lines[0], fetched_python(BLENDERS[lines[0]][0]))
    return environment(f"blender-{chosen}", python, [BLENDERS[chosen][1], *dependencies("test")])


def ogre_python() -> dict[str, str]:
    """Return the setting that names a Python with OGRE, which tests compare with; "none" where it cannot be had."""
    name = "TAKT_OGRE_PYTHON"
    if name in os.environ:
        return {}
    try:
        python = next(pythons(OGRE_PYTHON), None) or fetched_python(OGRE_PYTHON)
        return {name: str(environment("ogre", python, dependencies("ogre")))}
    except SetupError as error:
        say(f"the tests that compare with OGRE itself are left out: {error}")
        return {name: "none"}


def usd_python() -> dict[str, str]:
    """Return the setting that names a Python with OpenUSD, which tests compare with; "none" where it cannot be had."""
    name = "TAKT_USD_PYTHON"
    if name in os.environ:
        return {}
    try:
        return {name: str(environment("usd", sys.executable, dependencies("usd")))}
    except SetupError as error:
        say(f"the tests that compare with OpenUSD are left out: {error}")
        return {name: "none"}


def pythons(version: str) -> Iterator[str]:
    """Yield Pythons of a version (3.13) that really run: this one, those on PATH, those of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [sys.executable, *filter(None, map(shutil.which, (f"python{version}", "python3", "python"))),
             *map(str, sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True))]
    for python in found:
        answer = subprocess.run([python, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"],
                                capture_output=True, text=True, check=False)
        if answer.returncode == 0 and answer.stdout.strip() == version:
            yield python


def fetched_python(version: str) -> str:
    """Let uv get a Python into .dev/; return its path."""
    say(f"no Python {version} found: uv gets one")
    python = environment("uv", sys.executable, ["uv"])
    settings = {"UV_PYTHON_INSTALL_DIR": str(DEV / "pythons"), "UV_CACHE_DIR": str(DEV / "uv-cache")}
    if run([python, "-m", "uv", "python", "install", "--no-bin", version], settings):
        raise SetupError(f"uv could not get Python {version}; install it, by any way, and try again")
    return subprocess.run([python, "-m", "uv", "python", "find", "--managed-python", version], check=True,
                          capture_output=True, text=True, env=os.environ | settings).stdout.strip()


def environment(name: str, python: str, requirements: Sequence[str]) -> Path:
    """Return the Python of .dev/NAME, which holds the requirements; made anew only when they change."""
    folder = DEV / name
    inside = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "takt-requirements"
    # The real path: worktrees may share one environment by links in their .dev/.
    wanted = hashlib.sha256("\n".join([str(folder.resolve()), python, *requirements]).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return inside
    say(f"set up .dev/{name}: {', '.join(requirements)} (only this once, may take minutes)")
    shutil.rmtree(folder, ignore_errors=True)
    # Without pip: Debian's Python has no ensurepip. A fresh pip installs into all of them from outside.
    code = (run([python, "-m", "venv", "--without-pip", folder])
            or run([python, fresh_pip(), "--python", inside, "install", "--quiet", *requirements]))
    if code:
        raise SetupError(f"could not set up {folder}; the lines above say why")
    stamp.write_text(wanted)
    return inside


def fresh_pip() -> Path:
    """Return a pip, in .dev/, that is new enough to serve every Python here."""
    folder = DEV / "pip"
    if not (folder / "pip").exists() and run([sys.executable, "-m", "pip", "install", "--quiet", "--target", folder,
                                              "pip>=25.1"]):
        raise SetupError(f"{sys.executable} has no working pip; install it (on Debian: apt-get install python3-pip)")
    return folder / "pip"


def dependencies(group: str) -> list[str]:
    """Return one of the dependency groups of pyproject.toml."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    return list(groups[group])


def fresh_user_folder(name: str) -> dict[str, str]:
    """Return settings that give Blender an empty user folder, so that nobody's own preferences are touched."""
    folder = DEV / "user" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return {"BLENDER_USER_RESOURCES": str(folder)}


def run(command: Sequence[object], settings: Mapping[str, str] | None = None, folder: Path = ROOT) -> int:
    """Run a command; return its exit code (negative: ended by a signal, which is a failure too)."""
    return subprocess.run([str(part) for part in command], cwd=folder, env=os.environ | (settings or {}),
                          check=False).returncode


def say(text: str) -> None:
    """Tell what happens next."""
    print(f"· {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
