"""What configurations may be changed to (KIP-133)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from kafkawire.model.configs.resources import ConfigResource

__all__ = ["AlterConfigPolicy", "ConfigRequestMetadata"]


@dataclass(frozen=True, slots=True)
class ConfigRequestMetadata:
    """The change that somebody wants to make (B11).

    Attributes:
        resource: what is changed.
        configs: name to the value that would result, None for what would be removed. Names whose value stays are left
            out, and so are those that are removed only because a whole configuration is replaced. In no representation,
            since some are passwords.
    """

    resource: ConfigResource
    configs: Mapping[str, str | None] = field(default_factory=dict, repr=False)


class AlterConfigPolicy(ABC):
    """Decides which configurations may be set: ``alter.config.policy.class.name=module:Class``.

    It is asked about topics, brokers, groups and client metrics, about new topics that set something too, and for
    changes that are only validated. All methods are called from the broker's event loop and should be quick.
    """

    def configure(self, configs: Mapping[str, str]) -> None:  # noqa: B027 most need nothing
        """Called once before anything else, with the properties of the broker."""

    @abstractmethod
    def validate(self, request: ConfigRequestMetadata) -> None:
        """Let a change be made, or not.

        Raises:
            PolicyViolationError: it must not be; the message is what the client reads. Other errors are told as those
                of a `CreateTopicPolicy` are.
        """

    def close(self) -> None:  # noqa: B027 most have nothing to let go of
        """The broker stops."""
