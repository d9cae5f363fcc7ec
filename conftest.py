"""Lets every test import the checkout as `takt`, and properties draw the same examples however slow the machine."""

import checkout  # noqa: F401
import hypothesis

hypothesis.settings.register_profile("takt", deadline=None, derandomize=True,
                                     suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("takt")
