"""A server of S3's protocol as a process of its own, which holds objects in memory."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyarrow import fs
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.node import HOST, free_ports

_SECONDS_TO_START = 60.0
_SECONDS_TO_STOP = 20.0
_KEYS = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "secret"}


@dataclass(frozen=True)
class S3Server:
    """A running server.

    Attributes:
        port: where it listens.
    """

    port: int

    @property
    def environment(self) -> dict[str, str]:
        """The options that name the server to readers of S3."""
        return {"AWS_ENDPOINT_URL": f"http://{HOST}:{self.port}", **_KEYS}

    def put(self, bucket: str, name: str, content: bytes) -> None:
        """Write an object, and make its bucket if there is none."""
        system = fs.S3FileSystem(
            endpoint_override=f"{HOST}:{self.port}",
            scheme="http",
            access_key=_KEYS["AWS_ACCESS_KEY_ID"],
            secret_key=_KEYS["AWS_SECRET_ACCESS_KEY"],
            region="us-east-1",
            allow_bucket_creation=True,
        )
        system.create_dir(bucket)
        with system.open_output_stream(f"{bucket}/{name}") as stream:
            stream.write(content)

    def put_folder(self, bucket: str, folder: Path, *, under: str = "") -> None:
        """Write the files of a folder under its name, in a folder of the bucket or at its top."""
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                self.put(bucket, str(Path(under, file.relative_to(folder.parent))), file.read_bytes())

    @contextmanager
    def known_users_only(self) -> Iterator[None]:
        """Refuse everybody meanwhile: no user was ever made."""
        self._refuse_after("0")
        yield
        self._refuse_after("inf")

    def _refuse_after(self, requests: str) -> None:
        kind = {"Content-Type": "application/octet-stream"}
        address = f"http://{HOST}:{self.port}/moto-api/reset-auth"
        urllib.request.urlopen(urllib.request.Request(address, requests.encode(), kind)).close()


@contextmanager
def running_s3_server(log: Path) -> Iterator[S3Server]:
    """Start a server without any bucket.

    Args:
        log: file for what it says.
    """
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "moto.server", "--host", HOST, "--port", str(port)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "COV"))}
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output, env=environment) as process:
        try:
            eventually(lambda: _answers(port), bool, seconds=_SECONDS_TO_START)
            yield S3Server(port)
        finally:
            process.terminate()
            process.wait(_SECONDS_TO_STOP)


def _answers(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://{HOST}:{port}/moto-api/").close()
    except (urllib.error.URLError, ConnectionError):
        return False
    return True
