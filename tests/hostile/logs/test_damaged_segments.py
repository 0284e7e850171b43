"""Whatever the bytes of a segment are: rows, flaws or LogReadError, and accounts that balance."""

from __future__ import annotations

import struct
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.kafka_logs.memory_store import MemoryStore
from tests.made.segments import METADATA, OFFSETS, batches_of, index_entries, real_segment, repeated

from kafkawire.logs import Accounts, LogReadError, ReadMode, ReadOptions, read_table
from kafkawire.logs.options import DEFAULT_OPTIONS
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue
from kafkawire.records.coordinator_records import encode_coordinator_record
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches, seal
from kafkawire.wire.compression import Codec

TRANSACTIONS: Final = real_segment("__transaction_state-0")
COMMITS: Final = real_segment(OFFSETS)[:4000]
CHANGES: Final = real_segment(METADATA)
TABLES: Final = (
    ("__transaction_state-0", "transaction_log", TRANSACTIONS),
    (OFFSETS, "offset_commit", COMMITS),
    (OFFSETS, "records", COMMITS),
    (METADATA, "partition", CHANGES),
    (METADATA, "records", CHANGES),
    (METADATA, "batches", CHANGES),
    (OFFSETS, "offset_commits", COMMITS),
    (METADATA, "acl_history", CHANGES),
)


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.extended), 7])
def test_truncation_at_every_offset(step: int) -> None:
    whole = read("records", "__transaction_state-0", TRANSACTIONS)[0]
    for size in range(0, len(TRANSACTIONS), step):
        rows, accounts = read("records", "__transaction_state-0", TRANSACTIONS[:size])
        sound = [row for row in rows if row["_error"] is None]
        assert sound == whole[: len(sound)]
        assert [row["_error"] for row in rows[len(sound) :]] in ([], ["truncated_batch"])
        assert accounts.bytes_read == size
        assert not accounts.errors


@settings(max_examples=scaled(60), deadline=None)
@given(table=st.sampled_from(TABLES), data=st.data())
def test_flipped_bits(table: tuple[str, str, bytes], data: st.DataObject) -> None:
    log, name, content = table
    flipped = bytearray(content)
    for at in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=8)):
        flipped[at] ^= 1 << data.draw(st.integers(0, 7))
    read(name, log, bytes(flipped))
    read(name, log, bytes(flipped), ReadOptions(verify_checksums=False))


@settings(max_examples=scaled(40), deadline=None)
@given(table=st.sampled_from(TABLES), noise=st.binary(max_size=600), at=st.integers(0, 5000))
def test_noise_between_batches(table: tuple[str, str, bytes], noise: bytes, at: int) -> None:
    log, name, content = table
    read(name, log, noise)
    read(name, log, content[:at] + noise + content[at:])


@settings(max_examples=scaled(40), deadline=None)
@given(table=st.sampled_from(TABLES), data=st.data())
def test_broken_records_with_a_right_crc(table: tuple[str, str, bytes], data: st.DataObject) -> None:
    log, name, content = table
    batches = list(read_batches(content[: batches_end(content)]))
    number = data.draw(st.integers(0, len(batches) - 1))
    batch = batches[number]
    payload = bytearray(batch.payload)
    for at in data.draw(st.lists(st.integers(0, len(payload) - 1), min_size=1, max_size=4)):
        payload[at] = data.draw(st.integers(0, 255))
    broken = sealed(batch, payload=bytes(payload))
    _, accounts = read(name, log, content[: batch.position] + broken + content[batch.position + batch.size :])
    assert "bad_crc" not in accounts.errors


@pytest.mark.parametrize("zeros", [1, 16, 17, 60, 61, 5000])
def test_zero_fill_is_counted_and_no_row(zeros: int) -> None:
    rows, accounts = read("records", "__transaction_state-0", TRANSACTIONS + bytes(zeros))
    assert all(row["_error"] is None for row in rows)
    assert accounts.bytes_skipped == {"zero_fill": zeros}
    assert not accounts.errors


def test_zeros_before_other_bytes_are_an_absurd_length() -> None:
    rows, accounts = read("records", "__transaction_state-0", TRANSACTIONS + bytes(5000) + b"\1")
    assert [row["_error"] for row in rows][-1] == "bad_length"
    assert accounts.bytes_skipped == {"bad_length": 5001}


@pytest.mark.parametrize("length", [-1, 0, 13, 48, 1 << 30, (1 << 31) - 1])
def test_after_an_absurd_length_reading_goes_on_at_the_next_point_of_the_index(length: int) -> None:
    content = repeated(TRANSACTIONS, 8)
    positions = [batch.position for batch in read_batches(content)]
    broken = bytearray(content)
    struct.pack_into(">i", broken, positions[5] + 8, length)
    entries = index_entries(content, 0, 700)
    index = b"".join(struct.pack(">ii", *entry) for entry in entries)
    resumed = next(position for _, position in entries if position > positions[5])

    rows, accounts = read("batches", "__transaction_state-0", bytes(broken), index=index)

    expected = [position for position in positions if position < positions[5] or position >= resumed]
    assert [row["batch_position"] for row in rows if row["_error"] is None] == expected
    assert accounts.bytes_skipped == {"bad_length": resumed - positions[5]}


def test_a_wrong_length_that_hides_sound_batches_is_found_by_the_index() -> None:
    content = repeated(TRANSACTIONS, 8)
    positions = [batch.position for batch in read_batches(content)]
    broken = bytearray(content)
    struct.pack_into(">i", broken, positions[5] + 8, positions[20] - positions[5] - 12)
    index = b"".join(struct.pack(">ii", *entry) for entry in index_entries(content, 0, 100))

    rows, _ = read("batches", "__transaction_state-0", bytes(broken), index=index)

    assert [row["batch_position"] for row in rows if row["_error"] is None] == positions[:5] + positions[6:]
    assert [row["_error"] for row in rows if row["_error"]] == ["bad_length"]


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_bomb_is_too_large(codec: Codec) -> None:
    content = batches_of([[bytes(3_000_000)], [b"small"]], codec=codec)
    rows, accounts = read("records", "orders-0", content, ReadOptions(max_frame_bytes=1_000_000))
    assert [row["_error"] for row in rows] == ["too_large", None]
    assert accounts.errors == {"too_large": 1}


def test_codes_without_codec() -> None:
    (batch,) = read_batches(batches_of([[b"value"]]))
    content = sealed(batch, attributes=5)
    assert [row["_error"] for row in read("records", "orders-0", content)[0]] == ["bad_codec"]
    assert [row["codec"] for row in read("batches", "orders-0", content)[0]] == ["UNKNOWN(5)"]


def test_a_wrong_crc_costs_one_batch_and_shows_it() -> None:
    batches = list(read_batches(TRANSACTIONS))
    broken = bytearray(TRANSACTIONS)
    broken[batches[2].position + 70] ^= 1
    rows, accounts = read("transaction_log", "__transaction_state-0", bytes(broken))
    assert [row["_error"] for row in rows] == [None, None, "bad_crc", *[None] * (len(batches) - 3)]
    start = batches[2].position
    assert rows[2]["_corrupt_record"] == bytes(broken[start : start + batches[2].size])
    assert rows[2]["batch_position"] == start
    assert accounts.bytes_skipped == {"bad_crc": batches[2].size}


def test_messages_of_old_formats() -> None:
    message = struct.pack(">qiIbbqii", 7, 22, 0, 1, 0, 5, -1, -1)
    rows, _ = read("records", "orders-0", message + batches_of([[b"value"]]))
    assert [row["_error"] for row in rows] == ["old_magic", None]
    assert rows[0]["log_offset"] == 7
    assert rows[0]["_corrupt_record"] == message


def test_a_batch_of_a_newer_format_is_passed_over() -> None:
    newer = bytearray(batches_of([[b"value"]]))
    newer[16] = 3
    rows, _ = read("records", "orders-0", bytes(newer) + batches_of([[b"value"]]))
    assert [row["_error"] for row in rows] == ["unsupported_version", None]


@pytest.mark.parametrize(("base_offset", "delta"), [((1 << 63) - 1, 1), (-(1 << 63), -1)])
def test_a_last_offset_beyond_all_offsets_is_not_known(base_offset: int, delta: int) -> None:
    (batch,) = read_batches(batches_of([[b"value"]]))
    content = sealed(batch, base_offset=base_offset, last_offset_delta=delta)
    assert [(row["first_offset"], row["last_offset"]) for row in read("batches", "orders-0", content)[0]] == [
        (base_offset, None)
    ]


def test_values_that_are_not_there_count_for_more_than_bytes_that_are_left() -> None:
    """``trailing_bytes`` says that a row has its values."""
    commit = OffsetCommitKey("g", "t", 0), OffsetCommitValue(1, metadata="x")
    key, value = encode_coordinator_record(OFFSETS.removesuffix("-0"), *commit, 3)
    assert value is not None
    not_text = value.replace(b"\x00\x01x", b"\x00\x01\xff")
    pairs = [(key, value + b"!"), (key, not_text + b"!"), (key + b"!", not_text), (key + b"!", value)]
    content = encode_batch([Record(at, 1, *pair) for at, pair in enumerate(pairs)])
    rows, _ = read("offset_commit", OFFSETS, content)
    assert [row["_error"] for row in rows] == ["trailing_bytes", "decode_error", "decode_error", "trailing_bytes"]
    assert [row["metadata"] for row in rows] == ["x", None, None, "x"]
    assert [row["_corrupt_record"] for row in rows] == [value + b"!", not_text + b"!", not_text, key + b"!"]


def read(
    name: str,
    log: str,
    content: bytes,
    options: ReadOptions = DEFAULT_OPTIONS,
    *,
    index: bytes = b"",
) -> tuple[list[dict[str, Any]], Accounts]:
    """The rows of a damaged segment in mode PERMISSIVE, after all modes were compared."""
    store = MemoryStore({f"{log}/{0:020}.log": content, f"{log}/{0:020}.index": index})
    accounts = Accounts()
    rows = [
        row for batch in read_table(name, log, options, accounts=accounts, store=store) for row in batch.to_pylist()
    ]
    assert accounts.balanced
    assert accounts.bytes_read == len(content)
    if "history" in name or name == "offset_commits":
        return rows, accounts
    assert accounts.records_read == accounts.rows + sum(accounts.records_dropped.values())
    assert len(rows) == accounts.rows + accounts.flaw_rows

    settings_ = {each: getattr(options, each) for each in options.__dataclass_fields__}
    dropped = ReadOptions(**{**settings_, "mode": ReadMode.DROPMALFORMED})
    kept = [row for batch in read_table(name, log, dropped, store=store) for row in batch.to_pylist()]
    assert kept == [without_errors(row) for row in rows if row["_error"] is None]

    failing = ReadOptions(**{**settings_, "mode": ReadMode.FAILFAST})
    wrong = accounts.errors.keys() | accounts.bytes_skipped.keys() & {"truncated_batch"}
    if wrong:
        with pytest.raises(LogReadError) as raised:
            list(read_table(name, log, failing, store=store))
        assert raised.value.code in wrong
    else:
        assert [row for batch in read_table(name, log, failing, store=store) for row in batch.to_pylist()] == kept
    return rows, accounts


def sealed(batch: RecordBatch, **changes: object) -> bytes:
    """A batch with some of its fields changed, and a right CRC."""
    return seal(msgspec.structs.replace(batch, **changes)).to_bytes()


def without_errors(row: dict[str, Any]) -> dict[str, Any]:
    return {name: cell for name, cell in row.items() if not name.startswith("_")}


def batches_end(content: bytes) -> int:
    """Where the last whole batch ends."""
    reader = read_batches(content)
    for _ in reader:
        pass
    return reader.position
