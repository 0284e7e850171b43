"""Which versions of which APIs the broker offers: those of one release of Apache Kafka, whatever the package has.

Importing the definitions of a newer release adds versions to the package. The broker offers a version only after its
handler implements it and this table has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.protocol.api_table import ApiKey
from kafkawire.rpc import api_of
from kafkawire.wire import Message

__all__ = ["RELEASE", "offered_versions"]

RELEASE: Final = "4.3.1"
"""The release of Apache Kafka as which the broker answers."""

_OFFERED: Final[Mapping[int, tuple[int, int]]] = MappingProxyType(
    {
        ApiKey.PRODUCE: (0, 13),  # listed so for old clients; 0 to 2 are refused all the same
        ApiKey.FETCH: (4, 18),
        ApiKey.LIST_OFFSETS: (1, 11),
        ApiKey.METADATA: (0, 13),
        ApiKey.OFFSET_COMMIT: (2, 10),
        ApiKey.OFFSET_FETCH: (1, 10),
        ApiKey.FIND_COORDINATOR: (0, 6),
        ApiKey.JOIN_GROUP: (0, 9),
        ApiKey.DESCRIBE_GROUPS: (0, 6),
        ApiKey.LIST_GROUPS: (0, 5),
        ApiKey.SASL_HANDSHAKE: (0, 1),
        ApiKey.API_VERSIONS: (0, 4),
        ApiKey.CREATE_TOPICS: (2, 7),
        ApiKey.DELETE_TOPICS: (1, 6),
        ApiKey.INIT_PRODUCER_ID: (0, 5),
        ApiKey.DESCRIBE_ACLS: (1, 3),
        ApiKey.CREATE_ACLS: (1, 3),
        ApiKey.DELETE_ACLS: (1, 3),
        ApiKey.DESCRIBE_CONFIGS: (1, 4),
        ApiKey.ALTER_CONFIGS: (0, 2),
        ApiKey.SASL_AUTHENTICATE: (0, 2),
        ApiKey.CREATE_PARTITIONS: (0, 3),
        ApiKey.DELETE_GROUPS: (0, 2),
        ApiKey.INCREMENTAL_ALTER_CONFIGS: (0, 1),
        ApiKey.OFFSET_DELETE: (0, 0),
        ApiKey.DESCRIBE_CLIENT_QUOTAS: (0, 1),
        ApiKey.ALTER_CLIENT_QUOTAS: (0, 1),
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: (0, 0),
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS: (0, 0),
        ApiKey.DESCRIBE_CLUSTER: (0, 2),
        ApiKey.LIST_CONFIG_RESOURCES: (0, 1),
        ApiKey.CONSUMER_GROUP_HEARTBEAT: (0, 1),
        ApiKey.DESCRIBE_TOPIC_PARTITIONS: (0, 0),
    }
)
"""API key to the lowest and highest version that brokers of ``RELEASE`` list."""

_OFFERED_UNSTABLE: Final[Mapping[int, tuple[int, int]]] = MappingProxyType(
    {
        **_OFFERED,
        ApiKey.INIT_PRODUCER_ID: (0, 6),
        ApiKey.DESCRIBE_ACLS: (1, 4),  # KIP-888
        ApiKey.DESCRIBE_CLIENT_QUOTAS: (0, 2),  # KIP-888
        ApiKey.LIST_QUOTAS: (1, 1),  # KIP-248
        ApiKey.DESCRIBE_QUOTAS: (1, 1),  # KIP-248
        ApiKey.ALTER_QUOTAS: (0, 0),  # KIP-248
    }
)
"""The same with versions that are not final: those of ``RELEASE``, and the proposals that the broker implements."""


def offered_versions(served: Iterable[type[Message]], *, unstable: bool) -> Mapping[int, range]:
    """API key to versions.

    Args:
        served: the request classes that are answered.
        unstable: whether versions that are not final are offered too (``unstable.api.versions.enable``).

    Raises:
        LookupError: an API is served that the table lacks.
    """
    offered: dict[int, range] = {}
    for api in map(api_of, served):
        if api.key not in _OFFERED_UNSTABLE:
            raise LookupError(f"{api.name} is served, but {__name__} has no versions to offer for it")
        limits = (_OFFERED_UNSTABLE if unstable else _OFFERED).get(api.key)
        if limits is not None:
            lowest, highest = limits
            offered[api.key] = range(lowest, highest + 1)
    return offered
