"""Brokers that end at any moment under load, and clients that know what was acknowledged."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import pytest
from tests.embedded.process import pipe, running

_PROGRAM: Final = "import sys; from kafkawire.cli.app import main; sys.exit(main())"
_LARGEST_FILE: Final = 50_000


class LoadClient(ABC):
    """Sends requests whose numbers count up, many at a time.

    Args:
        port: of the broker.
        number: of the last request that was sent before.

    Attributes:
        sent: number of the last request.
        acknowledged: number of the last one that was answered.
    """

    IN_FLIGHT = 32
    """How many requests wait for an answer at most."""

    def __init__(self, port: int, number: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self._input = self._socket.makefile("rb")
        self.sent = self.acknowledged = number

    @abstractmethod
    def frame(self, number: int) -> bytes:
        """The request of a number, which is its correlation id."""

    @abstractmethod
    def number_of(self, answer: bytes) -> int:
        """The correlation id of an answer without error."""

    def run(self, answers: int) -> None:
        """Continue until this number of answers has arrived.

        Raises:
            ConnectionError: the broker is gone.
        """
        for _ in range(answers):
            while self.sent - self.acknowledged < self.IN_FLIGHT:
                self._socket.sendall(self.frame(self.sent + 1))
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
        number = self.number_of(self._read(size))
        assert number == self.acknowledged + 1
        self.acknowledged = number

    def _read(self, size: int) -> bytes:
        content = self._input.read(size)
        if len(content) < size:
            raise ConnectionResetError("the broker is gone")
        return content


C = TypeVar("C", bound=LoadClient)


def kill_9(process: subprocess.Popen[str], pid: int) -> None:
    """Kill a broker that a process with ``STARTER`` made."""
    os.kill(pid, signal.SIGKILL)
    assert pipe(process.stdout).readline() == "gone\n"


def halted_by_a_full_disk(folder: Path, client_of: Callable[[int, int], C]) -> tuple[C, str]:
    """The client of a broker that halted since its disk is full, and what the broker has printed.

    A limit on the size of files replaces a full disk: the system raises the same kind of error for both.

    Args:
        folder: has the directory of the broker, ``data``.
        client_of: makes the client.
    """
    ready = folder / "ready"
    arguments = ["broker", "--port=0", f"--data-dir={folder / 'data'}", f"--ready-file={ready}"]
    with running([sys.executable, "-c", _PROGRAM, *arguments], largest_file=_LARGEST_FILE) as process:
        assert "listens on" in pipe(process.stdout).readline()
        client = client_of(int(ready.read_text().rpartition(":")[2]), 0)
        with pytest.raises(ConnectionError):
            client.run(answers=10_000)
        client.take_answers()
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "Traceback" not in errors
    assert client.acknowledged > 100
    return client, errors
