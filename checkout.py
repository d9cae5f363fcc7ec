"""Make this checkout importable as the package `takt`, whatever its folder is called.

For tests, benchmarks and the demo: `import checkout`, then `from takt.core import …`.
"""

import importlib.util
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent


def _import_as_takt() -> None:
    spec = importlib.util.spec_from_file_location("takt", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["takt"] = package
    spec.loader.exec_module(package)


def run(main: Callable[[], int | None]) -> NoReturn:
    """Run a script that uses Blender's module, and end the process: with what it returns, or 1 where it raises."""
    code = 1
    try:
        code = main() or 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Blender 4.5 may crash while it winds down


if "takt" not in sys.modules:
    _import_as_takt()
