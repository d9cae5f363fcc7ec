"""Print the score of version 1 that plays the same as one of version 2; where there is none, say why."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..core.pha.version_1 import as_version_1
from .scores import add_library, add_values, read_programme


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("score", metavar="score.pha", type=Path, help="the score to write in version 1")
    add_library(parser)
    parser.add_argument("--procedure", metavar="NAME", default="main",
                        help="which procedure of the file becomes main (default: main)")
    add_values(parser)


def run(options: argparse.Namespace) -> int:
    """Read, evaluate, print."""
    programme, library = read_programme(options.score, options)
    print(as_version_1(programme, library, options.procedure, values=dict(options.values), seed=options.seed), end="")
    return 0
