from kafkawire.admin.blocking import (
    BlockingAdminClient as BlockingAdminClient,
)
from kafkawire.admin.client import (
    AdminClient as AdminClient,
)
from kafkawire.admin.connection.sasl import (
    Credentials as Credentials,
)
from kafkawire.admin.connection.sasl import (
    CredentialsCallback as CredentialsCallback,
)
from kafkawire.admin.connection.sasl import (
    OAuthBearerCredentials as OAuthBearerCredentials,
)
from kafkawire.admin.connection.sasl import (
    PlainCredentials as PlainCredentials,
)
from kafkawire.admin.connection.sasl import (
    ScramCredentials as ScramCredentials,
)
from kafkawire.admin.connection.tls import (
    Tls as Tls,
)
from kafkawire.admin.filter_results import (
    DeletedAcls as DeletedAcls,
)
from kafkawire.admin.filter_results import (
    DescribedAcls as DescribedAcls,
)
from kafkawire.admin.filter_results import (
    DescribedQuotas as DescribedQuotas,
)
from kafkawire.admin.group_lag import (
    GroupLag as GroupLag,
)
from kafkawire.admin.group_lag import (
    PartitionLag as PartitionLag,
)
from kafkawire.admin.offset_resets import (
    ByDuration as ByDuration,
)
from kafkawire.admin.offset_resets import (
    ResetOffset as ResetOffset,
)
from kafkawire.admin.offset_resets import (
    ShiftBy as ShiftBy,
)
from kafkawire.admin.offset_resets import (
    ToCurrent as ToCurrent,
)
from kafkawire.admin.offset_resets import (
    ToOffset as ToOffset,
)
from kafkawire.admin.offset_resets import (
    ToTime as ToTime,
)
from kafkawire.admin.requirements import (
    REQUIREMENTS as REQUIREMENTS,
)
from kafkawire.admin.requirements import (
    Capability as Capability,
)
from kafkawire.admin.requirements import (
    Requirements as Requirements,
)
from kafkawire.admin.requirements import (
    Right as Right,
)
from kafkawire.admin.requirements import (
    Support as Support,
)
from kafkawire.admin.results import (
    Gathered as Gathered,
)
from kafkawire.admin.results import (
    Results as Results,
)
from kafkawire.admin.settings import (
    AdminSettings as AdminSettings,
)
from kafkawire.admin.tokens import (
    DelegationToken as DelegationToken,
)
from kafkawire.model.acls.bindings import (
    AclBinding as AclBinding,
)
from kafkawire.model.acls.bindings import (
    AclBindingFilter as AclBindingFilter,
)
from kafkawire.model.acls.bindings import (
    AclOperation as AclOperation,
)
from kafkawire.model.acls.bindings import (
    AclPermissionType as AclPermissionType,
)
from kafkawire.model.acls.bindings import (
    PatternType as PatternType,
)
from kafkawire.model.acls.bindings import (
    ResourceType as ResourceType,
)
from kafkawire.model.acls.evaluation import (
    AclEvaluator as AclEvaluator,
)
from kafkawire.model.acls.evaluation import (
    Decision as Decision,
)
from kafkawire.model.acls.evaluation import (
    Reason as Reason,
)
from kafkawire.model.acls.matching import (
    AclIndex as AclIndex,
)
from kafkawire.model.cluster import (
    ClusterDescription as ClusterDescription,
)
from kafkawire.model.cluster import (
    ClusterNode as ClusterNode,
)
from kafkawire.model.cluster import (
    FeatureLevels as FeatureLevels,
)
from kafkawire.model.cluster import (
    Features as Features,
)
from kafkawire.model.cluster import (
    FeatureUpdate as FeatureUpdate,
)
from kafkawire.model.cluster import (
    LogDir as LogDir,
)
from kafkawire.model.cluster import (
    MetadataQuorum as MetadataQuorum,
)
from kafkawire.model.cluster import (
    QuorumReplica as QuorumReplica,
)
from kafkawire.model.cluster import (
    RaftEndpoint as RaftEndpoint,
)
from kafkawire.model.cluster import (
    Replica as Replica,
)
from kafkawire.model.cluster import (
    ReplicaInfo as ReplicaInfo,
)
from kafkawire.model.cluster import (
    ReplicaLogDirs as ReplicaLogDirs,
)
from kafkawire.model.cluster import (
    UpgradeType as UpgradeType,
)
from kafkawire.model.configs.resources import (
    ConfigChange as ConfigChange,
)
from kafkawire.model.configs.resources import (
    ConfigEntry as ConfigEntry,
)
from kafkawire.model.configs.resources import (
    ConfigOperation as ConfigOperation,
)
from kafkawire.model.configs.resources import (
    ConfigResource as ConfigResource,
)
from kafkawire.model.configs.resources import (
    ConfigResourceType as ConfigResourceType,
)
from kafkawire.model.configs.resources import (
    ConfigSource as ConfigSource,
)
from kafkawire.model.configs.resources import (
    ConfigSynonym as ConfigSynonym,
)
from kafkawire.model.configs.resources import (
    ConfigType as ConfigType,
)
from kafkawire.model.groups.descriptions import (
    ClassicGroupDescription as ClassicGroupDescription,
)
from kafkawire.model.groups.descriptions import (
    ClassicGroupMember as ClassicGroupMember,
)
from kafkawire.model.groups.descriptions import (
    ConsumerGroupDescription as ConsumerGroupDescription,
)
from kafkawire.model.groups.descriptions import (
    ConsumerGroupMember as ConsumerGroupMember,
)
from kafkawire.model.groups.descriptions import (
    GroupListing as GroupListing,
)
from kafkawire.model.groups.descriptions import (
    GroupState as GroupState,
)
from kafkawire.model.groups.descriptions import (
    GroupType as GroupType,
)
from kafkawire.model.groups.descriptions import (
    MemberToRemove as MemberToRemove,
)
from kafkawire.model.groups.descriptions import (
    ShareGroupDescription as ShareGroupDescription,
)
from kafkawire.model.groups.descriptions import (
    ShareGroupMember as ShareGroupMember,
)
from kafkawire.model.groups.offsets import (
    CommittedOffset as CommittedOffset,
)
from kafkawire.model.groups.offsets import (
    SharePartitionOffset as SharePartitionOffset,
)
from kafkawire.model.groups.streams import (
    StreamsGroupDescription as StreamsGroupDescription,
)
from kafkawire.model.groups.streams import (
    StreamsGroupMember as StreamsGroupMember,
)
from kafkawire.model.groups.streams import (
    StreamsNodeType as StreamsNodeType,
)
from kafkawire.model.groups.streams import (
    StreamsTopologyDescription as StreamsTopologyDescription,
)
from kafkawire.model.groups.streams import (
    StreamsTopologyDescriptionStatus as StreamsTopologyDescriptionStatus,
)
from kafkawire.model.groups.streams import (
    StreamsTopologyNode as StreamsTopologyNode,
)
from kafkawire.model.nodes import (
    Node as Node,
)
from kafkawire.model.partitions import (
    ElectionType as ElectionType,
)
from kafkawire.model.partitions import (
    IsolationLevel as IsolationLevel,
)
from kafkawire.model.partitions import (
    ListedOffset as ListedOffset,
)
from kafkawire.model.partitions import (
    OffsetRange as OffsetRange,
)
from kafkawire.model.partitions import (
    OffsetSpec as OffsetSpec,
)
from kafkawire.model.partitions import (
    PartitionReassignment as PartitionReassignment,
)
from kafkawire.model.partitions import (
    TopicPartition as TopicPartition,
)
from kafkawire.model.quotas.configs import (
    QuotaConfig as QuotaConfig,
)
from kafkawire.model.quotas.configs import (
    QuotaResource as QuotaResource,
)
from kafkawire.model.quotas.configs import (
    QuotaResourceType as QuotaResourceType,
)
from kafkawire.model.quotas.effective import (
    EffectiveQuota as EffectiveQuota,
)
from kafkawire.model.quotas.effective import (
    EffectiveQuotas as EffectiveQuotas,
)
from kafkawire.model.quotas.entities import (
    CONNECTION_CREATION_RATE as CONNECTION_CREATION_RATE,
)
from kafkawire.model.quotas.entities import (
    CONSUMER_BYTE_RATE as CONSUMER_BYTE_RATE,
)
from kafkawire.model.quotas.entities import (
    CONTROLLER_MUTATION_RATE as CONTROLLER_MUTATION_RATE,
)
from kafkawire.model.quotas.entities import (
    PRODUCER_BYTE_RATE as PRODUCER_BYTE_RATE,
)
from kafkawire.model.quotas.entities import (
    REQUEST_PERCENTAGE as REQUEST_PERCENTAGE,
)
from kafkawire.model.quotas.entities import (
    ClientQuotaAlteration as ClientQuotaAlteration,
)
from kafkawire.model.quotas.entities import (
    ClientQuotaEntity as ClientQuotaEntity,
)
from kafkawire.model.quotas.entities import (
    ClientQuotaFilter as ClientQuotaFilter,
)
from kafkawire.model.quotas.entities import (
    ClientQuotaFilterComponent as ClientQuotaFilterComponent,
)
from kafkawire.model.quotas.entities import (
    QuotaMatch as QuotaMatch,
)
from kafkawire.model.quotas.matching import (
    QuotaIndex as QuotaIndex,
)
from kafkawire.model.scram import (
    ScramCredentialInfo as ScramCredentialInfo,
)
from kafkawire.model.scram import (
    ScramDeletion as ScramDeletion,
)
from kafkawire.model.scram import (
    ScramMechanism as ScramMechanism,
)
from kafkawire.model.scram import (
    ScramUpsertion as ScramUpsertion,
)
from kafkawire.model.topics import (
    CreatedTopic as CreatedTopic,
)
from kafkawire.model.topics import (
    CreatedTopicConfig as CreatedTopicConfig,
)
from kafkawire.model.topics import (
    NewPartitions as NewPartitions,
)
from kafkawire.model.topics import (
    NewTopic as NewTopic,
)
from kafkawire.model.topics import (
    PartitionDescription as PartitionDescription,
)
from kafkawire.model.topics import (
    TopicDescription as TopicDescription,
)
from kafkawire.model.topics import (
    TopicListing as TopicListing,
)
from kafkawire.model.transactions import (
    AbortTransactionSpec as AbortTransactionSpec,
)
from kafkawire.model.transactions import (
    FencedProducer as FencedProducer,
)
from kafkawire.model.transactions import (
    HangingTransaction as HangingTransaction,
)
from kafkawire.model.transactions import (
    ProducerState as ProducerState,
)
from kafkawire.model.transactions import (
    TransactionDescription as TransactionDescription,
)
from kafkawire.model.transactions import (
    TransactionListing as TransactionListing,
)
from kafkawire.model.transactions import (
    TransactionState as TransactionState,
)
