"""Measurements; run from the repository's root, where they import the checkout as `takt`."""

import checkout  # noqa: F401
