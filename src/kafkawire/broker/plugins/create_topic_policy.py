"""The plug-in interface of policies for new topics (KIP-108)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RequestMetadata:
    """A topic to create.

    Attributes:
        topic: its name.
        num_partitions: how many partitions, the broker's default if the request has no number; None if
            ``replicas_assignments`` is set (B2).
        replication_factor: how many replicas of each partition, likewise.
        replicas_assignments: partition to the ids of its brokers, or None.
        configs: the configurations in the request, without the broker's defaults (B3).
    """

    topic: str
    num_partitions: int | None = None
    replication_factor: int | None = None
    replicas_assignments: Mapping[int, tuple[int, ...]] | None = None
    configs: Mapping[str, str] = field(default_factory=dict)


class CreateTopicPolicy(ABC):
    """Decides which topics may be created: ``create.topic.policy.class.name=module:Class``.

    The broker calls it last, for topics that are valid otherwise (B6), also for those that are only validated (B7) or
    created automatically. All methods are called from the broker's event loop and should be quick.

    Example:
        ```python
        from kafkawire.broker import CreateTopicPolicy, RequestMetadata
        from kafkawire.protocol.errors import PolicyViolationError


        class TeamNames(CreateTopicPolicy):  # create.topic.policy.class.name=policies:TeamNames
            def validate(self, request: RequestMetadata) -> None:
                if "." not in request.topic:
                    raise PolicyViolationError(f"{request.topic}: the name must be TEAM.NAME")
        ```
    """

    def configure(self, configs: Mapping[str, str]) -> None:  # noqa: B027 most need nothing
        """Called once before anything else, with the properties of the broker (B1)."""

    @abstractmethod
    def validate(self, request: RequestMetadata) -> None:
        """Accept a topic, or raise.

        Raises:
            PolicyViolationError: the topic is refused; the client gets the message. Another error of
                `kafkawire.protocol.errors` is sent to the client too. Any other exception is a defect: the client gets
                UNKNOWN_SERVER_ERROR, and the exception is logged. Other topics of the request are still created (B4).
        """

    def close(self) -> None:  # noqa: B027 most have nothing to close
        """Called when the broker stops."""
