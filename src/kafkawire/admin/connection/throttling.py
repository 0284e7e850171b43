"""From which version of an API on the client has to wait when it is throttled (KIP-219).

Brokers used to wait themselves before they answered a client above its quota. Since KIP-219 they answer first and the
client stays away for ``throttle_time_ms``; each API that existed then had its version raised to say so. APIs that came
later have always worked that way.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kafkawire.protocol.api_table import ApiKey

_ANSWERED_FIRST_SINCE: Mapping[int, int] = MappingProxyType(
    {
        ApiKey.PRODUCE: 6,
        ApiKey.FETCH: 8,
        ApiKey.LIST_OFFSETS: 3,
        ApiKey.METADATA: 6,
        ApiKey.OFFSET_COMMIT: 4,
        ApiKey.OFFSET_FETCH: 4,
        ApiKey.FIND_COORDINATOR: 2,
        ApiKey.JOIN_GROUP: 3,
        ApiKey.HEARTBEAT: 2,
        ApiKey.LEAVE_GROUP: 2,
        ApiKey.SYNC_GROUP: 2,
        ApiKey.DESCRIBE_GROUPS: 2,
        ApiKey.LIST_GROUPS: 2,
        ApiKey.API_VERSIONS: 2,
        ApiKey.CREATE_TOPICS: 3,
        ApiKey.DELETE_TOPICS: 2,
        ApiKey.DELETE_RECORDS: 1,
        ApiKey.INIT_PRODUCER_ID: 1,
        ApiKey.ADD_PARTITIONS_TO_TXN: 1,
        ApiKey.ADD_OFFSETS_TO_TXN: 1,
        ApiKey.END_TXN: 1,
        ApiKey.TXN_OFFSET_COMMIT: 1,
        ApiKey.DESCRIBE_ACLS: 1,
        ApiKey.CREATE_ACLS: 1,
        ApiKey.DELETE_ACLS: 1,
        ApiKey.DESCRIBE_CONFIGS: 2,
        ApiKey.ALTER_CONFIGS: 1,
        ApiKey.ALTER_REPLICA_LOG_DIRS: 1,
        ApiKey.DESCRIBE_LOG_DIRS: 1,
        ApiKey.CREATE_PARTITIONS: 1,
        ApiKey.CREATE_DELEGATION_TOKEN: 1,
        ApiKey.RENEW_DELEGATION_TOKEN: 1,
        ApiKey.EXPIRE_DELEGATION_TOKEN: 1,
        ApiKey.DESCRIBE_DELEGATION_TOKEN: 1,
        ApiKey.DELETE_GROUPS: 1,
    }
)
"""API key to that version; from Kafka's own classes (``shouldClientThrottle`` of the responses, 4.3.1)."""


def client_waits(api_key: int, version: int) -> bool:
    """Whether a throttle time in an answer of that version is for the client to wait."""
    return version >= _ANSWERED_FIRST_SINCE.get(api_key, 0)
