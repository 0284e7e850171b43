"""The policies and the quota callback of ``tests/interop/java/policies`` in Python."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafkawire.broker import (
    ClientQuotaCallback,
    ClientQuotaEntity,
    ClientQuotaType,
    ConfigEntityType,
    ConfigurationError,
    Principal,
    Reconfigurable,
)
from kafkawire.broker.plugins.alter_config_policy import AlterConfigPolicy, ConfigRequestMetadata
from kafkawire.broker.plugins.create_topic_policy import CreateTopicPolicy, RequestMetadata
from kafkawire.protocol.errors import InvalidConfigError, PolicyViolationError

_SHOWN = {"flush.messages", "log.flush.interval.messages", "consumer.session.timeout.ms", "interval.ms"}


class NamesDecide(CreateTopicPolicy):
    """Finds its decision in a topic's name, and its message has its arguments."""

    def validate(self, request: RequestMetadata) -> None:
        topic = request.topic
        if topic.startswith("forbidden"):
            raise PolicyViolationError(f"no topic may be called {topic}")
        if topic.startswith("misconfigured"):
            raise InvalidConfigError(f"the policy does not like the configs of {topic}")
        if topic.startswith("broken"):
            raise RuntimeError("a defect of the policy")
        if topic.startswith("shown"):
            places = request.replicas_assignments
            raise PolicyViolationError(
                f"{_java(request.num_partitions)} partitions, {_java(request.replication_factor)} replicas, "
                f"assigned {_java(places and {at: list(brokers) for at, brokers in places.items()})}, "
                f"configs {_java(request.configs)}"
            )


class ConfigsDecide(AlterConfigPolicy):
    """Finds its decision in the names that change, and its message has its arguments."""

    def validate(self, request: ConfigRequestMetadata) -> None:
        configs = dict(sorted(request.configs.items()))
        if "index.interval.bytes" in configs:
            raise InvalidConfigError("the policy does not like index.interval.bytes")
        if "file.delete.delay.ms" in configs:
            raise RuntimeError("a defect of the policy")
        if not _SHOWN.isdisjoint(configs):
            resource = request.resource
            raise PolicyViolationError(f"{resource.resource_type.name} {resource.name} {_java(configs)}")


def _java(value: object) -> str:
    """As Java writes it."""
    match value:
        case None:
            return "null"
        case Mapping():
            return "{" + ", ".join(f"{key}={_java(one)}" for key, one in value.items()) + "}"
    return str(value)


class Doubled(ClientQuotaCallback, Reconfigurable):
    """Gives each client id twice its quota, and accepts other factors."""

    def __init__(self) -> None:
        self._limits: dict[tuple[ClientQuotaType, str], float] = {}

    def reconfigurable_configs(self) -> Collection[str]:
        return {"doubled.factor"}

    def validate_reconfiguration(self, configs: Mapping[str, str]) -> None:
        factor = configs.get("doubled.factor")
        if factor == "broken":
            raise RuntimeError("a defect of the callback")
        if factor is not None and not factor.isdecimal():
            raise ConfigurationError(f"the factor is a number, not {factor}")

    def reconfigure(self, configs: Mapping[str, str]) -> None:
        """Nothing depends on the factor here."""

    def quota_metric_tags(self, quota_type: ClientQuotaType, principal: Principal, client_id: str) -> Mapping[str, str]:
        return {"client": client_id}

    def quota_limit(self, quota_type: ClientQuotaType, metric_tags: Mapping[str, str]) -> float | None:
        limit = self._limits.get((quota_type, metric_tags["client"]))
        return None if limit is None else limit * 2

    def update_quota(self, quota_type: ClientQuotaType, quota_entity: ClientQuotaEntity, new_value: float) -> None:
        for entity in quota_entity.config_entities:
            if entity.entity_type is ConfigEntityType.CLIENT_ID:
                self._limits[quota_type, entity.name] = new_value

    def remove_quota(self, quota_type: ClientQuotaType, quota_entity: ClientQuotaEntity) -> None:
        for entity in quota_entity.config_entities:
            self._limits.pop((quota_type, entity.name), None)
