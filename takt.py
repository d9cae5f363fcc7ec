"""Makes `python3 -m takt` work in a checkout, whatever its folder is called; installed, the package itself answers."""

import sys

if __name__ == "takt":
    del sys.modules["takt"]  # this file makes way for the package, which checkout.py puts in its place

import checkout  # noqa: F401

if __name__ == "__main__":
    from takt.cli import main

    sys.exit(main())
