"""Records of ``__remote_log_metadata``, the index of tiered storage (metadata-remote-log)."""

from __future__ import annotations

from kafkawire.protocol.record_registries import STORAGE_RECORDS
from kafkawire.records.framed_records import FramedRecord, decode_framed, encode_framed
from kafkawire.wire import Message
from kafkawire.wire.message import Octets


def decode_remote_log_record(value: Octets | None) -> FramedRecord:
    """The remote log record in the value of a record.

    Raises:
        DecodeError: as ``framed_records.decode_framed``.

    Example:
        ```python
        from kafkawire.protocol import RemotePartitionDeleteMetadataRecord
        from kafkawire.records.remote_log_records import decode_remote_log_record, encode_remote_log_record

        deletion = RemotePartitionDeleteMetadataRecord(broker_id=1, event_timestamp_ms=1_767_225_600_000)
        assert decode_remote_log_record(encode_remote_log_record(deletion, 0)).message == deletion
        ```
    """
    return decode_framed(value, STORAGE_RECORDS, "remote log record")


def encode_remote_log_record(message: Message, version: int) -> bytes:
    """The value of a record that holds a remote log record.

    Raises:
        ValueError: the message is not a remote log record.
        UnsupportedVersionError, EncodeError: as ``Message.encode``.
    """
    return encode_framed(message, version, STORAGE_RECORDS)
