"""Values of planned items: configs, and which of them are secret."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from kafkawire.declared.planned import ValueChange
from kafkawire.declared.wording import HIDDEN
from kafkawire.model.configs.resources import ConfigResource, ConfigResourceType
from kafkawire.model.configs.sensitive import is_sensitive
from kafkawire.model.quotas.configs import number_in_words
from kafkawire.model.scram import UserMechanism

Configs: TypeAlias = Mapping[str, str | None]

SecretKey: TypeAlias = UserMechanism | tuple[ConfigResource, str]
"""Whose secret: a credential, or a config of a resource."""


def changed_configs(
    resource: ConfigResource,
    declared: Configs,
    current: Configs,
    secrets: Collection[SecretKey],
    *,
    set_secrets: bool,
) -> Iterator[ValueChange]:
    """The configs of a resource that are to change; others than the declared ones stay as they are.

    Args:
        resource: that has them.
        declared: those that are declared; None for one that must not be set.
        current: those that are set; None for one that is set and sensitive.
        secrets: configs that are declared with a secret, although their value is None.
        set_secrets: whether sensitive ones that are set are set again.
    """
    for name, value in sorted(declared.items()):
        wanted = value is not None or (resource, name) in secrets
        hidden = is_secret(resource, name)
        unknown = name in current and current[name] is None
        if not wanted:
            if name in current:
                yield ValueChange(name, HIDDEN if hidden or unknown else current[name], None)
        elif hidden or value is None:
            if name not in current:
                yield ValueChange(name, None, HIDDEN)
            elif set_secrets:
                yield ValueChange(name, HIDDEN, HIDDEN)
        elif unknown:
            if set_secrets:
                yield ValueChange(name, HIDDEN, value)
        elif current.get(name) != value:
            yield ValueChange(name, current.get(name), value)


def is_secret(resource: ConfigResource, name: str) -> bool:
    """Whether a plan hides the values of a config. Kafka has no secret configs of topics, and documents hold none."""
    return resource.resource_type is not ConfigResourceType.TOPIC and is_sensitive(resource.resource_type, name)


def config_values(resource: ConfigResource, configs: Configs) -> dict[str, str | None]:
    """Configs for people: without secrets."""
    return {
        name: HIDDEN if value is None or is_secret(resource, name) else value for name, value in sorted(configs.items())
    }


def number(value: int | None) -> str | None:
    """A number in words."""
    return None if value is None else str(value)


def quota_values(quotas: Mapping[str, float | None]) -> dict[str, str | None]:
    """Quotas for people."""
    return {key: None if value is None else number_in_words(value) for key, value in sorted(quotas.items())}
