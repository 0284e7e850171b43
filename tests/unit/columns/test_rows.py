"""Rows: whole or not at all, nulls where a version has no field, and text that is not UTF-8."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pyarrow as pa
import pytest
from tests.kafka_logs.column_rows import taken

from kafkawire.columns import Rows
from kafkawire.columns.message_columns import MessageColumns
from kafkawire.layout import Uuid
from kafkawire.protocol import (
    GroupMetadataValue,
    NoOpRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    PartitionChangeRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    message_class,
)
from kafkawire.protocol.record_columns import RECORD_NAMES, record_columns
from kafkawire.protocol.record_registries import (
    GROUP_COORDINATOR_RECORDS,
    METADATA_RECORDS,
    SHARE_COORDINATOR_RECORDS,
    STORAGE_RECORDS,
    TRANSACTION_COORDINATOR_RECORDS,
)
from kafkawire.wire import DecodeError
from kafkawire.wire.columns import LayoutColumns, uuid_text

COMMIT = OffsetCommitValue(7, 2, "m", 1_700_000_000_000)
NAMES = ["offset", "leader_epoch", "metadata", "commit_timestamp", "expire_timestamp", "topic_id"]


def commits() -> Rows:
    return record_columns("OffsetCommitValue").rows()


def test_every_record_has_columns() -> None:
    coordinators = (GROUP_COORDINATOR_RECORDS, SHARE_COORDINATOR_RECORDS, TRANSACTION_COORDINATOR_RECORDS)
    types = [record for registry in coordinators for record in registry.values()]
    names = {*METADATA_RECORDS.values(), *STORAGE_RECORDS.values()}
    names |= {name for record in types for name in (record.key, record.value)}
    assert set(RECORD_NAMES) == names
    for name in RECORD_NAMES:
        columns = record_columns(name)
        assert columns is record_columns(name)
        assert columns.message is message_class(name)
        assert columns.versions == columns.message.VERSIONS
        assert columns.schema.names == list(columns.message.__struct_fields__[:-1])


@pytest.mark.parametrize("name", ["FetchRequest", "SubscriptionInfoData", "Nonsense"])
def test_other_messages_have_none(name: str) -> None:
    with pytest.raises(KeyError, match=name):
        record_columns(name)


def test_arrow_is_not_imported_before_columns_are_asked_for() -> None:
    program = (
        "import sys, kafkawire.protocol.record_columns as table; assert 'pyarrow' not in sys.modules;"
        "table.record_columns('NoOpRecord'); assert 'pyarrow' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_schema_has_the_fields_of_all_versions() -> None:
    text: pa.DataType = pa.string()
    long, short = pa.int64(), pa.int32()
    assert record_columns("OffsetCommitValue").schema == pa.schema(
        dict(zip(NAMES, (long, short, text, long, long, text), strict=True))
    )
    broker = record_columns("RegisterBrokerRecord").schema
    end_point = (("name", text), ("host", text), ("port", short), ("security_protocol", pa.int16()))
    assert broker.field("end_points").type == pa.list_(pa.struct(end_point))
    assert broker.field("log_dirs").type == pa.list_(text)
    assert all(field.nullable for field in broker)


def test_a_field_that_a_version_lacks_is_null() -> None:
    rows = commits()
    for version in OffsetCommitValue.VERSIONS:
        assert rows.extend(version, [COMMIT.encode(version)]) == 1
    found, _ = taken(rows, NAMES)
    zero = str(Uuid())
    assert [tuple(row.values()) for row in found] == [
        (7, None, "m", 1_700_000_000_000, None, None),
        (7, None, "m", 1_700_000_000_000, -1, None),
        (7, None, "m", 1_700_000_000_000, None, None),
        (7, 2, "m", 1_700_000_000_000, None, None),
        (7, 2, "m", 1_700_000_000_000, None, zero),
    ]


def test_a_field_of_a_struct_that_a_version_lacks_is_null() -> None:
    columns = record_columns("GroupMetadataValue")
    group = GroupMetadataValue("consumer", members=(GroupMetadataValue.MemberMetadata("m", "static", "c", "h", 1, 2),))
    rows = columns.rows()
    rows.extend(0, [group.encode(0)])
    rows.extend(3, [group.encode(3)])
    found, _ = taken(rows, columns.schema.names)
    members = [row["members"] for row in found]
    expected = {"member_id": "m", "client_id": "c", "client_host": "h", "session_timeout": 2, "subscription": b"",
                "assignment": b""}  # fmt: skip
    assert members == [
        [expected | {"group_instance_id": None, "rebalance_timeout": None}],
        [expected | {"group_instance_id": "static", "rebalance_timeout": 1}],
    ]


def test_reading_stops_at_the_first_buffer_that_is_not_a_message() -> None:
    whole = COMMIT.encode(3)
    for broken in (whole[:-1], whole + b"\0", b"", whole[:12] + b"\xff\xff" + whole[14:]):
        rows = commits()
        assert rows.extend(3, [whole, whole, broken, whole]) == len(rows) == 2
        arrays, bad_text = rows.take()
        assert [len(array) for array in arrays] == [2] * 6
        assert not bad_text
        assert len(rows) == 0


def test_one_row_may_be_followed_by_further_bytes() -> None:
    rows = commits()
    whole = COMMIT.encode(4)
    assert rows.append(4, b"??" + whole + b"more", 2) == 2 + len(whole)
    assert rows.append(4, whole) == len(whole)
    assert len(rows) == 2


@pytest.mark.parametrize("start", [-1, 0, 3, 40])
def test_one_row_that_cannot_be_read_is_explained(start: int) -> None:
    rows = commits()
    broken = COMMIT.encode(3)[:-1]
    with pytest.raises(DecodeError) as raised:
        rows.append(3, broken, start)
    with pytest.raises(DecodeError) as expected:
        OffsetCommitValue.decode_from(broken, start, 3)
    assert str(raised.value) == str(expected.value)
    assert len(rows) == 0
    assert [len(array) for array in rows.take()[0]] == [0] * 6


def test_rows_without_values() -> None:
    rows = commits()
    rows.extend_nulls(2)
    rows.extend(3, [COMMIT.encode(3)])
    rows.extend_nulls(0)
    assert len(rows) == 3
    found, bad_text = taken(rows, NAMES)
    assert found[:2] == [dict.fromkeys(NAMES)] * 2
    assert found[2]["offset"] == 7
    assert not bad_text


def test_text_that_is_not_utf8_is_null_and_reported_with_the_rows() -> None:
    columns = record_columns("OffsetCommitKey")
    rows = columns.rows()
    good, also_good = OffsetCommitKey("g", "töpic", 1).encode(0), OffsetCommitKey("", "", 2).encode(0)
    surrogate = good.replace("ö".encode(), b"\xed\xa0")
    assert rows.extend(0, [good, surrogate, also_good, surrogate.replace(b"g", b"\xff"), good]) == 5
    found, bad_text = taken(rows, columns.schema.names)
    assert bad_text == [1, 3]
    assert [tuple(row.values()) for row in found] == [
        ("g", "töpic", 1), ("g", None, 1), ("", "", 2), (None, None, 1), ("g", "töpic", 1),
    ]  # fmt: skip
    assert taken(rows, columns.schema.names) == ([], [])


def test_text_inside_a_struct_that_is_not_utf8_takes_its_cell_only() -> None:
    columns = record_columns("RegisterBrokerRecord")
    broker = RegisterBrokerRecord(1, end_points=(RegisterBrokerRecord.BrokerEndpoint("PLAIN", "höst", 9092, 0),))
    whole = broker.encode(4)
    rows = columns.rows()
    assert rows.extend(4, [whole, whole.replace("ö".encode(), b"\xff\xfe")]) == 2
    found, bad_text = taken(rows, columns.schema.names)
    assert bad_text == [1]
    assert found[1] == found[0] | {"end_points": None}


def test_a_message_without_fields_has_rows() -> None:
    rows = record_columns("NoOpRecord").rows()
    assert rows.extend(0, [NoOpRecord().encode(0)] * 3 + [b""]) == 3
    rows.extend_nulls(1)
    assert len(rows) == 4
    assert rows.take() == ([], [])
    assert len(rows) == 0


def test_ids_are_text_and_unknown_tagged_fields_are_passed_over() -> None:
    columns = record_columns("PartitionChangeRecord")
    topic, directory = Uuid(b"t" * 16), Uuid(b"d" * 16)
    record = PartitionChangeRecord(1, topic, isr=(1, 2), directories=(directory,), unknown_tagged_fields=((99, b"?"),))
    rows = columns.rows()
    rows.extend(2, [record.encode(2)])
    found, _ = taken(rows, columns.schema.names)
    assert found[0]["topic_id"] == str(topic)
    assert (found[0]["isr"], found[0]["directories"], found[0]["leader"]) == ([1, 2], [str(directory)], -2)


def test_unknown_versions_and_places_before_the_buffer() -> None:
    rows = commits()
    with pytest.raises(KeyError):
        rows.extend(9, [])
    with pytest.raises(KeyError):
        rows.append(9, b"")
    with pytest.raises(ValueError, match="start is -1"):
        rows.extend(3, [COMMIT.encode(3)], -1)


def test_an_interrupted_decoder_leaves_no_half_row() -> None:
    def decode(_buffers: object, _begin: int, columns: Sequence[list[object]], _whole: bool) -> int:
        columns[0].append(1)
        raise KeyboardInterrupt

    schema = (("first", "int32"), ("second", "int32"))
    columns = MessageColumns(OffsetCommitValue, schema, {0: LayoutColumns(decode, 0, ())})
    rows = columns.rows()
    rows.extend_nulls(1)
    with pytest.raises(KeyboardInterrupt):
        rows.extend(0, [b""])
    assert [len(array) for array in rows.take()[0]] == [1, 1]


def test_the_texts_of_many_ids_are_not_all_remembered() -> None:
    columns = record_columns("RemoveTopicRecord")
    ids = [Uuid(number.to_bytes(16)) for number in range(20_000)]
    octets = [RemoveTopicRecord(id_).encode(0) for id_ in ids]
    columns.rows().extend(0, octets)
    assert len(uuid_text.__self__) <= 4096  # type: ignore[attr-defined]
    rows = columns.rows()
    assert rows.extend(0, octets) == len(ids)
    found, _ = taken(rows, columns.schema.names)
    assert [row["topic_id"] for row in found] == [str(id_) for id_ in ids]


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 128, 300, 32_767])
def test_text_of_any_length(length: int) -> None:
    text = "é" * (length // 2) + "x" * (length % 2)
    for version in OffsetCommitValue.VERSIONS:
        rows = commits()
        whole = OffsetCommitValue(7, 2, text, 9).encode(version)
        assert rows.extend(version, [whole, whole[:-1], whole]) == 1
        found, _ = taken(rows, NAMES)
        assert (found[0]["metadata"], found[0]["commit_timestamp"]) == (text, 9)
    keys = record_columns("OffsetCommitKey").rows()
    assert keys.extend(0, [OffsetCommitKey(text, text, 3).encode(0), OffsetCommitKey("", text).encode(0)]) == 2
    assert [array.null_count for array in keys.take()[0]] == [0, 0, 0]
