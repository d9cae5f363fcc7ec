"""Make this checkout importable as the package `takt`, whatever its folder is called.

For tests, benchmarks and the demo: `import checkout`, then `from takt.core import …`.
"""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def _import_as_takt() -> None:
    spec = importlib.util.spec_from_file_location("takt", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["takt"] = package
    spec.loader.exec_module(package)


if "takt" not in sys.modules:
    _import_as_takt()
