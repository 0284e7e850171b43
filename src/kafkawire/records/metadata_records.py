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
    """
    return decode_framed(value, METADATA_RECORDS, METADATA_RECORD)


def encode_metadata_record(message: Message, version: int) -> bytes:
    """The value of a record that holds a metadata record.

    Raises:
        ValueError: the message is not a metadata record.
        UnsupportedVersionError, EncodeError: as ``Message.encode``.
    """
    return encode_framed(message, version, METADATA_RECORDS)
