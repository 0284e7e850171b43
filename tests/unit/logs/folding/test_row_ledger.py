"""What ledgers of rows and of objects refuse to continue from."""

from __future__ import annotations

from io import BytesIO

import msgspec
import pyarrow as pa
import pytest

from kafkawire.logs.folding.ledger import Ledger
from kafkawire.logs.folding.saved_state import SavedStateError
from kafkawire.logs.histories import acl, config


def _stream(columns: dict[str, pa.Array[pa.Scalar[pa.DataType]]]) -> bytes:
    sink, batch = BytesIO(), pa.RecordBatch.from_pydict(columns)
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue()


def _rows() -> Ledger[str]:
    return acl.HISTORY.make_reducer(None).ledger


def _objects() -> Ledger[config.ConfigKey]:
    return config.HISTORY.make_reducer(None).ledger


@pytest.mark.parametrize(
    "octets",
    [
        b"",
        b"no stream",
        _rows().save()[:40],
        _stream({"values": pa.array([b""], pa.binary())}),
        _objects().save(),
    ],
    ids=["nothing", "other bytes", "the first half", "a column is missing", "of a ledger of objects"],
)
def test_other_bytes_are_no_state(octets: bytes) -> None:
    with pytest.raises(SavedStateError, match=r"^it cannot be decoded: "):
        _rows().restore(octets)


@pytest.mark.parametrize("octets", [b"", b"\xc1", msgspec.msgpack.encode([["key"]]), _rows().save()])
def test_other_bytes_are_no_state_of_objects(octets: bytes) -> None:
    with pytest.raises(SavedStateError, match=r"^it cannot be decoded: "):
        _objects().restore(octets)
