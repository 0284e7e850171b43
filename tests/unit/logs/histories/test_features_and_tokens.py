"""``feature_history`` has the finalized levels, and ``token_history`` delegation tokens without a secret."""

from __future__ import annotations

from pathlib import Path

from tests.kafka_logs.histories import history, time
from tests.made.logs import METADATA_LOG, Step, write_segment

from kafkawire.logs import ReadOptions, table_named, table_names
from kafkawire.protocol import DelegationTokenRecord, FeatureLevelRecord, RemoveDelegationTokenRecord


def test_a_level_holds_until_the_next_and_level_0_removes_the_feature(tmp_path: Path) -> None:
    levels = (FeatureLevelRecord("share.version", level) for level in (1, 2, 2, 0, 0))
    write_segment(tmp_path / METADATA_LOG, 0, [Step(1000 * (at + 1), (each,)) for at, each in enumerate(levels)])
    rows = history("feature_history", tmp_path)
    assert [(row["name"], row["level"], row["valid_from"], row["valid_to"]) for row in rows] == [
        ("share.version", 1, time(1000), time(2000)),
        ("share.version", 2, time(2000), time(4000)),
    ]
    assert [(row["from_offset"], row["to_offset"], row["added_by_snapshot"]) for row in rows] == [
        (0, 1, False),
        (1, 3, False),
    ]


def test_kafka_ignores_metadata_records_of_the_kraft_version(tmp_path: Path) -> None:
    """KAFKA-18979."""
    records = (FeatureLevelRecord("kraft.version", 1), FeatureLevelRecord("metadata.version", 30))
    write_segment(tmp_path / METADATA_LOG, 0, [Step(1000, records)])
    assert [row["name"] for row in history("feature_history", tmp_path)] == ["metadata.version"]


def test_a_renewed_token_begins_a_row(tmp_path: Path) -> None:
    def token(expires: int) -> DelegationTokenRecord:
        return DelegationTokenRecord("User:ann", "User:eve", ("User:bob",), 1000, 9000, expires, "id-1")

    steps = [
        Step(1000, (token(5000),)),
        Step(2000, (token(8000),)),
        Step(3000, (RemoveDelegationTokenRecord("id-1"),)),
    ]
    write_segment(tmp_path / METADATA_LOG, 0, steps)
    rows = history("token_history", tmp_path)
    assert [(row["expires_at"], row["valid_from"], row["valid_to"]) for row in rows] == [
        (time(5000), time(1000), time(2000)),
        (time(8000), time(2000), time(3000)),
    ]
    names = ("token_id", "owner", "requester", "renewers", "issued_at", "max_time")
    assert {name: rows[0][name] for name in names} == {
        "token_id": "id-1",
        "owner": "User:ann",
        "requester": "User:eve",
        "renewers": ["User:bob"],
        "issued_at": time(1000),
        "max_time": time(9000),
    }


def test_a_time_that_is_none_is_null(tmp_path: Path) -> None:
    """A damaged or hostile record may have any number."""
    record = DelegationTokenRecord("o", "r", (), -1, (1 << 63) - 1, -(1 << 63), "id")
    write_segment(tmp_path / METADATA_LOG, 0, [Step(1000, (record,))])
    (row,) = history("token_history", tmp_path)
    assert (row["issued_at"], row["max_time"], row["expires_at"]) == (None, None, None)


def test_no_table_of_the_log_has_a_column_of_an_hmac() -> None:
    columns = {f"{name}.{column}" for name in table_names() for column in table_named(name, ReadOptions()).schema.names}
    assert not [column for column in columns if "hmac" in column]
