"""Print the records of a KRaft metadata log in the order of the log.

Usage: python examples/read_metadata_log.py FOLDER/__cluster_metadata-0/00000000000000000000.log
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from kafkawire.protocol import message_class, to_json
from kafkawire.protocol.record_registries import METADATA_RECORDS
from kafkawire.wire.batches.batch import read_batches
from kafkawire.wire.batches.reader import decode_records
from kafkawire.wire.varint import read_uvarint


def metadata_records(segment: bytes) -> Iterator[tuple[int, str, dict[str, object]]]:
    """Yield offset, name and content of each record."""
    for batch in read_batches(segment):
        if batch.is_control:
            continue
        for record in decode_records(batch):
            value = record.value or b""
            _frame_version, at = read_uvarint(value, 0)
            number, at = read_uvarint(value, at)
            version, at = read_uvarint(value, at)
            name = METADATA_RECORDS[number]
            yield record.offset, name, to_json(message_class(name).decode(value[at:], version), version)


def main(path: str) -> None:
    """Print one line for each record."""
    for offset, name, content in metadata_records(Path(path).read_bytes()):
        print(offset, name, json.dumps(content))


if __name__ == "__main__":
    main(sys.argv[1])
