"""Records of ``__cluster_metadata``, the log and the snapshots of a KRaft quorum (metadata-frame)."""

from __future__ import annotations

from kafkawire.protocol.record_registries import METADATA_RECORDS
from kafkawire.records.framed_records import METADATA_RECORD, FramedRecord, decode_framed, encode_framed
from kafkawire.wire import Message
from kafkawire.wire.message import Octets


def decode_metadata_record(value: Octets | None) -> FramedRecord:
    """The metadata record in the value of a record.

    Raises:
        DecodeError: as ``framed_records.decode_framed``.

    Example:
        ```python
        from pathlib import Path

        from kafkawire.records.metadata_records import decode_metadata_record
        from kafkawire.wire.batches import read_records

        segment = Path("/var/lib/kafka/data/__cluster_metadata-0/00000000000000000000.log")
        for record in read_records(segment.read_bytes()):
            print(record.offset, decode_metadata_record(record.value).message)
        ```
    """
    return decode_framed(value, METADATA_RECORDS, METADATA_RECORD)


def encode_metadata_record(message: Message, version: int) -> bytes:
    """The value of a record that holds a metadata record.

    Raises:
        ValueError: the message is not a metadata record.
        UnsupportedVersionError, EncodeError: as ``Message.encode``.

    Example:
        ```python
        from kafkawire.protocol import TopicRecord
        from kafkawire.records.metadata_records import decode_metadata_record, encode_metadata_record
        from kafkawire.wire import Uuid

        topic = TopicRecord(name="orders", topic_id=Uuid.random())
        assert decode_metadata_record(encode_metadata_record(topic, 0)).message == topic
        ```
    """
    return encode_framed(message, version, METADATA_RECORDS)
