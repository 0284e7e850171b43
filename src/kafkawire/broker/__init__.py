"""The embedded broker: the admin plane of Apache Kafka in one Python process.

Every name is imported when it is first used. What is not named here is not promised to stay.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkawire.broker.clock import Clock, ManualClock, SystemClock
    from kafkawire.broker.configuration.broker_configuration import ConfigurationError
    from kafkawire.broker.embedded import EmbeddedBroker
    from kafkawire.broker.faults import Fault, Faults
    from kafkawire.broker.plugins.alter_config_policy import AlterConfigPolicy, ConfigRequestMetadata
    from kafkawire.broker.plugins.authorizer import Authorizer
    from kafkawire.broker.plugins.client_quota_callback import (
        ClientQuotaCallback,
        ClientQuotaEntity,
        ClientQuotaType,
        ConfigEntity,
        ConfigEntityType,
    )
    from kafkawire.broker.plugins.cluster_metadata import ClusterMetadata, ClusterNode, PartitionMetadata
    from kafkawire.broker.plugins.create_topic_policy import CreateTopicPolicy, RequestMetadata
    from kafkawire.broker.sessions import Principal, Session
    from kafkawire.broker.storage.errors import CorruptLogError, DataDirectoryError, StorageError
    from kafkawire.broker.threaded import ThreadedBroker

__all__ = [
    "AlterConfigPolicy",
    "Authorizer",
    "ClientQuotaCallback",
    "ClientQuotaEntity",
    "ClientQuotaType",
    "Clock",
    "ClusterMetadata",
    "ClusterNode",
    "ConfigEntity",
    "ConfigEntityType",
    "ConfigRequestMetadata",
    "ConfigurationError",
    "CorruptLogError",
    "CreateTopicPolicy",
    "DataDirectoryError",
    "EmbeddedBroker",
    "Fault",
    "Faults",
    "ManualClock",
    "PartitionMetadata",
    "Principal",
    "RequestMetadata",
    "Session",
    "StorageError",
    "SystemClock",
    "ThreadedBroker",
]

_MODULES = {
    "clock": "Clock ManualClock SystemClock",
    "configuration.broker_configuration": "ConfigurationError",
    "embedded": "EmbeddedBroker",
    "faults": "Fault Faults",
    "plugins.alter_config_policy": "AlterConfigPolicy ConfigRequestMetadata",
    "plugins.authorizer": "Authorizer",
    "plugins.client_quota_callback": "ClientQuotaCallback ClientQuotaEntity ClientQuotaType ConfigEntity "
    "ConfigEntityType",
    "plugins.cluster_metadata": "ClusterMetadata ClusterNode PartitionMetadata",
    "plugins.create_topic_policy": "CreateTopicPolicy RequestMetadata",
    "sessions": "Principal Session",
    "storage.errors": "CorruptLogError DataDirectoryError StorageError",
    "threaded": "ThreadedBroker",
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
