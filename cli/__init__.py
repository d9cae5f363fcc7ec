"""Takt's command, for people without Blender: check, show, expand, plot and bake scores, convert skeletons."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

from ..core.errors import FileError, TaktError
from ..core.pha.naming import near
from . import bake, check, convert, expand, plot, show

_COMMANDS = {"check": check, "show": show, "expand": expand, "plot": plot, "bake": bake, "convert": convert}
INTERRUPTED = 130
"""What shells expect of a command that was stopped by Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; return 0, or 1 after an error. Wrong usage ends the process with 2, as argparse does."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a letter gets an escape, not an error
            stream.reconfigure(errors="backslashreplace")
    options = _options(arguments)
    try:
        code = int(options.run(options))
        if sys.stdout is not None:  # it may have been closed before the start
            sys.stdout.flush()
    except FileError as error:
        return _complain(*(str(problem) for problem in error.problems))
    except TaktError as error:
        return _complain(f"takt: {error}")
    except BrokenPipeError:  # the reader has closed the pipe, as in `takt show score.pha | head`
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _complain(f"takt: {error.filename or 'writing failed'}: {error.strerror or error}")
    except MemoryError:
        return _complain("takt: there is not enough memory for this")
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _complain(*lines: str) -> int:
    for line in lines:
        print(line, file=sys.stderr)
    return 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    options, rest = _parser().parse_known_args(arguments)
    parser: argparse.ArgumentParser = options.parser
    if rest:
        name = rest[0].partition("=")[0]
        known = [flag for action in parser._actions for flag in action.option_strings]
        parser.error(f"{name} is not known here{near(name, known)}")
    return options


class _Parser(argparse.ArgumentParser):
    """Prints only a short message for wrong usage, since a list of all options would hide it."""

    def error(self, message: str) -> NoReturn:
        """Print the message and exit with 2."""
        self.exit(2, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")


class _Version(argparse.Action):
    """Looks up the version only when it is needed."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print the version and exit."""
        print(f"takt {_version()}")
        parser.exit()


def _version() -> str:
    """Return the version from the manifest of a checkout or extension, or from pip if installed by it."""
    manifest = Path(__file__).parents[1] / "blender_manifest.toml"
    if not manifest.is_file():
        return metadata.version("takt")
    found = re.search(r'(?m)^version = "([^"]+)"', manifest.read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def _parser() -> _Parser:
    parser = _Parser(prog="takt", description=(__doc__ or "").strip(), allow_abbrev=False)
    parser.add_argument("--version", action=_Version, nargs=0, help="print Takt's version and end")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in _COMMANDS.items():
        says = (module.__doc__ or "").strip()
        subparser = commands.add_parser(name, help=says.partition("\n")[0], description=says, allow_abbrev=False)
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run, parser=subparser)
    return parser
