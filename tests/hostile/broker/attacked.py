"""A broker in a process of its own, attackers, and a good client that notices how long it waits."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kafkawire.protocol import MetadataRequest
from kafkawire.rpc import encode_request

_PROGRAM: Final = "import sys; from kafkawire.cli.app import main; sys.exit(main())"
_SIZE: Final = struct.Struct(">i")
_SECONDS: Final = 60.0
_SECONDS_BETWEEN_LOOKS: Final = 0.002
_RESET_PEAK: Final = "5"


@dataclass(frozen=True, slots=True)
class AttackedBroker:
    """A broker that runs.

    Attributes:
        process_id: of its process.
        port: of its plain listener.
    """

    process_id: int
    port: int

    def connect(self) -> socket.socket:
        """A connection to it."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=_SECONDS)

    def peak_megabytes(self) -> float:
        """The most memory that it had since the last reset."""
        (line,) = [line for line in self._file("status").read_text().splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) / 1024

    def reset_peak(self) -> None:
        """Forget what it had before."""
        self._file("clear_refs").write_text(_RESET_PEAK)

    def cpu_seconds(self) -> float:
        """How long it has computed."""
        fields = self._file("stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _file(self, name: str) -> Path:
        return Path(f"/proc/{self.process_id}/{name}")


@contextmanager
def attacked_broker(*options: str) -> Iterator[AttackedBroker]:
    """Start a broker; it is killed when the context ends."""
    command = [sys.executable, "-c", _PROGRAM, "broker", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().rpartition(":")[2])
            yield AttackedBroker(process.pid, port)
        finally:
            process.kill()


@dataclass(frozen=True, slots=True)
class Harm:
    """What an attack did to others.

    Attributes:
        worst: the longest that a good client waited for an answer, in seconds.
        megabytes: how much more memory the broker had at most.
        seconds: how long the attack took.
    """

    worst: float
    megabytes: float
    seconds: float


def harm_of(broker: AttackedBroker, *attacks: Callable[[AttackedBroker], None]) -> Harm:
    """Let attackers loose, all at the same time, beside a client that asks for metadata again and again."""
    broker.reset_peak()
    before = broker.peak_megabytes()
    begun = time.monotonic()
    good = _GoodClient(broker)
    attackers = [threading.Thread(target=attack, args=(broker,), daemon=True) for attack in attacks]
    for attacker in attackers:
        attacker.start()
    for attacker in attackers:
        attacker.join(_SECONDS)
        assert not attacker.is_alive(), "the attack does not end"
    return Harm(good.stopped(), broker.peak_megabytes() - before, time.monotonic() - begun)


def sending(*frames: bytes) -> Callable[[AttackedBroker], None]:
    """An attacker that sends frames, each after the answer to the one before, until it is hung up on."""

    def attack(broker: AttackedBroker) -> None:
        for frame in frames:
            with broker.connect() as connection, suppress(ConnectionError):
                connection.sendall(frame)
                receive(connection)

    return attack


def receive(connection: socket.socket) -> bytes:
    """The content of the next frame; nothing if the broker hangs up."""
    (size,) = _SIZE.unpack(_exactly(connection, _SIZE.size) or bytes(_SIZE.size))
    return _exactly(connection, size)


def _exactly(connection: socket.socket, count: int) -> bytes:
    received = bytearray()
    while len(received) < count:
        chunk = connection.recv(min(count - len(received), 1 << 20))
        if not chunk:
            return b""
        received += chunk
    return bytes(received)


class _GoodClient:
    """Asks for metadata in a thread, until it is stopped."""

    def __init__(self, broker: AttackedBroker) -> None:
        self._connection = broker.connect()
        self._worst = 0.0
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def stopped(self) -> float:
        """Stop it; the longest that it waited, in seconds."""
        self._is_stopped.set()
        self._thread.join(_SECONDS)
        self._connection.close()
        assert not self._thread.is_alive(), "a good client has no answer"
        return self._worst

    def _ask(self) -> None:
        frame = encode_request(MetadataRequest(()), 12, correlation_id=1, client_id="good")
        while not self._is_stopped.wait(_SECONDS_BETWEEN_LOOKS):
            begun = time.monotonic()
            self._connection.sendall(frame)
            assert receive(self._connection)
            self._worst = max(self._worst, time.monotonic() - begun)
