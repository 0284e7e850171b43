"""The records of ``__consumer_offsets``: which versions they have, and which group they are of."""

from __future__ import annotations

import pytest

from kafkawire.broker.groups.records import GROUP_RECORDS
from kafkawire.broker.groups.state import CONSUMER_KEYS, SHARE_KEYS, STREAMS_KEYS
from kafkawire.protocol import (
    ConsumerGroupMemberMetadataValue,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    ShareGroupMetadataValue,
    StreamsGroupTopologyValue,
)
from kafkawire.wire import Message


@pytest.mark.parametrize(
    ("value", "version"),
    [
        (OffsetCommitValue(), 4),
        (OffsetCommitValue(expire_timestamp=0), 1),
        (OffsetCommitValue(expire_timestamp=-2), 1),
        (GroupMetadataValue(), 3),
        (ConsumerGroupMemberMetadataValue(), 0),
        (ShareGroupMetadataValue(), 0),
        (StreamsGroupTopologyValue(), 0),
        (None, None),
    ],
)
def test_records_have_the_versions_of_apache_kafka(value: Message | None, version: int | None) -> None:
    """A commit that expires has the only version that can say so."""
    assert GROUP_RECORDS.value_version(value) == version


def test_each_record_names_its_group() -> None:
    keys = [GroupMetadataKey("g"), OffsetCommitKey("g", "orders", 0)]
    keys += [key(group_id="g") for key in (*CONSUMER_KEYS, *SHARE_KEYS, *STREAMS_KEYS)]
    assert {GROUP_RECORDS.owner(key) for key in keys} == {"g"}
