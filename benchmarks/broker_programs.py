"""The embedded broker as a program of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from tests.apache_kafka.broker import AUTHORIZER


@contextmanager
def running_program(data_dir: Path | None, properties: Mapping[str, str] = MappingProxyType({})) -> Iterator[int]:
    """Run the program on a directory; gives its port.

    Args:
        data_dir: the directory; None for a broker in memory.
        properties: of the broker, beside its authorizer.
    """
    configured = [f"--config={name}={value}" for name, value in {**AUTHORIZER, **properties}.items()]
    kafkawire = os.fspath(Path(sys.executable).with_name("kafkawire"))
    command = [kafkawire, "broker", "--port=0", *configured]
    if data_dir is not None:
        command.append(f"--data-dir={data_dir}")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise RuntimeError("the output is a pipe")
            yield int(process.stdout.readline().rpartition(":")[2])
        finally:
            process.send_signal(signal.SIGTERM)
