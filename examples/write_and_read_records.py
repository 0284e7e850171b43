"""Write records into a compressed batch, as a producer does, and read them again."""

from __future__ import annotations

from kafkawire.wire.batches.batch import Header, Record, read_batches
from kafkawire.wire.batches.reader import decode_records
from kafkawire.wire.batches.writer import encode_batch
from kafkawire.wire.compression import Codec


def main() -> None:
    """Print the size of the batch with each codec, and the records of the last one."""
    records = [
        Record(timestamp=1_700_000_000_000 + number, key=b"user-%d" % (number % 3), value=b"clicked " * 20)
        for number in range(100)
    ]
    records.append(Record(key=b"user-1", headers=[Header("reason", b"account closed")]))

    batch = b""
    for codec in Codec:
        batch = encode_batch(records, codec=codec)
        print(f"{codec.name.lower():>6} {len(batch):6} bytes")

    for header in read_batches(batch):
        read = decode_records(header)
        print(f"{len(read)} records, the last one: {read[-1]}")


if __name__ == "__main__":
    main()
