from kafkawire.broker.clock import (
    Clock as Clock,
    ManualClock as ManualClock,
    SystemClock as SystemClock,
)
from kafkawire.broker.configuration.broker_configuration import (
    ConfigurationError as ConfigurationError,
)
from kafkawire.broker.embedded import (
    EmbeddedBroker as EmbeddedBroker,
)
from kafkawire.broker.faults.chance import (
    Chance as Chance,
)
from kafkawire.broker.faults.fault import (
    Fault as Fault,
)
from kafkawire.broker.faults.faults import (
    Faults as Faults,
)
from kafkawire.broker.plugins.alter_config_policy import (
    AlterConfigPolicy as AlterConfigPolicy,
    ConfigRequestMetadata as ConfigRequestMetadata,
)
from kafkawire.broker.plugins.authorizer import (
    Authorizer as Authorizer,
)
from kafkawire.broker.plugins.client_quota_callback import (
    ClientQuotaCallback as ClientQuotaCallback,
    ClientQuotaEntity as ClientQuotaEntity,
    ClientQuotaType as ClientQuotaType,
    ConfigEntity as ConfigEntity,
    ConfigEntityType as ConfigEntityType,
)
from kafkawire.broker.plugins.cluster_metadata import (
    ClusterMetadata as ClusterMetadata,
    ClusterNode as ClusterNode,
    PartitionMetadata as PartitionMetadata,
)
from kafkawire.broker.plugins.create_topic_policy import (
    CreateTopicPolicy as CreateTopicPolicy,
    RequestMetadata as RequestMetadata,
)
from kafkawire.broker.plugins.reconfigurable import (
    Reconfigurable as Reconfigurable,
)
from kafkawire.broker.quotas.metrics import (
    QuotaMetric as QuotaMetric,
)
from kafkawire.broker.request_log import (
    ReceivedRequest as ReceivedRequest,
    RequestLog as RequestLog,
    ResponseError as ResponseError,
)
from kafkawire.broker.sessions import (
    Principal as Principal,
    Session as Session,
)
from kafkawire.broker.state_copy import (
    StateCopy as StateCopy,
)
from kafkawire.broker.storage.errors import (
    CorruptLogError as CorruptLogError,
    DataDirectoryError as DataDirectoryError,
    StorageError as StorageError,
)
from kafkawire.broker.threaded import (
    ThreadedBroker as ThreadedBroker,
)
