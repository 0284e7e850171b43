"""What new topics must be like (KIP-108)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CreateTopicPolicy", "RequestMetadata"]


@dataclass(frozen=True, slots=True)
class RequestMetadata:
    """The topic that somebody wants to create.

    Attributes:
        topic: its name.
        num_partitions: how many partitions; None if ``replicas_assignments`` is set (B2). What the request leaves to
            the broker is the broker's default.
        replication_factor: how many replicas each; None likewise.
        replicas_assignments: partition to the ids of its brokers, or None.
        configs: what the request sets, not the broker's defaults; empty for nothing (B3).
    """

    topic: str
    num_partitions: int | None = None
    replication_factor: int | None = None
    replicas_assignments: Mapping[int, tuple[int, ...]] | None = None
    configs: Mapping[str, str] = field(default_factory=dict)


class CreateTopicPolicy(ABC):
    """Decides which topics may be created: ``create.topic.policy.class.name=module:Class``.

    It is asked last, about topics that are good otherwise (B6), also for those that are only validated (B7) and those
    that brokers create by themselves. All methods are called from the broker's event loop and should be quick.
    """

    def configure(self, configs: Mapping[str, str]) -> None:  # noqa: B027 most need nothing
        """Called once before anything else, with the properties of the broker (B1)."""

    @abstractmethod
    def validate(self, request: RequestMetadata) -> None:
        """Let a topic be created, or not.

        Raises:
            PolicyViolationError: it must not be; the message is what the client reads. Any other error of
                `kafkawire.protocol.errors` is told as it is; whatever else is raised counts as a defect: the client
                reads UNKNOWN_SERVER_ERROR, and the broker's log says more. Other topics are created all the same (B4).
        """

    def close(self) -> None:  # noqa: B027 most have nothing to let go of
        """The broker stops."""
