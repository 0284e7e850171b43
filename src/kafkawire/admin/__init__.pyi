from kafkawire.admin.acl_results import DeletedAcls as DeletedAcls, DescribedAcls as DescribedAcls
from kafkawire.admin.client import AdminClient as AdminClient, BlockingAdminClient as BlockingAdminClient
from kafkawire.admin.connection.sasl.credentials import (
    Credentials as Credentials,
    CredentialsCallback as CredentialsCallback,
    OAuthBearerCredentials as OAuthBearerCredentials,
    PlainCredentials as PlainCredentials,
    ScramCredentials as ScramCredentials,
)
from kafkawire.admin.connection.tls import Tls as Tls
from kafkawire.admin.group_lag import GroupLag as GroupLag, PartitionLag as PartitionLag
from kafkawire.admin.needs import (
    Capability as Capability,
    Requirements as Requirements,
    Right as Right,
    Support as Support,
)
from kafkawire.admin.observed_requests import ObservedRequest as ObservedRequest, Observer as Observer
from kafkawire.admin.offset_resets import (
    ByDuration as ByDuration,
    ResetOffset as ResetOffset,
    ShiftBy as ShiftBy,
    ToCurrent as ToCurrent,
    ToOffset as ToOffset,
    ToTime as ToTime,
)
from kafkawire.admin.quota_results import DescribedQuotas as DescribedQuotas
from kafkawire.admin.requirements import REQUIREMENTS as REQUIREMENTS
from kafkawire.admin.results import Gathered as Gathered, Results as Results
from kafkawire.admin.settings import AdminSettings as AdminSettings
from kafkawire.admin.tokens import DelegationToken as DelegationToken
from kafkawire.model.acls.bindings import (
    AclBinding as AclBinding,
    AclBindingFilter as AclBindingFilter,
    AclOperation as AclOperation,
    AclPermissionType as AclPermissionType,
    PatternType as PatternType,
    ResourceType as ResourceType,
)
from kafkawire.model.acls.effects import AclEffects as AclEffects, acl_effects as acl_effects
from kafkawire.model.acls.evaluation import AclEvaluator as AclEvaluator, Decision as Decision, Reason as Reason
from kafkawire.model.acls.matching import AclIndex as AclIndex
from kafkawire.model.acls.minimal_set import MinimalAcls as MinimalAcls, minimise_acls as minimise_acls
from kafkawire.model.acls.regions import (
    Exemption as Exemption,
    ResourcePattern as ResourcePattern,
    ResourceRegion as ResourceRegion,
)
from kafkawire.model.acls.review import (
    AclFinding as AclFinding,
    FindingKind as FindingKind,
    review_acls as review_acls,
)
from kafkawire.model.acls.right_changes import (
    AclEffect as AclEffect,
    AclOpening as AclOpening,
    RightChange as RightChange,
)
from kafkawire.model.cluster import (
    ClusterDescription as ClusterDescription,
    ClusterNode as ClusterNode,
    FeatureLevels as FeatureLevels,
    Features as Features,
    FeatureUpdate as FeatureUpdate,
    LogDir as LogDir,
    MetadataQuorum as MetadataQuorum,
    QuorumReplica as QuorumReplica,
    RaftEndpoint as RaftEndpoint,
    Replica as Replica,
    ReplicaInfo as ReplicaInfo,
    ReplicaLogDirs as ReplicaLogDirs,
    ServedApi as ServedApi,
    UpgradeType as UpgradeType,
)
from kafkawire.model.configs.resources import (
    ConfigChange as ConfigChange,
    ConfigEntry as ConfigEntry,
    ConfigOperation as ConfigOperation,
    ConfigResource as ConfigResource,
    ConfigResourceType as ConfigResourceType,
    ConfigSource as ConfigSource,
    ConfigSynonym as ConfigSynonym,
    ConfigType as ConfigType,
)
from kafkawire.model.groups.descriptions import (
    ClassicGroupDescription as ClassicGroupDescription,
    ClassicGroupMember as ClassicGroupMember,
    ConsumerGroupDescription as ConsumerGroupDescription,
    ConsumerGroupMember as ConsumerGroupMember,
    GroupListing as GroupListing,
    GroupState as GroupState,
    GroupType as GroupType,
    MemberToRemove as MemberToRemove,
    ShareGroupDescription as ShareGroupDescription,
    ShareGroupMember as ShareGroupMember,
)
from kafkawire.model.groups.offsets import (
    CommittedOffset as CommittedOffset,
    SharePartitionOffset as SharePartitionOffset,
)
from kafkawire.model.groups.streams import (
    StreamsGroupDescription as StreamsGroupDescription,
    StreamsGroupMember as StreamsGroupMember,
    StreamsNodeType as StreamsNodeType,
    StreamsTopologyDescription as StreamsTopologyDescription,
    StreamsTopologyDescriptionStatus as StreamsTopologyDescriptionStatus,
    StreamsTopologyNode as StreamsTopologyNode,
)
from kafkawire.model.nodes import Node as Node
from kafkawire.model.partitions import (
    ElectionType as ElectionType,
    IsolationLevel as IsolationLevel,
    ListedOffset as ListedOffset,
    OffsetRange as OffsetRange,
    OffsetSpec as OffsetSpec,
    PartitionReassignment as PartitionReassignment,
    TopicPartition as TopicPartition,
)
from kafkawire.model.quotas.configs import (
    QuotaConfig as QuotaConfig,
    QuotaResource as QuotaResource,
    QuotaResourceType as QuotaResourceType,
)
from kafkawire.model.quotas.effective import EffectiveQuota as EffectiveQuota, EffectiveQuotas as EffectiveQuotas
from kafkawire.model.quotas.effects import (
    QuotaEffect as QuotaEffect,
    quota_effects as quota_effects,
    quota_effects_in_words as quota_effects_in_words,
)
from kafkawire.model.quotas.entities import (
    CONNECTION_CREATION_RATE as CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE as CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE as CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE as PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE as REQUEST_PERCENTAGE,
    ClientQuotaAlteration as ClientQuotaAlteration,
    ClientQuotaEntity as ClientQuotaEntity,
    ClientQuotaFilter as ClientQuotaFilter,
    ClientQuotaFilterComponent as ClientQuotaFilterComponent,
    QuotaMatch as QuotaMatch,
)
from kafkawire.model.quotas.matching import QuotaIndex as QuotaIndex
from kafkawire.model.scram import (
    ScramCredentialInfo as ScramCredentialInfo,
    ScramDeletion as ScramDeletion,
    ScramMechanism as ScramMechanism,
    ScramUpsertion as ScramUpsertion,
)
from kafkawire.model.selections import Selection as Selection
from kafkawire.model.topics import (
    CreatedTopic as CreatedTopic,
    CreatedTopicConfig as CreatedTopicConfig,
    NewPartitions as NewPartitions,
    NewTopic as NewTopic,
    PartitionDescription as PartitionDescription,
    TopicDescription as TopicDescription,
    TopicListing as TopicListing,
)
from kafkawire.model.transactions import (
    AbortTransactionSpec as AbortTransactionSpec,
    FencedProducer as FencedProducer,
    HangingTransaction as HangingTransaction,
    ProducerState as ProducerState,
    TransactionDescription as TransactionDescription,
    TransactionListing as TransactionListing,
    TransactionState as TransactionState,
)
