"""Properties that all history tables share."""

from __future__ import annotations

import pickle
from pathlib import Path

import msgspec
import pytest
from tests.kafka_logs.histories import history, still_open, time
from tests.made.logs import METADATA_LOG, OFFSETS_LOG, Step, Written, write_offsets_segment, write_segment

from kafkawire.layout import Uuid
from kafkawire.logs import Accounts, ReadOptions, UnknownColumnError, read_table, table_named, table_names
from kafkawire.logs.history_tables import HISTORIES
from kafkawire.logs.limits import RECORDS_AT_A_TIME
from kafkawire.protocol import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    RemoveAccessControlEntryRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from kafkawire.records.metadata_records import encode_metadata_record
from kafkawire.wire.batches import Record, encode_batch


def _acl(number: int) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(Uuid(number.to_bytes(16, "big")), 2, "t", 3, "User:ann", "*", 3, 3)


@pytest.mark.parametrize("name", HISTORIES)
def test_a_table_can_be_pickled(name: str) -> None:
    table = table_named(name, ReadOptions(columns=("cluster", "valid_to")))
    restored = pickle.loads(pickle.dumps(table))  # noqa: S301 our own
    assert (restored.name, restored.schema) == (name, table.schema)
    assert not restored.splittable
    assert name in table_names()


def test_unknown_column(tmp_path: Path) -> None:
    with pytest.raises(UnknownColumnError, match="'acl_history' has no column 'owner'"):
        list(read_table("acl_history", str(tmp_path), ReadOptions(columns=("owner",))))


def test_numbers_without_a_name_are_kept(tmp_path: Path) -> None:
    record = AccessControlEntryRecord(Uuid(), 17, "t", 9, "User:ann", "*", 99, -3)
    write_segment(tmp_path / METADATA_LOG, 0, [Step(1000, (record,))])
    (row,) = history("acl_history", tmp_path)
    names = ("resource_type", "pattern_type", "operation", "permission")
    assert {name: (row[name], row[f"{name}_code"]) for name in names} == {
        "resource_type": ("UNKNOWN(17)", 17),
        "pattern_type": ("UNKNOWN(9)", 9),
        "operation": ("UNKNOWN(99)", 99),
        "permission": ("UNKNOWN(-3)", -3),
    }


def test_an_acl_that_is_recorded_again_with_other_bytes_is_the_same_acl(tmp_path: Path) -> None:
    """A later Kafka may write tagged fields that this one does not know."""
    encoded = encode_metadata_record(_acl(1), 0)
    with_tag = encoded[:-1] + b"\x01\x63\x01z"
    other = encode_metadata_record(msgspec.structs.replace(_acl(1), operation=4), 0)
    folder = tmp_path / METADATA_LOG
    folder.mkdir()
    records = [Record(timestamp=1000 + at, value=value) for at, value in enumerate((encoded, with_tag, other))]
    (folder / f"{0:020}.log").write_bytes(encode_batch(records, partition_leader_epoch=1))
    rows = history("acl_history", tmp_path)
    assert [(row["operation"], row["from_offset"], row["to_offset"]) for row in rows] == [
        ("READ", 0, 2),
        ("WRITE", 2, None),
    ]


def test_entities_of_quotas(tmp_path: Path) -> None:
    parts = ClientQuotaRecord.EntityData
    records = [
        ClientQuotaRecord((parts("user", "a"), parts("client-id", None)), "k", 1.0),
        ClientQuotaRecord((parts("client-id", None), parts("user", "a")), "k", 2.0),  # the same in another order
        ClientQuotaRecord((parts("ip", None),), "k", 3.0),
        ClientQuotaRecord((parts("user", ""),), "k", 4.0),
    ]
    write_segment(tmp_path / METADATA_LOG, 0, [Step(1000, tuple(records))])
    names = ("user", "client_id", "ip", "value")
    assert [tuple(row[name] for name in names) for row in still_open(history("quota_history", tmp_path))] == [
        ("a", "<default>", None, 2.0),
        (None, None, "<default>", 3.0),
        ("", None, None, 4.0),
    ]


def test_a_new_password_begins_a_new_credential_and_no_secret_is_in_the_table(tmp_path: Path) -> None:
    def credential(salt: bytes, mechanism: int = 1) -> UserScramCredentialRecord:
        return UserScramCredentialRecord("ann", mechanism, salt, b"stored", b"server", 4096)

    steps = [
        Step(1000, (credential(b"one"), credential(b"one", 2))),
        Step(2000, (credential(b"two"),)),
        Step(3000, (credential(b"two"),)),  # the same again is no change
        Step(4000, (RemoveUserScramCredentialRecord("ann", 2),)),
    ]
    write_segment(tmp_path / METADATA_LOG, 0, steps)
    rows = history("scram_history", tmp_path)
    assert [(row["mechanism"], row["iterations"], row["valid_from"], row["valid_to"]) for row in rows] == [
        ("SCRAM_SHA_256", 4096, time(1000), time(2000)),
        ("SCRAM_SHA_512", 4096, time(1000), time(4000)),
        ("SCRAM_SHA_256", 4096, time(2000), None),
    ]
    assert {row["user"] for row in rows} == {"ann"}
    assert not {"salt", "stored_key", "server_key"} & set(rows[0])


def test_ended_rows_come_first_and_open_ones_in_the_order_of_the_log(tmp_path: Path) -> None:
    steps = [
        Step(1000, (_acl(1), _acl(2), _acl(3), _acl(4))),
        Step(2000, tuple(RemoveAccessControlEntryRecord(Uuid(each.to_bytes(16, "big"))) for each in (3, 1))),
    ]
    write_segment(tmp_path / METADATA_LOG, 0, steps)
    assert [row["from_offset"] for row in history("acl_history", tmp_path)] == [2, 0, 1, 3]


def test_logs_of_several_folders_are_histories_of_their_own(tmp_path: Path) -> None:
    for cluster in ("one", "two"):
        write_segment(tmp_path / cluster / METADATA_LOG, 0, [Step(1000, (_acl(1),))])
        (tmp_path / cluster / "meta.properties").write_text(f"version=1\ncluster.id={cluster}\n")
    rows = history("acl_history", tmp_path)
    assert [(row["cluster"], row["valid_to"]) for row in rows] == [("one", None), ("two", None)]


@pytest.mark.usefixtures("one_engine")
def test_many_rows_are_returned_in_batches(tmp_path: Path) -> None:
    steps = [Step(1000 + number, tuple(_acl(number * 100 + each) for each in range(100))) for number in range(200)]
    write_segment(tmp_path / METADATA_LOG, 0, steps)
    sizes = [batch.num_rows for batch in read_table("acl_history", str(tmp_path))]
    assert sizes == [8192, 8192, 20_000 - 2 * 8192]


@pytest.mark.usefixtures("one_engine")
def test_rows_are_returned_while_the_log_is_read(tmp_path: Path) -> None:
    """Fifty keys with 2 000 commits each: memory holds some rows and the offsets of fifty keys."""
    batches = [
        Written(each * 100, tuple((OffsetCommitKey("g", "t", key), OffsetCommitValue(each), 3) for key in range(50)))
        for each in range(2000)
    ]
    write_offsets_segment(tmp_path / OFFSETS_LOG, 0, batches)
    accounts = Accounts()
    given = 0
    for batch in read_table("offset_commits", str(tmp_path), accounts=accounts):
        given += batch.num_rows
        assert accounts.records_read <= given + 4 * RECORDS_AT_A_TIME
    assert given == 100_000


def test_an_entry_may_begin_and_end_at_the_same_time(tmp_path: Path) -> None:
    """An entry that was added and removed within a millisecond was valid at no time."""
    steps = [Step(1000, (_acl(1), RemoveAccessControlEntryRecord(Uuid((1).to_bytes(16, "big")))))]
    write_segment(tmp_path / METADATA_LOG, 0, steps)
    (row,) = history("acl_history", tmp_path)
    assert row["valid_from"] == row["valid_to"] == time(1000)
    assert history("acl_history", tmp_path, options=ReadOptions(as_of=time(1000))) == []
