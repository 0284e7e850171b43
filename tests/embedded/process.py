"""Embedded brokers in processes of their own, which can be killed."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import msgspec

STARTER: Final = """
import asyncio, os, sys
from pathlib import Path
import msgspec
from kafkawire.broker.embedded import EmbeddedBroker

async def serve(data_dir, properties):
    async with EmbeddedBroker(properties, data_dir=Path(data_dir)) as broker:
        print(os.getpid(), broker.port, flush=True)
        await broker.halted()

for line in sys.stdin:
    if not os.fork():
        asyncio.run(serve(*msgspec.json.decode(line)))
    os.wait()
    print("gone", flush=True)
"""
"""A process that has imported the broker, and makes others of itself: so a start takes milliseconds."""


@contextmanager
def running(command: Sequence[str], largest_file: int = resource.RLIM_INFINITY) -> Iterator[subprocess.Popen[str]]:
    """A process that does not outlive the test."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file,) * 2),  # noqa: PLW1509 no threads
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def started(process: subprocess.Popen[str], data_dir: Path, properties: Mapping[str, str]) -> Sequence[int]:
    """Process id and port of another broker, made by a process that runs ``STARTER``."""
    line = msgspec.json.encode((str(data_dir), properties)).decode()
    pipe(process.stdin).write(f"{line}\n")
    pipe(process.stdin).flush()
    return [int(word) for word in pipe(process.stdout).readline().split()]


def pipe(pipe: IO[str] | None) -> IO[str]:
    """A pipe that is there."""
    assert pipe is not None
    return pipe
