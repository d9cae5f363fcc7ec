"""Drawing of the score editor: core's picture of a score, in batches that stay on the GPU."""

from .life import register, unregister

__all__ = ["register", "unregister"]
