"""Columns of messages: the schema, nulls where a version lacks a field, ids as text."""

from __future__ import annotations

from typing import cast

import pyarrow as pa
import pytest
from tests.kafka_logs.column_rows import RECORD_NAMES, check_messages, rows

from kafkawire.columns import MessageColumns
from kafkawire.layout import Uuid
from kafkawire.protocol import (
    FetchResponse,
    GroupMetadataValue,
    NoOpRecord,
    OffsetCommitValue,
    PartitionChangeRecord,
    RegisterBrokerRecord,
    message_class,
)

COMMIT = OffsetCommitValue(7, 2, "m", 1_700_000_000_000)
NAMES = ["offset", "leader_epoch", "metadata", "commit_timestamp", "expire_timestamp", "topic_id"]


@pytest.mark.parametrize("name", RECORD_NAMES)
def test_columns_have_the_names_of_the_fields(name: str) -> None:
    columns = MessageColumns(message_class(name))
    assert columns.message is message_class(name)
    assert columns.schema.names == list(columns.message.__struct_fields__[:-1])


def test_the_schema_has_the_fields_of_all_versions() -> None:
    text: pa.DataType = pa.string()
    long, short = pa.int64(), pa.int32()
    assert MessageColumns(OffsetCommitValue).schema == pa.schema(
        dict(zip(NAMES, (long, short, text, long, long, text), strict=True))
    )
    broker = MessageColumns(RegisterBrokerRecord).schema
    end_point = (("name", text), ("host", text), ("port", short), ("security_protocol", pa.int16()))
    assert broker.field("end_points").type == pa.list_(pa.struct(end_point))
    assert broker.field("log_dirs").type == pa.list_(text)
    assert all(field.nullable for field in broker)


def test_a_field_that_a_version_lacks_is_null() -> None:
    columns = MessageColumns(OffsetCommitValue)
    found = [rows(columns, columns.arrays(version, [COMMIT]), 1)[0] for version in OffsetCommitValue.VERSIONS]
    zero = str(Uuid())
    assert [tuple(row.values()) for row in found] == [
        (7, None, "m", 1_700_000_000_000, None, None),
        (7, None, "m", 1_700_000_000_000, -1, None),
        (7, None, "m", 1_700_000_000_000, None, None),
        (7, 2, "m", 1_700_000_000_000, None, None),
        (7, 2, "m", 1_700_000_000_000, None, zero),
    ]


def test_a_field_of_a_struct_that_a_version_lacks_is_null() -> None:
    columns = MessageColumns(GroupMetadataValue)
    group = GroupMetadataValue("consumer", members=(GroupMetadataValue.MemberMetadata("m", "static", "c", "h", 1, 2),))
    members = [rows(columns, columns.arrays(version, [group]), 1)[0]["members"] for version in (0, 3)]
    expected = {"member_id": "m", "client_id": "c", "client_host": "h", "session_timeout": 2, "subscription": b"",
                "assignment": b""}  # fmt: skip
    assert members == [
        [expected | {"group_instance_id": None, "rebalance_timeout": None}],
        [expected | {"group_instance_id": "static", "rebalance_timeout": 1}],
    ]


def test_lists_of_structs_are_split_between_their_messages() -> None:
    member = GroupMetadataValue.MemberMetadata
    groups = [GroupMetadataValue("g", members=tuple(member(f"m{n}") for n in range(count))) for count in (2, 0, 1)]
    check_messages(MessageColumns(GroupMetadataValue), 3, groups)


def test_a_message_without_fields_has_no_columns() -> None:
    columns = MessageColumns(NoOpRecord)
    assert columns.arrays(0, [NoOpRecord()] * 3) == []


def test_ids_are_text_and_unknown_tagged_fields_have_no_column() -> None:
    columns = MessageColumns(PartitionChangeRecord)
    topic, directory = Uuid(b"t" * 16), Uuid(b"d" * 16)
    record = PartitionChangeRecord(1, topic, isr=(1, 2), directories=(directory,), unknown_tagged_fields=((99, b"?"),))
    (found,) = rows(columns, columns.arrays(2, [record]), 1)
    assert found["topic_id"] == str(topic)
    assert (found["isr"], found["directories"], found["leader"]) == ([1, 2], [str(directory)], -2)


def test_views_become_binary() -> None:
    columns = MessageColumns(FetchResponse)
    partition = FetchResponse.PartitionData(records=b"a batch")
    response = FetchResponse(responses=(FetchResponse.FetchableTopicResponse("t", partitions=(partition,)),))
    check_messages(columns, 12, [response])


def test_a_version_that_the_message_lacks() -> None:
    with pytest.raises(KeyError):
        MessageColumns(OffsetCommitValue).arrays(9, [])
    with pytest.raises(KeyError):
        MessageColumns(OffsetCommitValue).decode(9, pa.array([], pa.binary()))


@pytest.mark.parametrize("type_", [pa.large_binary(), pa.string(), pa.binary(4)])
def test_messages_in_an_array_of_another_type_are_refused(type_: pa.DataType) -> None:
    octets = cast("pa.BinaryArray", pa.array([b"1234"], type_))
    with pytest.raises(TypeError, match=r"messages are a binary array, not .*: cast it to pyarrow.binary\(\)"):
        MessageColumns(OffsetCommitValue).decode(3, octets)


def test_no_messages_are_empty_columns() -> None:
    columns = MessageColumns(GroupMetadataValue)
    found = columns.decode(3, pa.array([], pa.binary()))
    assert ([len(each) for each in found.arrays], found.inexact) == ([0] * len(columns.schema), ())
    assert [each.type for each in found.arrays] == columns.schema.types
