"""The versions that the admin client speaks, whatever newer ones the package has.

A newer version may want other fields: OffsetCommit 10 has ids of topics where 9 has their names. So importing the
definitions of a newer release changes nothing here. Raise a version after the operations of its API were tried at it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire.api import Api

_HIGHEST: Final[Mapping[int, int]] = MappingProxyType(
    {
        ApiKey.LIST_OFFSETS: 11,
        ApiKey.METADATA: 13,
        ApiKey.OFFSET_COMMIT: 10,
        ApiKey.OFFSET_FETCH: 10,
        ApiKey.FIND_COORDINATOR: 6,
        ApiKey.LEAVE_GROUP: 5,
        ApiKey.DESCRIBE_GROUPS: 6,
        ApiKey.LIST_GROUPS: 5,
        ApiKey.SASL_HANDSHAKE: 1,
        ApiKey.API_VERSIONS: 5,
        ApiKey.CREATE_TOPICS: 7,
        ApiKey.DELETE_TOPICS: 6,
        ApiKey.DELETE_RECORDS: 2,
        ApiKey.INIT_PRODUCER_ID: 5,
        ApiKey.WRITE_TXN_MARKERS: 2,
        ApiKey.DESCRIBE_ACLS: 3,
        ApiKey.CREATE_ACLS: 3,
        ApiKey.DELETE_ACLS: 3,
        ApiKey.DESCRIBE_CONFIGS: 4,
        ApiKey.ALTER_CONFIGS: 2,
        ApiKey.ALTER_REPLICA_LOG_DIRS: 2,
        ApiKey.DESCRIBE_LOG_DIRS: 5,
        ApiKey.SASL_AUTHENTICATE: 2,
        ApiKey.CREATE_PARTITIONS: 3,
        ApiKey.CREATE_DELEGATION_TOKEN: 3,
        ApiKey.RENEW_DELEGATION_TOKEN: 2,
        ApiKey.EXPIRE_DELEGATION_TOKEN: 2,
        ApiKey.DESCRIBE_DELEGATION_TOKEN: 3,
        ApiKey.DELETE_GROUPS: 3,
        ApiKey.ELECT_LEADERS: 2,
        ApiKey.INCREMENTAL_ALTER_CONFIGS: 1,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS: 1,
        ApiKey.LIST_PARTITION_REASSIGNMENTS: 0,
        ApiKey.OFFSET_DELETE: 0,
        ApiKey.DESCRIBE_CLIENT_QUOTAS: 1,
        ApiKey.ALTER_CLIENT_QUOTAS: 1,
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: 0,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS: 0,
        ApiKey.DESCRIBE_QUORUM: 2,
        ApiKey.UPDATE_FEATURES: 2,
        ApiKey.DESCRIBE_CLUSTER: 2,
        ApiKey.DESCRIBE_PRODUCERS: 0,
        ApiKey.UNREGISTER_BROKER: 0,
        ApiKey.DESCRIBE_TRANSACTIONS: 0,
        ApiKey.LIST_TRANSACTIONS: 2,
        ApiKey.CONSUMER_GROUP_DESCRIBE: 1,
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: 0,
        ApiKey.LIST_CONFIG_RESOURCES: 1,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS: 0,
        ApiKey.SHARE_GROUP_DESCRIBE: 1,
        ApiKey.ADD_RAFT_VOTER: 1,
        ApiKey.REMOVE_RAFT_VOTER: 0,
        ApiKey.STREAMS_GROUP_DESCRIBE: 1,
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: 1,
        ApiKey.ALTER_SHARE_GROUP_OFFSETS: 0,
        ApiKey.DELETE_SHARE_GROUP_OFFSETS: 0,
        ApiKey.UNREGISTER_CONTROLLER: 0,
    }
)
"""API key to the highest final version; those of Apache Kafka 4.4.0."""

_HIGHEST_UNSTABLE: Final[Mapping[int, int]] = MappingProxyType(
    {
        ApiKey.INIT_PRODUCER_ID: 6,
        ApiKey.DESCRIBE_ACLS: 4,
        ApiKey.DESCRIBE_CLIENT_QUOTAS: 2,
        ApiKey.LIST_QUOTAS: 1,
        ApiKey.DESCRIBE_QUOTAS: 1,
        ApiKey.ALTER_QUOTAS: 0,
    }
)
"""API key to the highest version where those that are not final may be used: proposals, and unstable ones of Kafka."""


def spoken_versions(api: Api, *, unstable: bool) -> range:
    """The versions of an API that the client may send.

    Args:
        api: the API.
        unstable: whether versions that are not final are among them.

    Raises:
        LookupError: the client sends nothing of this API.
    """
    if api.key not in _HIGHEST and api.key not in _HIGHEST_UNSTABLE:
        raise LookupError(f"the admin client sends no {api.request}: {__name__} has no version of it")
    highest = _HIGHEST.get(api.key, -1)
    if unstable:
        highest = max(highest, _HIGHEST_UNSTABLE.get(api.key, highest))
    return range(api.versions.start, highest + 1)
