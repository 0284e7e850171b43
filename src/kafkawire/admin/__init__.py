"""The admin client: what Kafka's administrators do, asyncio first.

Every name is imported when it is first used, so that a program which only decides offline loads no sockets. What is
not named here is not promised to stay.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
"""Type checkers take it for that of ``typing``, whose import would be nearly all of this package's."""

if TYPE_CHECKING:
    from kafkawire.admin.acl_evaluation import (
        AclEvaluator,
        Decision,
        Reason,
    )
    from kafkawire.admin.acl_matching import (
        AclIndex,
    )
    from kafkawire.admin.acls import (
        AclBinding,
        AclBindingFilter,
        AclOperation,
        AclPermissionType,
        PatternType,
        ResourceType,
    )
    from kafkawire.admin.blocking import (
        BlockingAdminClient,
    )
    from kafkawire.admin.client import (
        AdminClient,
    )
    from kafkawire.admin.cluster_descriptions import (
        ClusterDescription,
        ClusterNode,
        FeatureLevels,
        Features,
        FeatureUpdate,
        LogDir,
        MetadataQuorum,
        QuorumReplica,
        RaftEndpoint,
        Replica,
        ReplicaInfo,
        ReplicaLogDirs,
        UpgradeType,
    )
    from kafkawire.admin.config_resources import (
        ConfigChange,
        ConfigEntry,
        ConfigOperation,
        ConfigResource,
        ConfigResourceType,
        ConfigSource,
        ConfigSynonym,
        ConfigType,
    )
    from kafkawire.admin.connection.sasl import (
        Credentials,
        CredentialsCallback,
        OAuthBearerCredentials,
        PlainCredentials,
        ScramCredentials,
    )
    from kafkawire.admin.connection.tls import (
        Tls,
    )
    from kafkawire.admin.effective_quotas import (
        EffectiveQuota,
        EffectiveQuotas,
    )
    from kafkawire.admin.filter_results import (
        DeletedAcls,
        DescribedAcls,
        DescribedQuotas,
    )
    from kafkawire.admin.gathered import (
        Gathered,
    )
    from kafkawire.admin.group_lag import (
        GroupLag,
        PartitionLag,
    )
    from kafkawire.admin.group_offsets import (
        CommittedOffset,
        SharePartitionOffset,
    )
    from kafkawire.admin.groups import (
        ClassicGroupDescription,
        ClassicGroupMember,
        ConsumerGroupDescription,
        ConsumerGroupMember,
        GroupListing,
        GroupState,
        GroupType,
        MemberToRemove,
        ShareGroupDescription,
        ShareGroupMember,
    )
    from kafkawire.admin.nodes import (
        Node,
    )
    from kafkawire.admin.offset_resets import (
        ByDuration,
        ResetOffset,
        ShiftBy,
        ToCurrent,
        ToOffset,
        ToTime,
    )
    from kafkawire.admin.partitions import (
        ElectionType,
        IsolationLevel,
        ListedOffset,
        OffsetRange,
        OffsetSpec,
        PartitionReassignment,
    )
    from kafkawire.admin.quota_configs import (
        QuotaConfig,
        QuotaResource,
        QuotaResourceType,
    )
    from kafkawire.admin.quota_matching import (
        QuotaIndex,
    )
    from kafkawire.admin.quotas import (
        CONNECTION_CREATION_RATE,
        CONSUMER_BYTE_RATE,
        CONTROLLER_MUTATION_RATE,
        PRODUCER_BYTE_RATE,
        REQUEST_PERCENTAGE,
        ClientQuotaAlteration,
        ClientQuotaEntity,
        ClientQuotaFilter,
        ClientQuotaFilterComponent,
        QuotaMatch,
    )
    from kafkawire.admin.requirements import (
        REQUIREMENTS,
        Capability,
        Requirements,
        Right,
        Support,
    )
    from kafkawire.admin.results import (
        Results,
    )
    from kafkawire.admin.scram import (
        ScramCredentialInfo,
        ScramDeletion,
        ScramMechanism,
        ScramUpsertion,
    )
    from kafkawire.admin.settings import (
        AdminSettings,
    )
    from kafkawire.admin.streams_groups import (
        StreamsGroupDescription,
        StreamsGroupMember,
        StreamsNodeType,
        StreamsTopologyDescription,
        StreamsTopologyDescriptionStatus,
        StreamsTopologyNode,
    )
    from kafkawire.admin.tokens import (
        DelegationToken,
    )
    from kafkawire.admin.topic_partitions import (
        TopicPartition,
    )
    from kafkawire.admin.topics import (
        CreatedTopic,
        CreatedTopicConfig,
        NewPartitions,
        NewTopic,
        PartitionDescription,
        TopicDescription,
        TopicListing,
    )
    from kafkawire.admin.transactions import (
        AbortTransactionSpec,
        FencedProducer,
        HangingTransaction,
        ProducerState,
        TransactionDescription,
        TransactionListing,
        TransactionState,
    )

__all__ = [
    "CONNECTION_CREATION_RATE",
    "CONSUMER_BYTE_RATE",
    "CONTROLLER_MUTATION_RATE",
    "PRODUCER_BYTE_RATE",
    "REQUEST_PERCENTAGE",
    "REQUIREMENTS",
    "AbortTransactionSpec",
    "AclBinding",
    "AclBindingFilter",
    "AclEvaluator",
    "AclIndex",
    "AclOperation",
    "AclPermissionType",
    "AdminClient",
    "AdminSettings",
    "BlockingAdminClient",
    "ByDuration",
    "Capability",
    "ClassicGroupDescription",
    "ClassicGroupMember",
    "ClientQuotaAlteration",
    "ClientQuotaEntity",
    "ClientQuotaFilter",
    "ClientQuotaFilterComponent",
    "ClusterDescription",
    "ClusterNode",
    "CommittedOffset",
    "ConfigChange",
    "ConfigEntry",
    "ConfigOperation",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSource",
    "ConfigSynonym",
    "ConfigType",
    "ConsumerGroupDescription",
    "ConsumerGroupMember",
    "CreatedTopic",
    "CreatedTopicConfig",
    "Credentials",
    "CredentialsCallback",
    "Decision",
    "DelegationToken",
    "DeletedAcls",
    "DescribedAcls",
    "DescribedQuotas",
    "EffectiveQuota",
    "EffectiveQuotas",
    "ElectionType",
    "FeatureLevels",
    "FeatureUpdate",
    "Features",
    "FencedProducer",
    "Gathered",
    "GroupLag",
    "GroupListing",
    "GroupState",
    "GroupType",
    "HangingTransaction",
    "IsolationLevel",
    "ListedOffset",
    "LogDir",
    "MemberToRemove",
    "MetadataQuorum",
    "NewPartitions",
    "NewTopic",
    "Node",
    "OAuthBearerCredentials",
    "OffsetRange",
    "OffsetSpec",
    "PartitionDescription",
    "PartitionLag",
    "PartitionReassignment",
    "PatternType",
    "PlainCredentials",
    "ProducerState",
    "QuorumReplica",
    "QuotaConfig",
    "QuotaIndex",
    "QuotaMatch",
    "QuotaResource",
    "QuotaResourceType",
    "RaftEndpoint",
    "Reason",
    "Replica",
    "ReplicaInfo",
    "ReplicaLogDirs",
    "Requirements",
    "ResetOffset",
    "ResourceType",
    "Results",
    "Right",
    "ScramCredentialInfo",
    "ScramCredentials",
    "ScramDeletion",
    "ScramMechanism",
    "ScramUpsertion",
    "ShareGroupDescription",
    "ShareGroupMember",
    "SharePartitionOffset",
    "ShiftBy",
    "StreamsGroupDescription",
    "StreamsGroupMember",
    "StreamsNodeType",
    "StreamsTopologyDescription",
    "StreamsTopologyDescriptionStatus",
    "StreamsTopologyNode",
    "Support",
    "Tls",
    "ToCurrent",
    "ToOffset",
    "ToTime",
    "TopicDescription",
    "TopicListing",
    "TopicPartition",
    "TransactionDescription",
    "TransactionListing",
    "TransactionState",
    "UpgradeType",
]

_MODULES = {
    "acl_evaluation": "AclEvaluator Decision Reason",
    "acl_matching": "AclIndex",
    "acls": "AclBinding AclBindingFilter AclOperation AclPermissionType PatternType ResourceType",
    "blocking": "BlockingAdminClient",
    "client": "AdminClient",
    "cluster_descriptions": (
        "ClusterDescription ClusterNode FeatureLevels FeatureUpdate Features LogDir MetadataQuorum QuorumReplica "
        "RaftEndpoint Replica ReplicaInfo ReplicaLogDirs UpgradeType"
    ),
    "config_resources": (
        "ConfigChange ConfigEntry ConfigOperation ConfigResource ConfigResourceType ConfigSource ConfigSynonym "
        "ConfigType"
    ),
    "connection.sasl": ("Credentials CredentialsCallback OAuthBearerCredentials PlainCredentials ScramCredentials"),
    "connection.tls": "Tls",
    "effective_quotas": "EffectiveQuota EffectiveQuotas",
    "filter_results": "DeletedAcls DescribedAcls DescribedQuotas",
    "gathered": "Gathered",
    "group_lag": "GroupLag PartitionLag",
    "group_offsets": "CommittedOffset SharePartitionOffset",
    "groups": (
        "ClassicGroupDescription ClassicGroupMember ConsumerGroupDescription ConsumerGroupMember GroupListing "
        "GroupState GroupType MemberToRemove ShareGroupDescription ShareGroupMember"
    ),
    "nodes": "Node",
    "offset_resets": "ByDuration ResetOffset ShiftBy ToCurrent ToOffset ToTime",
    "partitions": "ElectionType IsolationLevel ListedOffset OffsetRange OffsetSpec PartitionReassignment",
    "quota_configs": "QuotaConfig QuotaResource QuotaResourceType",
    "quota_matching": "QuotaIndex",
    "quotas": (
        "CONNECTION_CREATION_RATE CONSUMER_BYTE_RATE CONTROLLER_MUTATION_RATE ClientQuotaAlteration "
        "ClientQuotaEntity ClientQuotaFilter ClientQuotaFilterComponent PRODUCER_BYTE_RATE QuotaMatch "
        "REQUEST_PERCENTAGE"
    ),
    "requirements": "Capability REQUIREMENTS Requirements Right Support",
    "results": "Results",
    "scram": "ScramCredentialInfo ScramDeletion ScramMechanism ScramUpsertion",
    "settings": "AdminSettings",
    "streams_groups": (
        "StreamsGroupDescription StreamsGroupMember StreamsNodeType StreamsTopologyDescription "
        "StreamsTopologyDescriptionStatus StreamsTopologyNode"
    ),
    "tokens": "DelegationToken",
    "topic_partitions": "TopicPartition",
    "topics": (
        "CreatedTopic CreatedTopicConfig NewPartitions NewTopic PartitionDescription TopicDescription TopicListing"
    ),
    "transactions": (
        "AbortTransactionSpec FencedProducer HangingTransaction ProducerState TransactionDescription "
        "TransactionListing TransactionState"
    ),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
