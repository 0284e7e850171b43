"""How groups are in the records of ``__consumer_offsets``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Final

from kafkawire.broker.groups.state import CONSUMER_KEYS, SHARE_KEYS, STREAMS_KEYS
from kafkawire.broker.internal_topics.entries import TopicFormat
from kafkawire.broker.topic_names import OFFSETS_TOPIC
from kafkawire.protocol import GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue
from kafkawire.wire import Message

_GROUP: Final[Callable[[Message], str]] = attrgetter("group")
_OWNERS: Final[Mapping[type[Message], Callable[[Message], str]]] = MappingProxyType(
    {
        GroupMetadataKey: _GROUP,
        OffsetCommitKey: _GROUP,
        **dict.fromkeys((*CONSUMER_KEYS, *SHARE_KEYS, *STREAMS_KEYS), attrgetter("group_id")),
    }
)


def _value_version(value: Message | None) -> int | None:
    """The version that Kafka 4.3 writes: the newest, except for commits that expire, which only version 1 supports."""
    match value:
        case OffsetCommitValue():
            return 4 if value.expire_timestamp == -1 else 1
        case GroupMetadataValue():
            return 3
    return None if value is None else 0


GROUP_RECORDS: Final = TopicFormat(OFFSETS_TOPIC, _OWNERS, _value_version)
"""The records that the broker uses."""
