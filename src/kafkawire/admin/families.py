"""The families of operations that `AdminClient` is made of. Each is imported when one of its methods is first used.

A program uses few of them, and waits for every import each time it starts.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkawire.admin.family import OperationFamily

if TYPE_CHECKING:
    from kafkawire.admin.operations.acls import AclOperations
    from kafkawire.admin.operations.capabilities import CapabilityOperations
    from kafkawire.admin.operations.cluster import ClusterOperations
    from kafkawire.admin.operations.configs import ConfigOperations
    from kafkawire.admin.operations.group_descriptions import GroupDescriptionOperations
    from kafkawire.admin.operations.group_lag import GroupLagOperations
    from kafkawire.admin.operations.group_listings import GroupListingOperations
    from kafkawire.admin.operations.group_offsets import GroupOffsetOperations
    from kafkawire.admin.operations.groups import GroupOperations
    from kafkawire.admin.operations.hanging_transactions import HangingTransactionOperations
    from kafkawire.admin.operations.log_dirs import LogDirOperations
    from kafkawire.admin.operations.offset_resets import OffsetResetOperations
    from kafkawire.admin.operations.partitions import PartitionOperations
    from kafkawire.admin.operations.producers import ProducerOperations
    from kafkawire.admin.operations.quorum import QuorumOperations
    from kafkawire.admin.operations.quota_configs import QuotaConfigOperations
    from kafkawire.admin.operations.quotas import QuotaOperations
    from kafkawire.admin.operations.records import RecordOperations
    from kafkawire.admin.operations.scram_users import ScramOperations
    from kafkawire.admin.operations.share_group_offsets import ShareGroupOffsetOperations
    from kafkawire.admin.operations.streams_groups import StreamsGroupOperations
    from kafkawire.admin.operations.tokens import TokenOperations
    from kafkawire.admin.operations.topic_descriptions import TopicDescriptionOperations
    from kafkawire.admin.operations.topic_offsets import TopicOffsetOperations
    from kafkawire.admin.operations.topics import TopicOperations
    from kafkawire.admin.operations.transactions import TransactionOperations
    from kafkawire.admin.operations.visibility import VisibilityOperations

FAMILIES: Mapping[str, str] = {
    "topics.TopicOperations": "create_topics delete_topics create_partitions",
    "topic_descriptions.TopicDescriptionOperations": "list_topics describe_topics",
    "visibility.VisibilityOperations": "wait_for_topics wait_for_acls wait_for_client_quotas",
    "partitions.PartitionOperations": "elect_leaders alter_partition_reassignments list_partition_reassignments",
    "records.RecordOperations": "delete_records list_offsets",
    "topic_offsets.TopicOffsetOperations": "list_topic_offsets",
    "cluster.ClusterOperations": (
        "describe_cluster describe_features update_features unregister_broker unregister_controller client_instance_id"
    ),
    "capabilities.CapabilityOperations": "capabilities describe_api_versions",
    "quorum.QuorumOperations": "describe_metadata_quorum add_raft_voter remove_raft_voter",
    "log_dirs.LogDirOperations": "describe_log_dirs alter_replica_log_dirs describe_replica_log_dirs",
    "configs.ConfigOperations": "describe_configs incremental_alter_configs alter_configs list_config_resources",
    "scram_users.ScramOperations": "describe_user_scram_credentials alter_user_scram_credentials",
    "tokens.TokenOperations": (
        "create_delegation_token renew_delegation_token expire_delegation_token describe_delegation_token"
    ),
    "acls.AclOperations": "describe_acls create_acls delete_acls",
    "quotas.QuotaOperations": "describe_client_quotas alter_client_quotas",
    "quota_configs.QuotaConfigOperations": "list_quotas describe_quotas alter_quotas",
    "group_listings.GroupListingOperations": "list_groups list_consumer_groups",
    "group_descriptions.GroupDescriptionOperations": (
        "describe_consumer_groups describe_classic_groups describe_share_groups"
    ),
    "streams_groups.StreamsGroupOperations": "describe_streams_groups",
    "groups.GroupOperations": (
        "delete_consumer_groups delete_share_groups delete_streams_groups remove_members_from_consumer_group"
    ),
    "group_offsets.GroupOffsetOperations": (
        "list_consumer_group_offsets list_streams_group_offsets alter_consumer_group_offsets "
        "alter_streams_group_offsets delete_consumer_group_offsets delete_streams_group_offsets"
    ),
    "share_group_offsets.ShareGroupOffsetOperations": (
        "list_share_group_offsets alter_share_group_offsets delete_share_group_offsets"
    ),
    "group_lag.GroupLagOperations": "group_lag",
    "offset_resets.OffsetResetOperations": "reset_offsets",
    "transactions.TransactionOperations": (
        "list_transactions describe_transactions fence_producers force_terminate_transaction"
    ),
    "producers.ProducerOperations": "describe_producers abort_transaction",
    "hanging_transactions.HangingTransactionOperations": "find_hanging_transactions",
}
"""Module and class of each family, and the names of its public methods."""


class _Method:
    """A method whose family is not imported yet.

    Args:
        family: module and class.
        name: of the method.
    """

    def __init__(self, family: str, name: str) -> None:
        self._family = family
        self._name = name

    def __get__(self, client: object, cls: type | None = None) -> object:
        return getattr(_joined(self._family), self._name).__get__(client, cls)


class LaterFamilies(OperationFamily):
    """The last base of `Families`: it has every method, and those of imported families are found before them."""


for _family, _names in FAMILIES.items():
    for _name in _names.split():
        setattr(LaterFamilies, _name, _Method(_family, _name))

if TYPE_CHECKING:

    class Families(
        TopicOperations,
        TopicDescriptionOperations,
        VisibilityOperations,
        PartitionOperations,
        RecordOperations,
        TopicOffsetOperations,
        ClusterOperations,
        CapabilityOperations,
        QuorumOperations,
        LogDirOperations,
        ConfigOperations,
        ScramOperations,
        TokenOperations,
        AclOperations,
        QuotaOperations,
        QuotaConfigOperations,
        GroupListingOperations,
        GroupDescriptionOperations,
        StreamsGroupOperations,
        GroupOperations,
        GroupOffsetOperations,
        ShareGroupOffsetOperations,
        GroupLagOperations,
        OffsetResetOperations,
        TransactionOperations,
        ProducerOperations,
        HangingTransactionOperations,
    ):
        """All families."""

else:
    Families = type("Families", (LaterFamilies,), {"__module__": __name__, "__doc__": "The families in use."})

_JOINING = threading.Lock()


def _joined(family: str) -> type:
    """Import a family and make it a base of `Families`, by one assignment: other threads miss no method meanwhile."""
    module, _, name = family.partition(".")
    cls: type = getattr(importlib.import_module(f"kafkawire.admin.operations.{module}"), name)
    with _JOINING:
        if cls not in Families.__bases__:
            Families.__bases__ = (cls, *Families.__bases__)
    return cls
