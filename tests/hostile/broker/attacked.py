"""A broker in a process of its own that measures itself, and attackers that send it whatever they like."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Final

import msgspec

_PROGRAM: Final = """
import asyncio, json, sys, time
from pathlib import Path
from kafkawire.broker.embedded import EmbeddedBroker

slice = 0.0

async def tick():
    global slice
    last = time.thread_time()
    while True:
        await asyncio.sleep(0.001)
        now = time.thread_time()
        slice, last = max(slice, now - last), now

def peak():
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024

async def serve(properties):
    global slice
    async with EmbeddedBroker(properties) as broker:
        ticking = asyncio.create_task(tick())
        print(broker.port, flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps({"slice": slice, "peak_megabytes": peak()}), flush=True)
            Path("/proc/self/clear_refs").write_text("5")
            slice = 0.0

asyncio.run(serve(json.loads(sys.stdin.readline())))
"""
_SIZE: Final = struct.Struct(">i")
_SECONDS: Final = 60.0


class Measured(msgspec.Struct, frozen=True):
    """Problems of a broker since the last call.

    Attributes:
        slice: the longest that others had to wait for their turn, in seconds that the processor spent in the broker's
            thread: a machine with much else to do makes no difference.
        peak_megabytes: the most memory that the process had.
    """

    slice: float
    peak_megabytes: float


class Harm(msgspec.Struct, frozen=True):
    """What attackers did to others.

    Attributes:
        slice: as of `Measured`.
        megabytes: by how much more memory the broker had at most.
    """

    slice: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class AttackedBroker:
    """A broker that runs.

    Attributes:
        port: of its first listener.
    """

    port: int
    _input: IO[str]
    _output: IO[str]

    def connect(self) -> socket.socket:
        """A connection to it."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=_SECONDS)

    def measured(self) -> Measured:
        """What it noticed since the last call."""
        self._input.write("look\n")
        self._input.flush()
        return msgspec.json.decode(self._output.readline(), type=Measured)

    def harm_of(self, *attackers: Callable[[AttackedBroker], None]) -> Harm:
        """Let attackers loose, all at the same time, and wait until they are done."""
        self.measured()
        before = self.measured()
        threads = [threading.Thread(target=attacker, args=(self,), daemon=True) for attacker in attackers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(_SECONDS)
            assert not thread.is_alive(), "an attack does not end"
        measured = self.measured()
        return Harm(measured.slice, measured.peak_megabytes - before.peak_megabytes)


@contextmanager
def attacked_broker(properties: Mapping[str, str] | None = None) -> Iterator[AttackedBroker]:
    """Start a broker; it is killed when the context ends."""
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(msgspec.json.encode(properties or {}).decode() + "\n")
            process.stdin.flush()
            port = int(process.stdout.readline())
            yield AttackedBroker(port, process.stdin, process.stdout)
        finally:
            process.kill()


@dataclass(slots=True)
class Sender:
    """An attacker that sends frames, each after the answer to the one before, on a new connection if it is hung up on.

    Attributes:
        frames: whole frames, with their sizes.
        answered: how many got an answer.
    """

    frames: tuple[bytes, ...]
    answered: int = 0

    def __call__(self, broker: AttackedBroker) -> None:
        """Send them."""
        connection = broker.connect()
        for frame in self.frames:
            if not self._ask(connection, frame):
                connection.close()
                connection = broker.connect()
        connection.close()

    def _ask(self, connection: socket.socket, frame: bytes) -> bool:
        with suppress(ConnectionError):
            connection.sendall(frame)
            if receive(connection):
                self.answered += 1
                return True
        return False


def receive(connection: socket.socket) -> bytes:
    """The content of the next frame; nothing if the broker hangs up."""
    size = _exactly(connection, _SIZE.size)
    return _exactly(connection, _SIZE.unpack(size)[0]) if size else b""


def _exactly(connection: socket.socket, count: int) -> bytes:
    received = bytearray()
    while len(received) < count:
        chunk = connection.recv(min(count - len(received), 1 << 20))
        if not chunk:
            return b""
        received += chunk
    return bytes(received)
