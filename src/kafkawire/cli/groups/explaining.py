"""What the errors of groups mean, where brokers send a code alone."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Final, TypeVar

from kafkawire.admin import Results
from kafkawire.protocol.errors import (
    GroupIdNotFoundError,
    GroupSubscribedToTopicError,
    NonEmptyGroupError,
    UnknownMemberIdError,
)
from kafkawire.wire.kafka_errors import KafkaError

K = TypeVar("K")
V = TypeVar("V")

_MEANINGS: Final[Mapping[type[KafkaError], str]] = {
    GroupIdNotFoundError: "there is no such group; kafkawire groups list shows those that exist",
    GroupSubscribedToTopicError: "members of the group read the topic; stop them first",
    NonEmptyGroupError: "the group has members; stop them first",
    UnknownMemberIdError: "the group has no such member; kafkawire groups members shows those that it has",
}


def explained(results: Results[K, V]) -> Results[K, V]:
    """The same results; errors without a text have one."""
    return Results({item: _explained(each) if isinstance(each, KafkaError) else each for item, each in results.items()})


def _explained(error: KafkaError) -> KafkaError:
    meaning = _MEANINGS.get(type(error))
    if error.message or meaning is None:
        return error
    same = copy.copy(error)
    same.message = meaning
    return same


def meaning_of(kind: type[KafkaError]) -> KafkaError:
    """An error of a dry run, with the text that the one of a broker would have."""
    return kind(_MEANINGS[kind])
