"""Bytes and values: the base of generated classes. Contains no message."""

from __future__ import annotations

from kafkawire.layout import Uuid
from kafkawire.wire.errors import DecodeError, EncodeError, UnsupportedVersionError, WireError
from kafkawire.wire.message import Message, RecordBytes, Struct

__all__ = [
    "DecodeError",
    "EncodeError",
    "Message",
    "RecordBytes",
    "Struct",
    "UnsupportedVersionError",
    "Uuid",
    "WireError",
]
