"""``.snapshot`` files beside a segment: the producers that have written to the partition (file-producer-snapshot)."""

from __future__ import annotations

from typing import Final

import crc32c
import msgspec

from kafkawire.protocol import ProducerSnapshot
from kafkawire.records.version_prefix import PREFIX_SIZE, decode_whole, encode_prefixed
from kafkawire.wire import DecodeError
from kafkawire.wire.message import Octets

_VERSION: Final = 1
_COVERED_FROM: Final = PREFIX_SIZE + 4


def decode_producer_snapshot(data: Octets) -> ProducerSnapshot:
    """The content of a file.

    Raises:
        DecodeError: kind ``crc``, ``version``, ``trailing``, or the error of the body.

    Example:
        ```python
        from kafkawire.protocol import ProducerSnapshot
        from kafkawire.records.producer_snapshot import decode_producer_snapshot, encode_producer_snapshot

        producer = ProducerSnapshot.ProducerEntry(producer_id=7, epoch=0, last_sequence=41)
        file = encode_producer_snapshot(ProducerSnapshot(producer_entries=(producer,)))
        for entry in decode_producer_snapshot(file).producer_entries:
            print(entry.producer_id, entry.last_sequence)
        ```
    """
    octets = bytes(data)
    snapshot, version = decode_whole(ProducerSnapshot, octets)
    actual = crc32c.crc32c(octets[_COVERED_FROM:])
    if snapshot.crc != actual:
        reason = f"the file states CRC {snapshot.crc:#010x}, its bytes have {actual:#010x}"
        raise DecodeError("crc", reason, message_name=snapshot.NAME, version=version, offset=PREFIX_SIZE)
    return snapshot


def encode_producer_snapshot(snapshot: ProducerSnapshot) -> bytes:
    """The bytes of a file. The CRC is computed; ``snapshot.crc`` is ignored.

    Raises:
        EncodeError: as ``Message.encode``.
    """
    crc = crc32c.crc32c(encode_prefixed(snapshot, _VERSION)[_COVERED_FROM:])
    return encode_prefixed(msgspec.structs.replace(snapshot, crc=crc), _VERSION)
