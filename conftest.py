"""Lets every test import the checkout as `takt`."""

import checkout  # noqa: F401
