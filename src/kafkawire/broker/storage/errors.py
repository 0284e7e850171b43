"""What goes wrong with files."""

from __future__ import annotations

__all__ = ["CorruptLogError", "DataDirectoryError", "StorageError"]


class StorageError(Exception):
    """Something could not be kept; the message says what, where, and what to do."""


class CorruptLogError(StorageError):
    """A log is damaged in a way that nothing can be left out of: whole batches follow the damage."""


class DataDirectoryError(StorageError):
    """The directory cannot be used: it is another broker's, of another node, or cannot be read."""
