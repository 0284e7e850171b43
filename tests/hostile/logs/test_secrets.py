"""No secret of a cluster is in any table, file, report or log line, valid or damaged, unless secrets are requested."""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.made.logs import Step, write_checkpoint, write_segment
from tests.made.segments import METADATA, OFFSETS

from kafkawire.cli.app import main
from kafkawire.logs import LogReadError, ReadMode, ReadOptions, read_metadata_histories, read_table, table_names
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.log_files import find_log_files
from kafkawire.protocol import (
    ConfigRecord,
    DelegationTokenRecord,
    TopicRecord,
    UserScramCredentialRecord,
)
from kafkawire.wire import Message
from kafkawire.wire.batches import read_batches, seal

TOPIC, BROKER = 2, 4
SALT, STORED_KEY, SERVER_KEY = (word.encode() * 3 for word in ("the-salt-", "stored-key-", "server-key-"))
PASSWORDS = "hunter2-of-the-keystore", 'org.X required username="a" password="hunter2-of-jaas";', "hunter2-of-a-plug-in"
SECRETS = (SALT, STORED_KEY, SERVER_KEY, *(password.encode() for password in PASSWORDS))

RECORDS: tuple[Message, ...] = (
    TopicRecord("orders"),
    UserScramCredentialRecord("ann", 2, SALT, STORED_KEY, SERVER_KEY, 4096),
    ConfigRecord(BROKER, "1", "ssl.keystore.password", PASSWORDS[0]),
    ConfigRecord(BROKER, "1", "listener.name.x.plain.sasl.jaas.config", PASSWORDS[1]),
    ConfigRecord(TOPIC, "orders", "plug.in", PASSWORDS[2]),
    ConfigRecord(TOPIC, "orders", "retention.ms", "86400000"),
    DelegationTokenRecord("User:ann", "User:ann", (), 1, 2, 3, "token-id"),
)


def write_cluster(folder: Path, name: str) -> Path:
    """A log of the metadata with a segment and a snapshot, under some name."""
    log = folder / name
    write_segment(log, 0, [Step(1000, RECORDS)])
    write_checkpoint(log, 7, RECORDS, time=1000)
    return log


def damaged(content: bytes, *, known: bool) -> Iterator[bytes]:
    """A log of one batch in all kinds of damage; the argument says whether its name is that of the metadata log."""
    (batch,) = read_batches(content)
    yield content[:-1] + b"?"  # a wrong checksum
    yield content[:-1]  # cut off
    yield content[:16] + b"\1" + content[17:]  # an old format
    yield content[:16] + b"\7" + content[17:]  # one to come
    yield content[:8] + bytes(4) + content[12:]  # an absurd length
    other_types = (
        (b"\1\x0b\0", b"\1\x4d\0"),  # one to come
        (b"\1\x0b\0", b"\2\x0b\0"),  # another frame
        (b"\1\x0b\0", b"\1\x02\0"),
        (b"\1\x04\0", b"\1\x4d\0"),
    )
    for old, new in (
        *(other_types if known else ()),
        (b"\1\x0b\0", b"\1\x0b\5"),  # a version to come
        (b"\1\x04\0", b"\1\x04\6"),
        (b"ssl.key", b"\xff\xff\xff\xff\xff\xff\xff"),  # no text
        (b"\x04ann\2", b"\x04\xffnn\2"),
    ):
        yield seal_again(batch.payload.replace(old, new), content)
    yield seal_again(batch.payload[:-1] + b"\1", content)  # a header that is not there
    for codec in (1, 2, 3, 4, 7):
        yield seal_again(batch.payload, content, codec)  # not compressed


def seal_again(payload: bytes, content: bytes, codec: int = 0) -> bytes:
    (batch,) = read_batches(content)
    return seal(msgspec.structs.replace(batch, payload=payload, attributes=codec)).to_bytes()


def forms(secret: bytes) -> set[bytes]:
    """A secret as it may look in text: as it is, in hex, and in base64 wherever it begins."""
    found = {secret, secret.hex().encode(), secret.hex().upper().encode(), secret.hex(" ").encode()}
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + secret)
        middle = encoded[4 * bool(before) : -4]
        found |= {middle, middle.replace(b"+", b"-").replace(b"/", b"_")}
    found.add(repr(list(secret))[1:-1].encode())
    return found


FORMS = [(secret, form) for secret in SECRETS for form in forms(secret)]


def shown_in(octets: bytes) -> set[bytes]:
    """The secrets that can be found in some bytes."""
    return {secret for secret, form in FORMS if form in octets}


def octets_of(cell: object) -> bytes:
    """All text and bytes of a cell."""
    match cell:
        case bytes():
            return cell
        case list():
            return b"\n".join(map(octets_of, cell))
        case dict():
            return b"\n".join(map(octets_of, cell.values()))
    return str(cell).encode()


def shown_by(batches: Iterator[pa.RecordBatch]) -> set[bytes]:
    return shown_in(b"\n".join(octets_of(row) for batch in batches for row in batch.to_pylist()))


def every_table(log: Path, *, secrets: bool) -> set[bytes]:
    """The secrets that tables show in any mode."""
    found: set[bytes] = set()
    for name in table_names():
        for mode in ReadMode:
            try:
                found |= shown_by(
                    read_table(name, log, ReadOptions(mode=mode, secrets=secrets, no_ops=name == "records"))
                )
            except LogReadError as error:
                found |= shown_in(f"{error} {error!r} {error.reason}".encode())
    return found


def test_the_search_finds_what_is_shown(tmp_path: Path) -> None:
    log = write_cluster(tmp_path, METADATA)
    assert every_table(log, secrets=True) == set(SECRETS)
    for secret in SECRETS:
        for form in forms(secret):
            assert shown_in(b"x" + form + b"x") == {secret}


@pytest.mark.parametrize("name", [METADATA, "copy", "backup-2026-01"])
def test_no_table_shows_a_secret(tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    log = write_cluster(tmp_path, name)
    assert every_table(log, secrets=False) == set()
    for file in (*log.glob("*.log"), *log.glob("*.checkpoint")):
        assert every_table(file, secrets=False) == set()
    alone = tmp_path / "alone" / name
    write_segment(alone, 0, [Step(1000, RECORDS)])
    assert every_table(alone, secrets=False) == set()
    assert shown_in(caplog.text.encode()) == set()


@pytest.mark.extended
@pytest.mark.parametrize("name", [METADATA, "copy"])
def test_no_table_shows_a_secret_of_a_damaged_log(tmp_path: Path, name: str) -> None:
    log = tmp_path / name
    write_segment(log, 0, [Step(1000, RECORDS)])
    segment = log / f"{0:020}.log"
    content = segment.read_bytes()
    for number, broken in enumerate(damaged(content, known=name == METADATA)):
        segment.write_bytes(broken)
        assert every_table(log, secrets=False) == set(), f"damage {number}"


def test_columns_by_themselves_show_no_secret(tmp_path: Path) -> None:
    log = write_cluster(tmp_path, METADATA)
    for columns in (("value",), ("key", "value"), ("json",), ("record_type", "value"), ("_corrupt_record",)):
        assert shown_by(read_table("records", log, ReadOptions(columns=columns))) == set()
        types = ("CONFIG_RECORD", "USER_SCRAM_CREDENTIAL_RECORD")
        assert shown_by(read_table("records", log, ReadOptions(columns=columns, record_types=types))) == set()


def test_only_what_is_secret_is_hidden(tmp_path: Path) -> None:
    log = write_cluster(tmp_path, METADATA) / f"{0:020}.log"
    hidden = [row for batch in read_table("records", log) for row in batch.to_pylist()]
    shown = [row for batch in read_table("records", log, ReadOptions(secrets=True)) for row in batch.to_pylist()]
    assert [row["value"] is None for row in hidden] == [False, True, True, True, True, False, False]
    assert not any(row["tombstone"] for row in hidden)
    for mine, theirs in zip(hidden, shown, strict=True):
        if mine["value"] is not None:
            assert mine == theirs
    assert '"salt":"[hidden]","storedKey":"[hidden]","serverKey":"[hidden]","iterations":4096' in hidden[1]["json"]
    assert '"name":"ssl.keystore.password","value":"[hidden]"' in hidden[2]["json"]


def test_broken_bytes_of_other_logs_are_shown(tmp_path: Path) -> None:
    log = tmp_path / OFFSETS
    write_segment(log, 0, [Step(1000, (TopicRecord("t"),))])
    segment = log / f"{0:020}.log"
    segment.write_bytes(segment.read_bytes()[:-1] + b"?")
    (batch,) = read_table("batches", log)
    assert batch.column("_corrupt_record").to_pylist() == [segment.read_bytes()]


@pytest.mark.extended
@pytest.mark.parametrize("form", ["csv", "json", "table", "parquet"])
def test_no_file_of_the_command_shows_a_secret(tmp_path: Path, form: str) -> None:
    log = write_cluster(tmp_path, METADATA)
    for table in ("batches", "records", "config", "config_history", "user_scram_credential"):
        out = tmp_path / f"{table}.{form}"
        assert main(["tables", "--log", str(log), "--table", table, "--format", form, "--out", str(out)]) == 0
        content = out.read_bytes() if form != "parquet" else repr(pq.read_table(out).to_pylist()).encode()
        assert content
        assert shown_in(content) == set()


def test_no_report_shows_a_secret(tmp_path: Path) -> None:
    log = write_cluster(tmp_path, METADATA)
    assert main(["report", "logs", str(log), "--out", str(tmp_path / "report.html")]) == 0
    assert shown_in((tmp_path / "report.html").read_bytes()) == set()
    histories: dict[str, tuple[str, ...] | None] = dict.fromkeys(("acl_history", "config_history", "topic_history"))
    rows = read_metadata_histories(histories, find_log_files([log]), ReadOptions(), Accounts())
    assert shown_by(batch for _, batch in rows) == set()
