"""What each method of the client needs of a node and of its caller, as data: APIs with their versions, and rights.

The rights are those that Kafka's brokers check (the table of the documentation's chapter on authorization).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.protocol.errors import UnsupportedVersionError

if TYPE_CHECKING:
    from kafkawire.admin.connection.versions import BrokerVersions


class Right(msgspec.Struct, frozen=True):
    """An operation on resources of a type, as an ACL allows it.

    Attributes:
        resource_type: kind of the resource.
        operation: what must be allowed on it.
    """

    resource_type: ResourceType
    operation: AclOperation


class Way(msgspec.Struct, frozen=True):
    """An API by which a method can be carried out.

    Attributes:
        api: the API.
        minimum_version, maximum_version: the versions that serve the method, whatever its options; None for no limit.
    """

    api: ApiKey
    minimum_version: int = 0
    maximum_version: int | None = None


class Requirements(msgspec.Struct, frozen=True):
    """What a method needs.

    Attributes:
        ways: how it can be carried out, the best first; the others are fallbacks for older nodes.
        further: the ways of each further step, for methods that take several: every step must be possible.
        rights: all that must be allowed, each given by the rights of which any one is enough. The resources are those
            that the call names. Empty for what everybody may do.
        on_controllers: whether controllers serve it (KIP-919).
    """

    ways: tuple[Way, ...]
    rights: tuple[tuple[Right, ...], ...] = ()
    on_controllers: bool = False
    further: tuple[tuple[Way, ...], ...] = ()


class Support(Enum):
    """Whether a node can carry out a method.

    Attributes:
        SUPPORTED: yes.
        FALLBACK: yes, by an older API, which may tell less or take more requests.
        UNSUPPORTED: no; the method fails with `UnsupportedVersionError` or `UnsupportedEndpointTypeError`.
    """

    SUPPORTED = "supported"
    FALLBACK = "fallback"
    UNSUPPORTED = "unsupported"


class Capability(msgspec.Struct, frozen=True):
    """How a node would carry out a method.

    Attributes:
        support: whether it can.
        api, version: what would be used, in the first of several steps; None if it cannot. Options of a call may need
            a higher version.
    """

    support: Support
    api: ApiKey | None = None
    version: int | None = None


def capabilities_of(versions: BrokerVersions, *, controller: bool, proposals: bool) -> dict[str, Capability]:
    """What a node with these versions can do, by method of the client.

    Args:
        versions: what it offers.
        controller: whether it was reached at a controller's listener.
        proposals: whether versions that are not final may be used.
    """
    unsupported = Capability(Support.UNSUPPORTED)
    return {
        name: unsupported if controller and not needed.on_controllers else _capability(needed, versions, proposals)
        for name, needed in REQUIREMENTS.items()
    }


def _capability(needed: Requirements, versions: BrokerVersions, proposals: bool) -> Capability:
    first, *others = (_capability_of_step(ways, versions, proposals) for ways in (needed.ways, *needed.further))
    supports = {first.support, *(other.support for other in others)}
    if Support.UNSUPPORTED in supports:
        return Capability(Support.UNSUPPORTED)
    return Capability(Support.FALLBACK if Support.FALLBACK in supports else Support.SUPPORTED, first.api, first.version)


def _capability_of_step(ways: tuple[Way, ...], versions: BrokerVersions, proposals: bool) -> Capability:
    for way in ways:
        try:
            version = versions.choose(
                message_class(APIS[way.api].request), minimum=way.minimum_version, maximum=way.maximum_version,
                unstable=proposals,
            )  # fmt: skip
        except UnsupportedVersionError:
            continue
        return Capability(Support.SUPPORTED if way is ways[0] else Support.FALLBACK, way.api, version)
    return Capability(Support.UNSUPPORTED)


def _all(*rights: Right) -> tuple[tuple[Right, ...], ...]:
    return tuple((right,) for right in rights)


def _on(resource_type: ResourceType, operation: AclOperation) -> Right:
    return Right(resource_type, operation)


_CLUSTER, _TOPIC, _GROUP = ResourceType.CLUSTER, ResourceType.TOPIC, ResourceType.GROUP
_TRANSACTIONAL_ID = ResourceType.TRANSACTIONAL_ID
_DESCRIBE, _ALTER, _READ, _DELETE = AclOperation.DESCRIBE, AclOperation.ALTER, AclOperation.READ, AclOperation.DELETE
_WRITE, _CREATE = AclOperation.WRITE, AclOperation.CREATE

_DESCRIBES_CLUSTER = _all(_on(_CLUSTER, _DESCRIBE))
_ALTERS_CLUSTER = _all(_on(_CLUSTER, _ALTER))
_DESCRIBES_TOPIC = _all(_on(_TOPIC, _DESCRIBE))
_DESCRIBES_GROUP = _all(_on(_GROUP, _DESCRIBE))
_DESCRIBES_GROUP_AND_TOPIC = _DESCRIBES_GROUP + _DESCRIBES_TOPIC
_DELETES_GROUP = _all(_on(_GROUP, _DELETE))
_READS_GROUP = _all(_on(_GROUP, _READ))
_READS_TOPIC = _all(_on(_TOPIC, _READ))
_DESCRIBES_QUOTAS = _all(_on(_CLUSTER, AclOperation.DESCRIBE_CONFIGS))
_ALTERS_QUOTAS = _all(_on(_CLUSTER, AclOperation.ALTER_CONFIGS))
_WRITES_TRANSACTIONS = _all(_on(_TRANSACTIONAL_ID, _WRITE))

_HAVE_CONFIGS = (_TOPIC, _CLUSTER, _GROUP)
_DESCRIBES_CONFIGS = (tuple(_on(resource, AclOperation.DESCRIBE_CONFIGS) for resource in _HAVE_CONFIGS),)
_ALTERS_CONFIGS = (tuple(_on(resource, AclOperation.ALTER_CONFIGS) for resource in _HAVE_CONFIGS),)
"""The one whose configs are meant; those of brokers and client metrics belong to the cluster."""

_OFFSETS_OF_GROUP = (Way(ApiKey.OFFSET_FETCH, 8, 9), Way(ApiKey.OFFSET_FETCH, 0, 7))
_LISTS_OFFSETS = (Way(ApiKey.LIST_OFFSETS, 1),)
_GROUPS_OF_CONSUMERS = (Way(ApiKey.CONSUMER_GROUP_DESCRIBE), Way(ApiKey.DESCRIBE_GROUPS))


def _one(api: ApiKey, rights: tuple[tuple[Right, ...], ...] = (), *, on_controllers: bool = False) -> Requirements:
    return Requirements((Way(api),), rights, on_controllers)


REQUIREMENTS: Mapping[str, Requirements] = MappingProxyType(
    {
        "create_topics": _one(ApiKey.CREATE_TOPICS, ((_on(_TOPIC, _CREATE), _on(_CLUSTER, _CREATE)),)),
        "delete_topics": _one(ApiKey.DELETE_TOPICS, _all(_on(_TOPIC, _DELETE))),
        "create_partitions": _one(ApiKey.CREATE_PARTITIONS, _all(_on(_TOPIC, _ALTER))),
        "list_topics": _one(ApiKey.METADATA, _DESCRIBES_TOPIC),
        "describe_topics": Requirements(
            (Way(ApiKey.DESCRIBE_TOPIC_PARTITIONS), Way(ApiKey.METADATA)), _DESCRIBES_TOPIC
        ),
        "wait_for_topics": _one(ApiKey.METADATA, _DESCRIBES_TOPIC),
        "elect_leaders": _one(ApiKey.ELECT_LEADERS, _ALTERS_CLUSTER),
        "alter_partition_reassignments": _one(
            ApiKey.ALTER_PARTITION_REASSIGNMENTS, _ALTERS_CLUSTER, on_controllers=True
        ),
        "list_partition_reassignments": _one(
            ApiKey.LIST_PARTITION_REASSIGNMENTS, _DESCRIBES_CLUSTER, on_controllers=True
        ),
        "delete_records": _one(ApiKey.DELETE_RECORDS, _all(_on(_TOPIC, _DELETE))),
        "list_offsets": Requirements(_LISTS_OFFSETS, _DESCRIBES_TOPIC),
        "list_topic_offsets": Requirements(_LISTS_OFFSETS, _DESCRIBES_TOPIC),
        "describe_cluster": Requirements(
            (Way(ApiKey.DESCRIBE_CLUSTER), Way(ApiKey.METADATA, 1, 10)), on_controllers=True
        ),
        "describe_features": Requirements((Way(ApiKey.API_VERSIONS, 3),), on_controllers=True),
        "capabilities": _one(ApiKey.API_VERSIONS, on_controllers=True),
        "update_features": _one(ApiKey.UPDATE_FEATURES, _ALTERS_CLUSTER, on_controllers=True),
        "unregister_broker": _one(ApiKey.UNREGISTER_BROKER, _ALTERS_CLUSTER, on_controllers=True),
        "unregister_controller": _one(ApiKey.UNREGISTER_CONTROLLER, _ALTERS_CLUSTER, on_controllers=True),
        "client_instance_id": _one(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS),
        "describe_metadata_quorum": _one(ApiKey.DESCRIBE_QUORUM, _DESCRIBES_CLUSTER, on_controllers=True),
        "add_raft_voter": _one(ApiKey.ADD_RAFT_VOTER, _ALTERS_CLUSTER, on_controllers=True),
        "remove_raft_voter": _one(ApiKey.REMOVE_RAFT_VOTER, _ALTERS_CLUSTER, on_controllers=True),
        "describe_log_dirs": _one(ApiKey.DESCRIBE_LOG_DIRS, _DESCRIBES_CLUSTER),
        "alter_replica_log_dirs": _one(ApiKey.ALTER_REPLICA_LOG_DIRS, _ALTERS_CLUSTER),
        "describe_replica_log_dirs": _one(ApiKey.DESCRIBE_LOG_DIRS, _DESCRIBES_CLUSTER),
        "describe_configs": _one(ApiKey.DESCRIBE_CONFIGS, _DESCRIBES_CONFIGS, on_controllers=True),
        "alter_configs": _one(ApiKey.ALTER_CONFIGS, _ALTERS_CONFIGS, on_controllers=True),
        "incremental_alter_configs": _one(ApiKey.INCREMENTAL_ALTER_CONFIGS, _ALTERS_CONFIGS, on_controllers=True),
        "list_config_resources": _one(ApiKey.LIST_CONFIG_RESOURCES, _DESCRIBES_QUOTAS),
        "describe_user_scram_credentials": _one(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, _DESCRIBES_CLUSTER),
        "alter_user_scram_credentials": _one(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, _ALTERS_CLUSTER),
        "create_delegation_token": _one(ApiKey.CREATE_DELEGATION_TOKEN),
        "renew_delegation_token": _one(ApiKey.RENEW_DELEGATION_TOKEN),
        "expire_delegation_token": _one(ApiKey.EXPIRE_DELEGATION_TOKEN),
        "describe_delegation_token": _one(ApiKey.DESCRIBE_DELEGATION_TOKEN),
        "describe_acls": Requirements(
            (Way(ApiKey.DESCRIBE_ACLS, 4), Way(ApiKey.DESCRIBE_ACLS, 0, 3)), _DESCRIBES_CLUSTER, on_controllers=True
        ),
        "create_acls": _one(ApiKey.CREATE_ACLS, _ALTERS_CLUSTER, on_controllers=True),
        "delete_acls": _one(ApiKey.DELETE_ACLS, _ALTERS_CLUSTER, on_controllers=True),
        "wait_for_acls": Requirements((Way(ApiKey.DESCRIBE_ACLS, 0, 3),), _DESCRIBES_CLUSTER),
        "describe_client_quotas": Requirements(
            (Way(ApiKey.DESCRIBE_CLIENT_QUOTAS, 2), Way(ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, 1)), _DESCRIBES_QUOTAS
        ),
        "alter_client_quotas": _one(ApiKey.ALTER_CLIENT_QUOTAS, _ALTERS_QUOTAS, on_controllers=True),
        "wait_for_client_quotas": Requirements((Way(ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, 1),), _DESCRIBES_QUOTAS),
        "list_quotas": Requirements(
            (Way(ApiKey.LIST_QUOTAS), Way(ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, 1)), _DESCRIBES_QUOTAS
        ),
        "describe_quotas": Requirements(
            (Way(ApiKey.DESCRIBE_QUOTAS), Way(ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, 1)), _DESCRIBES_QUOTAS
        ),
        "alter_quotas": Requirements((Way(ApiKey.ALTER_QUOTAS), Way(ApiKey.ALTER_CLIENT_QUOTAS)), _ALTERS_QUOTAS),
        "list_groups": _one(ApiKey.LIST_GROUPS, ((_on(_GROUP, _DESCRIBE), _on(_CLUSTER, _DESCRIBE)),)),
        "list_consumer_groups": _one(ApiKey.LIST_GROUPS, ((_on(_GROUP, _DESCRIBE), _on(_CLUSTER, _DESCRIBE)),)),
        "describe_consumer_groups": Requirements(_GROUPS_OF_CONSUMERS, _DESCRIBES_GROUP_AND_TOPIC),
        "describe_classic_groups": _one(ApiKey.DESCRIBE_GROUPS, _DESCRIBES_GROUP),
        "describe_share_groups": _one(ApiKey.SHARE_GROUP_DESCRIBE, _DESCRIBES_GROUP_AND_TOPIC),
        "describe_streams_groups": _one(ApiKey.STREAMS_GROUP_DESCRIBE, _DESCRIBES_GROUP_AND_TOPIC),
        "delete_consumer_groups": _one(ApiKey.DELETE_GROUPS, _DELETES_GROUP),
        "delete_share_groups": _one(ApiKey.DELETE_GROUPS, _DELETES_GROUP),
        "delete_streams_groups": _one(ApiKey.DELETE_GROUPS, _DELETES_GROUP),
        "remove_members_from_consumer_group": Requirements((Way(ApiKey.LEAVE_GROUP, 3),), _READS_GROUP),
        "list_consumer_group_offsets": Requirements(_OFFSETS_OF_GROUP, _DESCRIBES_GROUP_AND_TOPIC),
        "list_streams_group_offsets": Requirements(_OFFSETS_OF_GROUP, _DESCRIBES_GROUP_AND_TOPIC),
        "alter_consumer_group_offsets": Requirements((Way(ApiKey.OFFSET_COMMIT, 2, 9),), _READS_GROUP + _READS_TOPIC),
        "alter_streams_group_offsets": Requirements((Way(ApiKey.OFFSET_COMMIT, 2, 9),), _READS_GROUP + _READS_TOPIC),
        "delete_consumer_group_offsets": _one(ApiKey.OFFSET_DELETE, _DELETES_GROUP + _READS_TOPIC),
        "delete_streams_group_offsets": _one(ApiKey.OFFSET_DELETE, _DELETES_GROUP + _READS_TOPIC),
        "list_share_group_offsets": _one(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, _DESCRIBES_GROUP_AND_TOPIC),
        "alter_share_group_offsets": _one(ApiKey.ALTER_SHARE_GROUP_OFFSETS, _READS_GROUP + _READS_TOPIC),
        "delete_share_group_offsets": _one(ApiKey.DELETE_SHARE_GROUP_OFFSETS, _DELETES_GROUP + _READS_TOPIC),
        "group_lag": Requirements(
            _OFFSETS_OF_GROUP, _DESCRIBES_GROUP_AND_TOPIC, further=(_GROUPS_OF_CONSUMERS, _LISTS_OFFSETS)
        ),
        "reset_offsets": Requirements(
            (Way(ApiKey.OFFSET_COMMIT, 2, 9),),
            _READS_GROUP + _READS_TOPIC,
            further=(_OFFSETS_OF_GROUP, _GROUPS_OF_CONSUMERS, _LISTS_OFFSETS),
        ),
        "list_transactions": _one(ApiKey.LIST_TRANSACTIONS, _all(_on(_TRANSACTIONAL_ID, _DESCRIBE))),
        "describe_transactions": _one(
            ApiKey.DESCRIBE_TRANSACTIONS, _all(_on(_TRANSACTIONAL_ID, _DESCRIBE)) + _DESCRIBES_TOPIC
        ),
        "fence_producers": _one(ApiKey.INIT_PRODUCER_ID, _WRITES_TRANSACTIONS),
        "force_terminate_transaction": _one(ApiKey.INIT_PRODUCER_ID, _WRITES_TRANSACTIONS),
        "describe_producers": _one(ApiKey.DESCRIBE_PRODUCERS, _READS_TOPIC),
        "find_hanging_transactions": Requirements(
            (Way(ApiKey.DESCRIBE_PRODUCERS),),
            _READS_TOPIC + _all(_on(_TRANSACTIONAL_ID, _DESCRIBE)),
            further=((Way(ApiKey.LIST_TRANSACTIONS),), (Way(ApiKey.DESCRIBE_TRANSACTIONS),)),
        ),
        "abort_transaction": _one(
            ApiKey.WRITE_TXN_MARKERS, ((_on(_CLUSTER, _ALTER), _on(_CLUSTER, AclOperation.CLUSTER_ACTION)),)
        ),
    }
)
"""Method of the client to what it needs."""
