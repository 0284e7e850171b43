"""What the fuzzer runs for each input: both engines read a message, write what they have read, and must agree.

The first two bytes of an input choose the message and the version.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import suppress

from kafkawire.protocol import MESSAGE_NAMES, message_class
from kafkawire.wire import use_engine
from kafkawire.wire.message_codec import FAST_PATH_FAILS, MessageCodec


def all_codecs() -> Iterator[MessageCodec]:
    """Those of all messages and versions; each compares the two engines."""
    if "_native" in sys.builtin_module_names:
        sys.modules["kafkawire._native"] = importlib.import_module("_native")
    use_engine("both")
    for cls in map(message_class, MESSAGE_NAMES):
        yield from map(cls.fast_codec, cls.VERSIONS)


CODECS = tuple(all_codecs())


def run(octets: bytes) -> None:
    """Read and write.

    Raises:
        EngineError: the engines differ.
    """
    codec = CODECS[int.from_bytes(octets[:2]) % len(CODECS)]
    with suppress(*FAST_PATH_FAILS):
        message, _ = codec.read(octets, 2)
        codec.write(message)
