"""Topics that come into being because somebody asks about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.topic_names import check_topic_name
from kafkawire.broker.topics.creation import TopicCreation
from kafkawire.broker.topics.internal_topics import internal_topic
from kafkawire.protocol import CreateTopicsRequest
from kafkawire.protocol.errors import PolicyViolationError

__all__ = ["AutomaticCreation"]

_LEFT_TO_BROKER: Final = -1

_Topic = CreateTopicsRequest.CreatableTopic


class AutomaticCreation:
    """Creates topics by themselves (``auto.create.topics.enable``), and those that brokers keep for themselves.

    Args:
        creation: creates topics.
        configuration: the broker's.
    """

    def __init__(self, creation: TopicCreation, configuration: Values) -> None:
        self._creation = creation
        self._configuration = configuration

    @property
    def is_enabled(self) -> bool:
        """Whether topics are created so."""
        return self._configuration.boolean("auto.create.topics.enable")

    async def create(self, names: Iterable[str], take: Callable[[int], None]) -> None:
        """Create topics; those that cannot be are not there afterwards, and nobody is told why.

        Args:
            names: illegal ones are passed over.
            take: asks a quota for so many partitions; raises ThrottlingQuotaExceededError.
        """
        topics = [
            internal_topic(name, self._configuration) or _Topic(name, _LEFT_TO_BROKER, _LEFT_TO_BROKER)
            async for name in in_slices(names)
            if _is_legal(name)
        ]
        try:
            await self._creation.create(topics, take)
        except PolicyViolationError:
            return


def _is_legal(name: str) -> bool:
    try:
        check_topic_name(name)
    except ItemError:
        return False
    return True
