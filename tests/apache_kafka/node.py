"""A node of Apache Kafka: one Java process on a formatted folder, and the command lines that such processes have."""

from __future__ import annotations

import random
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tests.apache_kafka.java_program import java_command, loaded_classes
from tests.apache_kafka.storage import format_once

HOST = "127.0.0.1"
"""Where all listeners are."""

CLUSTER_ID = "a2Fma2F3aXJlLXRlc3RzMA"
"""The id of every cluster."""

T = TypeVar("T")
_SECONDS_TO_START = 180.0
_SECONDS_TO_STOP = 20.0
_SECONDS_BETWEEN_LOOKS = 0.05
_STARTS = 3

_PORTS = range(10_000, 32_000)
"""Below the ports of outgoing connections, so that a port stays free while its node is down."""

_METADATA_1 = bytes.fromhex("0000000e 0003 0001 00000000 ffff 00000000")
"""A frame with a Metadata request, version 1, for no topic: it works before anything of ours does."""

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")


class BrokerError(Exception):
    """A broker that does not start; the message is what it printed."""


class PortTakenError(BrokerError):
    """Another process was faster in taking a free port."""


class Node:
    """A process of Apache Kafka that can be started again and again on the same data and the same ports.

    Args:
        release: of Apache Kafka.
        node_id: its id in the cluster.
        home: an empty folder, for its configuration and its output.
        properties: its whole ``server.properties``.
        heap: the most memory that it may use, as Java writes it.
        plugins: folders with classes of the tests, which its properties name.
    """

    def __init__(
        self,
        release: str,
        node_id: int,
        home: Path,
        properties: Mapping[str, str],
        *,
        heap: str,
        plugins: Sequence[Path] = (),
    ) -> None:
        self.release = release
        self.node_id = node_id
        self.home = home
        self.configuration = home / "server.properties"
        self.output = home / "output.txt"
        self._properties = dict(properties)
        self._heap = heap
        self._plugins = tuple(plugins)
        self._recorded = home / "loaded-classes.jsa"
        self._process: subprocess.Popen[bytes] | None = None
        home.mkdir(parents=True)
        self.configuration.write_text("".join(f"{name}={value}\n" for name, value in properties.items()), "utf-8")

    @property
    def is_running(self) -> bool:
        """Whether its process is there."""
        return self._process is not None and self._process.poll() is None

    def format(self, arguments: Sequence[str] = ()) -> None:
        """Make its folders those of a new cluster.

        Raises:
            BrokerError: if ``kafka-storage`` refuses.
        """
        format_once(self.release, self._properties, arguments, lambda: self._format(arguments))

    def _format(self, arguments: Sequence[str]) -> None:
        storage = ("--config", str(self.configuration), "--cluster-id", CLUSTER_ID)
        try:
            run_tool(self.release, "kafka.tools.StorageTool", "format", *storage, *arguments, plugins=self._plugins)
        except subprocess.CalledProcessError as error:
            raise BrokerError(f"kafka-storage format failed:\n{error.stdout}{error.stderr}") from error

    def start(self) -> None:
        """Start its process, which will take a while to answer."""
        command = [*java_command(self.release, self._heap, self._plugins), "kafka.Kafka", str(self.configuration)]
        command[1:1] = self._recording()
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=self.home
            )

    def wait_until(self, answers: Callable[[], bool]) -> None:
        """Ask until it answers.

        Raises:
            PortTakenError: if it ended because another process has one of its ports.
            BrokerError: if it ended, or does not answer in time.
        """
        assert self._process is not None
        deadline = time.monotonic() + _SECONDS_TO_START
        while not answers():
            if time.monotonic() > deadline:
                raise BrokerError(f"{self} did not answer within {_SECONDS_TO_START:.0f} s:\n{self._printed()}")
            self._wait_a_moment(self._process)

    def stop(self) -> None:
        """End its process as an operator does; by force if it does not end in time."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self.kill()
            return
        if self._recorded.is_file():
            self._recorded.replace(loaded_classes(self.release))

    def kill(self) -> None:
        """End its process at once, as a power failure does."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def __str__(self) -> str:
        return f"node {self.node_id} of Apache Kafka {self.release}"

    def _recording(self) -> list[str]:
        """Options of a process that keeps what it has loaded for those after it, if none has yet."""
        if self._plugins or loaded_classes(self.release).is_file():
            return []
        return [f"-XX:ArchiveClassesAtExit={self._recorded}", "-Xlog:disable"]

    def _wait_a_moment(self, process: subprocess.Popen[bytes]) -> None:
        try:
            process.wait(_SECONDS_BETWEEN_LOOKS)
        except subprocess.TimeoutExpired:
            return
        printed = self._printed()
        kind = PortTakenError if "Address already in use" in printed else BrokerError
        raise kind(f"{self} ended with exit code {process.returncode}:\n{printed}")

    def _printed(self) -> str:
        return self.output.read_text("utf-8", errors="replace")


def run_tool(release: str, tool: str, *arguments: str, plugins: Sequence[Path] = (), standard_input: str = "") -> str:
    """What a command line tool of Apache Kafka prints, or another class with a ``main``.

    Args:
        release: of Apache Kafka.
        tool: the name of its main class.
        arguments: its command line.
        plugins: folders with further classes.
        standard_input: what it can read.

    Raises:
        subprocess.CalledProcessError: if it fails.
    """
    command = [*java_command(release, "512m", plugins), tool, *arguments]
    try:
        return subprocess.run(command, input=standard_input, capture_output=True, text=True, check=True).stdout
    except subprocess.CalledProcessError as error:
        error.add_note(error.stdout + error.stderr)
        raise


@contextmanager
def started(start: Callable[[Path], T], stop: Callable[[T], None], folder: Path) -> Iterator[T]:
    """What was started on free ports; another try is made when another process was faster in taking one.

    Args:
        start: starts it in an empty folder, and stops what it has started if it raises.
        stop: stops it when the context ends.
        folder: holds the folders.

    Raises:
        BrokerError: if it does not start.
    """
    for attempt in range(_STARTS):
        try:
            running = start(folder / f"start-{attempt}")
        except PortTakenError:
            continue
        try:
            yield running
        finally:
            stop(running)
        return
    raise BrokerError(f"no free ports in {_STARTS} attempts")


def free_ports(count: int) -> list[int]:
    """Ports that are free at the moment."""
    free: list[int] = []
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):  # test processes run side by side, and have one seed
        if len(free) == count:
            break
        if _is_free(port):
            free.append(port)
    return free


def listed_brokers(port: int) -> set[int]:
    """The ids of the brokers that a listener lists; none while it does not answer or is not yet let in."""
    try:
        with socket.create_connection((HOST, port), timeout=_SECONDS_TO_START) as connection:
            connection.sendall(_METADATA_1)
            (size,) = _INT32.unpack(_received(connection, 4))
            return set(_broker_ids(_received(connection, size)))
    except OSError:
        return set()


def _received(connection: socket.socket, count: int) -> bytes:
    received = connection.recv(count, socket.MSG_WAITALL)
    if len(received) < count:
        raise ConnectionResetError(f"the listener closed the connection after {len(received)} of {count} bytes")
    return received


def _broker_ids(answer: bytes) -> Iterator[int]:
    """The answer to a Metadata request of version 1 begins with: correlation id, brokers (id, host, port, rack)."""
    (count,) = _INT32.unpack_from(answer, 4)
    at = 8
    for _ in range(count):
        yield _INT32.unpack_from(answer, at)[0]
        after_host = at + 6 + _INT16.unpack_from(answer, at + 4)[0]
        at = after_host + 6 + max(_INT16.unpack_from(answer, after_host + 4)[0], 0)


def _is_free(port: int) -> bool:
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        return False
    return True
