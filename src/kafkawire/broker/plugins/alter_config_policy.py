"""The plug-in interface of policies for changes of configurations (KIP-133)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from kafkawire.model.configs.resources import ConfigResource


@dataclass(frozen=True, slots=True)
class ConfigRequestMetadata:
    """A requested change (B11).

    Attributes:
        resource: the resource.
        configs: name to the resulting value, None for a removal. Names whose value stays the same are left out, and so
            are those that are removed because a whole configuration is replaced. ``repr`` leaves them out: some are
            passwords.
    """

    resource: ConfigResource
    configs: Mapping[str, str | None] = field(default_factory=dict, repr=False)


class AlterConfigPolicy(ABC):
    """Decides which configurations may be set: ``alter.config.policy.class.name=module:Class``.

    The broker calls it for topics, brokers, groups and client metrics, for new topics that have configurations, and for
    changes that are only validated. All methods are called from the broker's event loop and should be quick.

    Example:
        ```python
        from kafkawire.broker import AlterConfigPolicy, ConfigRequestMetadata
        from kafkawire.protocol.errors import PolicyViolationError


        class LimitedRetention(AlterConfigPolicy):  # alter.config.policy.class.name=policies:LimitedRetention
            def validate(self, request: ConfigRequestMetadata) -> None:
                if request.configs.get("retention.ms") == "-1":
                    raise PolicyViolationError(f"{request.resource.name}: set retention.ms to a time")
        ```
    """

    def configure(self, configs: Mapping[str, str]) -> None:  # noqa: B027 most need nothing
        """Called once before anything else, with the properties of the broker."""

    @abstractmethod
    def validate(self, request: ConfigRequestMetadata) -> None:
        """Accept a change, or raise.

        Raises:
            PolicyViolationError: the change is refused; the client gets the message. Other exceptions are handled as
                those of a `CreateTopicPolicy`.
        """

    def close(self) -> None:  # noqa: B027 most have nothing to close
        """Called when the broker stops."""
