from kafkawire.broker.clock import (
    Clock as Clock,
)
from kafkawire.broker.clock import (
    ManualClock as ManualClock,
)
from kafkawire.broker.clock import (
    SystemClock as SystemClock,
)
from kafkawire.broker.configuration.broker_configuration import (
    ConfigurationError as ConfigurationError,
)
from kafkawire.broker.embedded import (
    EmbeddedBroker as EmbeddedBroker,
)
from kafkawire.broker.faults import (
    Fault as Fault,
)
from kafkawire.broker.faults import (
    Faults as Faults,
)
from kafkawire.broker.plugins.alter_config_policy import (
    AlterConfigPolicy as AlterConfigPolicy,
)
from kafkawire.broker.plugins.alter_config_policy import (
    ConfigRequestMetadata as ConfigRequestMetadata,
)
from kafkawire.broker.plugins.authorizer import (
    Authorizer as Authorizer,
)
from kafkawire.broker.plugins.client_quota_callback import (
    ClientQuotaCallback as ClientQuotaCallback,
)
from kafkawire.broker.plugins.client_quota_callback import (
    ClientQuotaEntity as ClientQuotaEntity,
)
from kafkawire.broker.plugins.client_quota_callback import (
    ClientQuotaType as ClientQuotaType,
)
from kafkawire.broker.plugins.client_quota_callback import (
    ConfigEntity as ConfigEntity,
)
from kafkawire.broker.plugins.client_quota_callback import (
    ConfigEntityType as ConfigEntityType,
)
from kafkawire.broker.plugins.cluster_metadata import (
    ClusterMetadata as ClusterMetadata,
)
from kafkawire.broker.plugins.cluster_metadata import (
    ClusterNode as ClusterNode,
)
from kafkawire.broker.plugins.cluster_metadata import (
    PartitionMetadata as PartitionMetadata,
)
from kafkawire.broker.plugins.create_topic_policy import (
    CreateTopicPolicy as CreateTopicPolicy,
)
from kafkawire.broker.plugins.create_topic_policy import (
    RequestMetadata as RequestMetadata,
)
from kafkawire.broker.sessions import (
    Principal as Principal,
)
from kafkawire.broker.sessions import (
    Session as Session,
)
from kafkawire.broker.storage.errors import (
    CorruptLogError as CorruptLogError,
)
from kafkawire.broker.storage.errors import (
    DataDirectoryError as DataDirectoryError,
)
from kafkawire.broker.storage.errors import (
    StorageError as StorageError,
)
from kafkawire.broker.threaded import (
    ThreadedBroker as ThreadedBroker,
)
