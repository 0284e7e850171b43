"""The policy of the demonstration's broker for new topics (KIP-108)."""

from __future__ import annotations

from collections.abc import Mapping

from kafkawire.broker.plugins.create_topic_policy import CreateTopicPolicy, RequestMetadata
from kafkawire.protocol.errors import PolicyViolationError

MAXIMUM_PARTITIONS = 12


class PartitionLimit(CreateTopicPolicy):
    """Refuses topics of more than ``MAXIMUM_PARTITIONS`` partitions."""

    def configure(self, configs: Mapping[str, object]) -> None:
        """There is nothing to configure."""

    def validate(self, request: RequestMetadata) -> None:
        """Validate one topic.

        Raises:
            PolicyViolationError: it would have too many partitions.
        """
        partitions = request.num_partitions or 0
        if partitions > MAXIMUM_PARTITIONS:
            raise PolicyViolationError(
                f"{request.topic} would have {partitions} partitions; at most {MAXIMUM_PARTITIONS}"
            )

    def close(self) -> None:
        """There is nothing to close."""
