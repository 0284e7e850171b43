"""Whatever ends a broker, what it has acknowledged is there, and what it has not is there whole or not at all."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest
from tests.embedded.process import STARTER, pipe, running, started

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.metadata_log.file_log import FileLog, LogSettings
from kafkawire.broker.storage.data_directory import METADATA_FOLDER
from kafkawire.broker.storage.end_checkpoint import END_CHECKPOINT
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.protocol import AlterClientQuotasRequest, AlterClientQuotasResponse, ConfigRecord
from kafkawire.rpc import decode_response, encode_request

SEED: Final = 20_261_121
KILLS: Final = 12
ENTITIES: Final = 40
AT_ONCE: Final = 3
IN_FLIGHT: Final = 64
VERSION: Final = 1
SNAPSHOTS: Final = {"metadata.log.max.record.bytes.between.snapshots": "20000"}

PROGRAM: Final = "import sys; from kafkawire.cli.app import main; sys.exit(main())"


class Client:
    """Sets quotas, many requests at a time; the request number n gives each of its entities the value n."""

    def __init__(self, port: int, number: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self._input = self._socket.makefile("rb")
        self.sent = self.acknowledged = number

    def run(self, answers: int) -> None:
        """Continue until this number of answers has arrived.

        Raises:
            ConnectionError: the broker is gone.
        """
        for _ in range(answers):
            while self.sent - self.acknowledged < IN_FLIGHT:
                frame = encode_request(request(self.sent + 1), VERSION, correlation_id=self.sent + 1, client_id="load")
                self._socket.sendall(frame)
                self.sent += 1
            self._take_answer()

    def take_answers(self) -> None:
        """All that came before the broker was gone."""
        try:
            while self.acknowledged < self.sent:
                self._take_answer()
        except ConnectionError:
            pass
        finally:
            self._input.close()
            self._socket.close()

    def _take_answer(self) -> None:
        (size,) = struct.unpack(">i", self._read(4))
        number, answer = decode_response(self._read(size), AlterClientQuotasResponse, VERSION)
        assert [entry.error_code for entry in answer.entries] == [0] * AT_ONCE
        assert number == self.acknowledged + 1
        self.acknowledged = number

    def _read(self, size: int) -> bytes:
        content = self._input.read(size)
        if len(content) < size:
            raise ConnectionResetError("the broker is gone")
        return content


def request(number: int) -> AlterClientQuotasRequest:
    asked = AlterClientQuotasRequest
    change = (asked.OpData("producer_byte_rate", float(number)),)
    return asked(tuple(asked.EntryData((asked.EntityData("user", user),), change) for user in users(number)))


def users(number: int) -> Iterator[str]:
    return (f"user-{(number * AT_ONCE + index) % ENTITIES}" for index in range(AT_ONCE))


def after(number: int) -> Mapping[str, float]:
    """The quotas that the first requests amount to."""
    return {user: float(each) for each in range(1, number + 1) for user in users(each)}


def found(data_dir: Path) -> Mapping[str, float]:
    """The quotas that a directory holds."""
    image = MetadataImage()
    for record in FileLog(data_dir / METADATA_FOLDER, LogSettings(), ManualClock()).replay():
        image.apply(record)
    quotas = image.client_quotas.by_entity
    return {_user(entity): values["producer_byte_rate"] for entity, values in quotas.items()}


def _user(entity: ClientQuotaEntity) -> str:
    user = entity["user"]
    assert user is not None
    return user


def check(data_dir: Path, acknowledged: int, sent: int) -> int:
    """The state is that of the first requests: all that were acknowledged, perhaps some more; returns how many."""
    state = found(data_dir)
    last = int(max(state.values(), default=0))
    assert acknowledged <= last <= sent
    assert state == after(last)
    return last


def test_kill_9_under_load_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    chosen = random.Random(SEED)
    number = 0
    with running([sys.executable, "-c", STARTER]) as process:
        for _ in range(KILLS):
            pid, port = started(process, tmp_path, SNAPSHOTS)
            client = Client(port, number)
            client.run(answers=chosen.randrange(1, 400))
            os.kill(pid, signal.SIGKILL)
            assert pipe(process.stdout).readline() == "gone\n"
            client.take_answers()
            number = check(tmp_path, client.acknowledged, client.sent)
    assert number > KILLS
    assert sorted((tmp_path / METADATA_FOLDER).glob("*.checkpoint")) != []


def test_a_full_disk_halts_the_program_and_takes_nothing_back(tmp_path: Path) -> None:
    """A limit on the size of files replaces a full disk: the system raises the same kind of error for both."""
    data_dir, ready = tmp_path / "data", tmp_path / "ready"
    arguments = ["broker", "--port=0", f"--data-dir={data_dir}", f"--ready-file={ready}"]
    with running([sys.executable, "-c", PROGRAM, *arguments], largest_file=50_000) as process:
        assert "listens on" in pipe(process.stdout).readline()
        client = Client(int(ready.read_text().rpartition(":")[2]), 0)
        with pytest.raises(ConnectionError):
            client.run(answers=10_000)
        client.take_answers()
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "00000000000000000000.log: writing the records from offset" in errors
    assert "File too large" in errors
    assert "Traceback" not in errors
    assert client.acknowledged > 100
    check(data_dir, client.acknowledged, client.sent)


def test_a_power_failure_at_any_moment_takes_nothing_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written since the last fsync may be on the disk, or the beginning of it, or nothing."""
    disk = tmp_path / "disk"
    events = asyncio.run(_recorded(disk, monkeypatch))
    path, checkpoint = next(disk.glob("*.log")), disk.with_name(f"{disk.name}.{END_CHECKPOINT}")
    checkpoint.unlink()
    durable, written, acknowledged, appended = b"", b"", 0, 0
    for kind, content in events:
        match kind:
            case "append":
                appended += 1
            case "write":
                written += content
            case "fsync":
                durable = written
            case "checkpoint":
                checkpoint.write_bytes(content)  # as early as can be: what it says must be durable already
            case "acknowledge":
                acknowledged += 1
        for size in {len(durable), (len(durable) + len(written)) // 2, len(written)}:
            path.write_bytes(written[:size])
            records = [*FileLog(disk, LogSettings(), ManualClock()).replay()]
            last = len(records) // AT_ONCE
            assert acknowledged <= last <= appended
            assert records == [_config(number) for number in range(last) for _ in range(AT_ONCE)]
    assert acknowledged == appended > 10


async def _recorded(disk: Path, monkeypatch: pytest.MonkeyPatch) -> Sequence[tuple[str, bytes]]:
    log = FileLog(disk, LogSettings(), ManualClock())
    log.lead(1)
    events: list[tuple[str, bytes]] = []
    write, fsync = os.write, os.fsync

    def is_of_log(descriptor: int) -> bool:
        return Path(f"/proc/self/fd/{descriptor}").readlink().suffix == ".log"

    def noted_write(descriptor: int, content: bytes) -> int:
        events.append(("write" if is_of_log(descriptor) else "checkpoint", bytes(content)))
        return write(descriptor, content)

    def noted_fsync(descriptor: int) -> None:
        if is_of_log(descriptor):
            events.append(("fsync", b""))
        fsync(descriptor)

    monkeypatch.setattr(os, "write", noted_write)
    monkeypatch.setattr(os, "fsync", noted_fsync)

    async def change(number: int) -> None:
        events.append(("append", b""))
        log.append([_config(number)] * AT_ONCE)
        await log.durable(log.end_offset)
        events.append(("acknowledge", b""))

    for first in range(0, 20, 4):
        await asyncio.gather(*(change(number) for number in range(first, first + 4)))
    await log.close()
    monkeypatch.undo()
    return events


def _config(number: int) -> ConfigRecord:
    return ConfigRecord(2, "orders", f"key-{number}", "value")
