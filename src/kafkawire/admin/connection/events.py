"""What a connection reports."""

from __future__ import annotations

import msgspec

from kafkawire.admin.connection.versions import BrokerVersions
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError


class NeedsCredentials(msgspec.Struct, frozen=True):
    """The credentials are to be had from a callback: call it and give its answer to ``provide``."""


class Ready(msgspec.Struct, frozen=True):
    """Requests can be sent.

    Attributes:
        versions: what the broker offers.
    """

    versions: BrokerVersions


class Answered(msgspec.Struct, frozen=True):
    """A request was answered.

    Attributes:
        correlation_id: of the request.
        response: its answer.
        version: of both.
    """

    correlation_id: int
    response: Message
    version: int


class Failed(msgspec.Struct, frozen=True):
    """A request will not be answered.

    Attributes:
        correlation_id: of the request.
        error: why.
    """

    correlation_id: int
    error: KafkaError


class Closed(msgspec.Struct, frozen=True):
    """The connection is over; each request that was in flight has failed before this.

    Attributes:
        error: why, or None if nothing was wrong: it was idle, or the caller closed it.
    """

    error: KafkaError | None


Event = NeedsCredentials | Ready | Answered | Failed | Closed
