"""Bytes and values: the base of generated classes. Contains no message.

``ENGINE`` is the engine that reads and writes messages: ``python``, ``native`` or ``both``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kafkawire.layout import Uuid
from kafkawire.wire.engine import EngineName, engine_in_use, use_engine
from kafkawire.wire.errors import DecodeError, EncodeError, EngineError, UnsupportedVersionError, WireError
from kafkawire.wire.message import Message, RecordBytes, Struct

__all__ = [
    "ENGINE",
    "DecodeError",
    "EncodeError",
    "EngineError",
    "EngineName",
    "Message",
    "RecordBytes",
    "Struct",
    "UnsupportedVersionError",
    "Uuid",
    "WireError",
    "use_engine",
]

if TYPE_CHECKING:
    ENGINE: EngineName
else:

    def __getattr__(name: str) -> EngineName:
        """The engine is chosen when it is first needed."""
        if name == "ENGINE":
            return engine_in_use()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
