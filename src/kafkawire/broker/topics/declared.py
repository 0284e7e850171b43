"""The topics that a broker has from its start."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.broker.configuration.broker_configuration import ConfigurationError
from kafkawire.broker.controller import Controller
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.topics.creation import TopicCreation
from kafkawire.model.topics import NewTopic
from kafkawire.protocol.error_codes import ErrorCode


async def create_missing(topics: Sequence[NewTopic], creation: TopicCreation, controller: Controller) -> None:
    """Create the topics that do not exist; all are durable on return.

    Args:
        topics: the declared topics.
        creation: creates them as for a client, but without authorization and quota.
        controller: has the existing topics.

    Raises:
        ConfigurationError: one of them cannot be created.
        StorageError: a write failed.
    """
    existing = controller.image.topics.by_name
    missing = {topic.name: topic.to_request() for topic in topics if topic.name not in existing}
    if not missing:
        return
    outcomes = await creation.create([*missing.values()], lambda _: None)
    for name, outcome in outcomes.items():
        if isinstance(outcome, ItemError):
            code = ErrorCode(outcome.code)
            raise ConfigurationError(f"the topic {name!r} cannot be created: {outcome.message or code.name}")
    await controller.log.durable(controller.end_offset)
