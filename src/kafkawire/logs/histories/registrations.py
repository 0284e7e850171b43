"""What registrations of brokers and controllers have in common: endpoints, and the features that a node supports."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from operator import itemgetter
from typing import Final, TypeAlias, TypedDict

import pyarrow as pa

from kafkawire.logs.tables.enum_names import Names


class Endpoint(TypedDict):
    """A listener of a node, as its record has it."""

    name: str
    host: str
    port: int
    security_protocol: int


class Feature(TypedDict):
    """The versions of a feature that a node supports, as its record has them."""

    name: str
    min_supported_version: int
    max_supported_version: int


class _SecurityProtocol(IntEnum):
    """Protocols of listeners, by their numbers in records."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3


_PROTOCOLS: Final = Names(_SecurityProtocol)

Endpoints: TypeAlias = tuple[tuple[str, str, int, str | None], ...]
"""Name, host, port and security protocol of each listener, by name."""

Features: TypeAlias = tuple[tuple[str, int, int], ...]
"""Name, lowest and highest supported version of each feature, by name."""

ENDPOINTS: Final = pa.list_(
    pa.struct(
        [("name", pa.string()), ("host", pa.string()), ("port", pa.int32()), ("security_protocol", pa.string())],
    )
)
"""The type of a column of ``Endpoints``."""

FEATURES: Final = pa.list_(
    pa.struct([("name", pa.string()), ("min_version", pa.int16()), ("max_version", pa.int16())]),
)
"""The type of a column of ``Features``."""

_name_of: Final = itemgetter("name")


def endpoints_of(endpoints: Sequence[Endpoint]) -> Endpoints:
    """The endpoints of a record, sorted: Kafka keeps them in a map, so snapshots have them in another order."""
    return tuple(
        (each["name"], each["host"], each["port"], _PROTOCOLS[each["security_protocol"]])
        for each in sorted(endpoints, key=_name_of)
    )


def features_of(features: Sequence[Feature]) -> Features:
    """The features of a record, sorted as the endpoints."""
    return tuple(
        (each["name"], each["min_supported_version"], each["max_supported_version"])
        for each in sorted(features, key=_name_of)
    )
