"""The version in which each metadata record is written."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.protocol.record_registries import METADATA_RECORDS

METADATA_VERSION: Final = 30
"""Feature level ``metadata.version`` of Apache Kafka 4.3."""

_ABOVE_ZERO: Final = {
    "RegisterBrokerRecord": 4,
    "PartitionRecord": 2,
    "PartitionChangeRecord": 2,
    "BrokerRegistrationChangeRecord": 3,
}

RECORD_VERSIONS: Final[Mapping[str, int]] = MappingProxyType(
    {name: _ABOVE_ZERO.get(name, 0) for name in METADATA_RECORDS.values()}
)
"""Name of each metadata record to its version at ``METADATA_VERSION``."""
