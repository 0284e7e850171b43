"""What the configuration of a topic demands of those who write to it."""

from __future__ import annotations

from typing import Final

from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration, SetConfigs
from kafkawire.broker.partitions.checked_batch import AppendRules
from kafkawire.model.configs.checks import Value
from kafkawire.model.configs.definitions import definitions

__all__ = ["TopicDemands"]

_TOPIC: Final = 2


class TopicDemands:
    """Looks up configurations of topics.

    Args:
        configs: what is set for topics.
        configuration: what holds for topics that set nothing.
    """

    def __init__(self, configs: SetConfigs, configuration: DynamicConfiguration) -> None:
        self._configs = configs
        self._configuration = configuration

    def append_rules(self, topic: str) -> AppendRules:
        """What records of a topic must be."""
        cleanup = self._value(topic, "cleanup.policy", "log.cleanup.policy")
        most = self._value(topic, "max.message.bytes", "message.max.bytes")
        return AppendRules(
            max_message_bytes=most if isinstance(most, int) else 0,
            log_append_time=self._value(topic, "message.timestamp.type", "log.message.timestamp.type")
            == "LogAppendTime",
            needs_keys=isinstance(cleanup, tuple) and "compact" in cleanup,
        )

    def _value(self, topic: str, name: str, of_brokers: str) -> Value:
        text = self._configs.of(_TOPIC, topic).get(name)
        if text is None:
            return self._configuration.value(of_brokers)
        return definitions().topic[name].value(name, text)
