"""What the fuzzer runs for each input: both engines read a message, write what they have read, and must agree. Columns
must have a message in the same octets, and rows those of the message.

The first two bytes of an input choose the message and the version.
"""

from __future__ import annotations

import importlib
import sys
from array import array
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from kafkawire.admin.operations.acl_listing import AclListing
from kafkawire.protocol import MESSAGE_NAMES, message_class
from kafkawire.wire import DecodeError, EngineError, Message, use_engine
from kafkawire.wire.message_codec import FAST_PATH_FAILS, ComparedCodec

if TYPE_CHECKING:
    from kafkawire._native import Codec


def all_versions() -> Iterator[tuple[type[Message], int]]:
    """Those of all messages; the codec of each compares the two engines."""
    if "_native" in sys.builtin_module_names:
        sys.modules["kafkawire._native"] = importlib.import_module("_native")
    use_engine("both")
    for cls in map(message_class, MESSAGE_NAMES):
        yield from ((cls, version) for version in cls.VERSIONS)


VERSIONS = tuple(all_versions())


def run(octets: bytes) -> None:
    """Read and write.

    Raises:
        EngineError: the engines differ.
    """
    cls, version = VERSIONS[int.from_bytes(octets[:2]) % len(VERSIONS)]
    codec, end = cls.fast_codec(version), -1
    with suppress(*FAST_PATH_FAILS):
        message, end = codec.read(octets, 2)
        codec.write(message)
    if isinstance(codec, ComparedCodec):
        native = cast("Codec", codec.native)
        _, inexact = native.columns(None, array("i", (0, len(octets))), octets, 0, 1, 2)
        if bool(inexact) != (end != len(octets)):
            raise EngineError("columns differ from messages in what they refuse")
    if cls.NAME == AclListing.NAME:
        with suppress(DecodeError):
            AclListing.decode_from(octets, 2, version)
