"""kio and kafka-python, each used in its fastest way.

kio has a class for each version of a message; its decoder is native, made once for a class by ``entity_reader``, and
its encoder is Python, made once by ``entity_writer``. kafka-python has a class for each message and compiles
functions for a version when it is first used. Both are warm before the measurement.

They are imported by name, so that type checks do not depend on whether they are installed.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
from collections.abc import Callable
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, cast

from benchmarks.results import KAFKA_PYTHON, KIO

Entity = object
"""A decoded message of a peer."""


_KAFKA_PYTHON_PACKAGES = {
    "ApiVersions": "kafka.protocol.metadata",
    "DescribeAcls": "kafka.protocol.admin",
    "Fetch": "kafka.protocol.consumer",
    "Heartbeat": "kafka.protocol.consumer",
    "Metadata": "kafka.protocol.metadata",
}


@dataclass(frozen=True)
class Codec:
    """How a library decodes and encodes one message at one version.

    Attributes:
        decode: bytes to the library's object.
        encode: the object to bytes.
    """

    decode: Callable[[bytes], Entity]
    encode: Callable[[Entity], bytes]


def missing_peers() -> list[str]:
    """The peers that are not installed."""
    modules = {KIO: "kio", KAFKA_PYTHON: "kafka"}
    return [peer for peer, module in modules.items() if importlib.util.find_spec(module) is None]


def kio_codec(message: str, version: int) -> Codec:
    """The codec of kio; ``message`` is Kafka's name, ``MetadataResponse``."""
    serial = importlib.import_module("kio.serial")
    entity_type = getattr(importlib.import_module(kio_module(message, version)), message)
    read = cast("Callable[[bytes, int], tuple[Entity, int]]", serial.entity_reader(entity_type))
    write = cast("Callable[[io.BytesIO, Entity], None]", serial.entity_writer(entity_type))

    def decode(buffer: bytes) -> Entity:
        return read(buffer, 0)[0]

    def encode(entity: Entity) -> bytes:
        out = io.BytesIO()
        write(out, entity)
        return out.getvalue()

    return Codec(decode, encode)


def kafka_python_codec(message: str, version: int) -> Codec:
    """The codec of kafka-python. It writes into a buffer that it uses again, and returns a copy."""
    message_type: Any = getattr(importlib.import_module(kafka_python_module(message)), message)

    def decode(buffer: bytes) -> Entity:
        return cast("Entity", message_type.decode(buffer, version=version))

    # A decoded object has its version, and can be encoded only in that version.
    return Codec(decode, methodcaller("encode"))


def kio_module(message: str, version: int) -> str:
    """The module that has a message at a version: ``kio.schema.metadata.v12.response``."""
    api, direction = _api_and_direction(message)
    folder = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in api).lstrip("_")
    return f"kio.schema.{folder}.v{version}.{direction}"


def kafka_python_module(message: str) -> str:
    """The package of a message."""
    return _KAFKA_PYTHON_PACKAGES[_api_and_direction(message)[0]]


def _api_and_direction(message: str) -> tuple[str, str]:
    for direction in ("Request", "Response"):
        if message.endswith(direction):
            return message.removesuffix(direction), direction.lower()
    raise ValueError(message)
