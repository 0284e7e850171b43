"""How long a twin of a cluster with many ACLs takes until it is ready, as a process of its own."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.made.acl_sets import organisation
from tests.made.logs import METADATA_LOG, write_checkpoint

from benchmarks.processes import KAFKAWIRE, peak_memory, warm_environment
from kafkawire.broker.image.acls import acl_record
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import FeatureLevelRecord, RegisterBrokerRecord

_METADATA_VERSION = 30
_TIME = 1_795_250_000_000
_IDENTITY = "version=1\ncluster.id=production\nnode.id=3000\n"


class Start(NamedTuple):
    """A start of a twin.

    Attributes:
        seconds: from the start of the process until clients can connect.
        memory: of the process then, in bytes at most.
    """

    seconds: float
    memory: int


def starts(count: int, rounds: int) -> list[Start]:
    """Measure twins of a cluster with as many ACLs, after one that does not count."""
    with TemporaryDirectory() as folder:
        _write(Path(folder), count)
        return [_started(folder) for _ in range(rounds + 1)][1:]


def _write(folder: Path, count: int) -> None:
    """A data directory of a cluster with one broker."""
    end_point = RegisterBrokerRecord.BrokerEndpoint("PLAINTEXT", "node1", 9092, 0)
    broker = RegisterBrokerRecord(broker_id=1, broker_epoch=1, end_points=(end_point,), fenced=False)
    acls = [acl_record(acl, Uuid(number.to_bytes(16, "big"))) for number, acl in enumerate(organisation(count), 1)]
    records = [FeatureLevelRecord("metadata.version", _METADATA_VERSION), broker, *acls]
    write_checkpoint(folder / METADATA_LOG, len(records), records, time=_TIME)
    (folder / "meta.properties").write_text(_IDENTITY, encoding="utf-8")


def _started(folder: str) -> Start:
    words = [KAFKAWIRE, "broker", "--from-log", folder, "--port", "0"]
    begin = time.perf_counter()
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=warm_environment()) as process:
        try:
            if process.stdout is None or not process.stdout.readline():
                raise RuntimeError("the twin has ended")
            seconds = time.perf_counter() - begin
            return Start(seconds, peak_memory(process.pid))
        finally:
            process.terminate()
