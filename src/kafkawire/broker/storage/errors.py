"""Errors of the files in a data directory."""

from __future__ import annotations


class StorageError(Exception):
    """The state could not be stored or read; the message has the file, the reason and what to do."""


class CorruptLogError(StorageError):
    """A log is damaged before its end, so that no records can be cut off."""


class DataDirectoryError(StorageError):
    """The data directory cannot be used: another broker uses it, it belongs to another node, or it is damaged."""
