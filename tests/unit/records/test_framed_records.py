"""The frame of metadata records and remote log records (metadata-frame)."""

from __future__ import annotations

import pytest

from kafkawire.protocol import FeatureLevelRecord, NoOpRecord, RemotePartitionDeleteMetadataRecord, TopicRecord
from kafkawire.records.framed_records import FramedRecord
from kafkawire.records.metadata_records import decode_metadata_record, encode_metadata_record
from kafkawire.records.remote_log_records import decode_remote_log_record, encode_remote_log_record
from kafkawire.wire import DecodeError, UnsupportedVersionError

EXAMPLES = {
    "01140000": FramedRecord(NoOpRecord(), 0),
    "010c00116d657461646174612e76657273696f6e001400": FramedRecord(
        FeatureLevelRecord(name="metadata.version", feature_level=20), 0
    ),
}


@pytest.mark.parametrize(("octets", "record"), EXAMPLES.items())
def test_examples_of_the_reference(octets: str, record: FramedRecord) -> None:
    assert decode_metadata_record(bytes.fromhex(octets)) == record
    assert encode_metadata_record(record.message, record.version).hex() == octets


def test_padded_numbers_are_read() -> None:
    assert decode_metadata_record(bytes.fromhex("81009400800000")).message == NoOpRecord()


@pytest.mark.parametrize(
    ("octets", "kind", "reason", "offset"),
    [
        ("00140000", "version", "frame version 0; 1 is known", 0),
        ("02140000", "version", "frame version 2; 1 is known", 0),
        ("01060000", "record_type", "no record has the id 6", 1),
        ("8100060000", "record_type", "no record has the id 6", 2),
        ("01ff7f0000", "record_type", "no record has the id 16383", 1),
        ("01808002000000", "version", "record id 32768; 32767 is the largest", 1),
        ("01ffffffff0f0000", "version", "record id 4294967295; 32767 is the largest", 1),
        ("0114ffff0300", "version", "record version 65535; 32767 is the largest", 2),
        ("01140100", "version", "there is no version 1; versions are 0 to 0", 2),
        ("0114000000", "trailing", "1 byte is left", 4),
        ("", "truncated", "the number goes on", 0),
        ("0114", "truncated", "the number goes on", 2),
        ("01140001", "truncated", "NoOpRecord v0", 3),
    ],
)
def test_metadata_exact(octets: str, kind: str, reason: str, offset: int) -> None:
    with pytest.raises(DecodeError, match=reason) as caught:
        decode_metadata_record(bytes.fromhex(octets))
    assert (caught.value.kind, caught.value.offset) == (kind, offset)


def test_a_null_value_is_no_metadata_record() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_metadata_record(None)
    assert caught.value.kind == "null"


def test_remote_log_records_have_their_own_ids() -> None:
    record = RemotePartitionDeleteMetadataRecord(broker_id=3)
    data = encode_remote_log_record(record, 0)
    assert data[:3] == b"\x01\x02\x00"
    assert decode_remote_log_record(memoryview(data)) == FramedRecord(record, 0)
    with pytest.raises(ValueError, match="RemotePartitionDeleteMetadataRecord is not a record of this log"):
        encode_metadata_record(record, 0)
    with pytest.raises(ValueError, match="TopicRecord is not a record of this log"):
        encode_remote_log_record(TopicRecord(), 0)


def test_versions_that_do_not_exist_are_not_written() -> None:
    with pytest.raises(UnsupportedVersionError):
        encode_metadata_record(NoOpRecord(), 1)
