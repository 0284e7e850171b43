"""Which versions of which APIs the broker offers: those of Apache Kafka 4.3.1, as far as they are served here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.protocol.api_table import ApiKey
from kafkawire.rpc import api_of
from kafkawire.wire import Message

__all__ = ["offered_versions"]

_LOWEST: Final[Mapping[int, int]] = MappingProxyType(
    {
        ApiKey.PRODUCE: 0,  # listed so for old clients; 0 to 2 are refused all the same
        ApiKey.FETCH: 4,
        ApiKey.LIST_OFFSETS: 1,
        ApiKey.OFFSET_COMMIT: 2,
        ApiKey.OFFSET_FETCH: 1,
        ApiKey.CREATE_TOPICS: 2,
        ApiKey.DELETE_TOPICS: 1,
        ApiKey.DESCRIBE_ACLS: 1,
        ApiKey.CREATE_ACLS: 1,
        ApiKey.DELETE_ACLS: 1,
        ApiKey.DESCRIBE_CONFIGS: 1,
    }
)
"""What Kafka 4 no longer serves is below; 0 for all others."""


def offered_versions(served: Iterable[type[Message]], *, unstable: bool) -> Mapping[int, range]:
    """API key to versions.

    Args:
        served: the request classes that are answered.
        unstable: whether versions that are not final are offered too (``unstable.api.versions.enable``).
    """
    offered: dict[int, range] = {}
    for api in map(api_of, served):
        versions = api.versions if unstable else api.stable_versions
        if versions:
            offered[api.key] = range(max(versions.start, _LOWEST.get(api.key, 0)), versions.stop)
    return offered
