"""Stands in for the package ``docker``: a container is a process with the embedded broker.

The suite of aiokafka starts Apache Kafka with that package. This one understands the environment that the suite gives
to its image, and runs the tools that the suite runs inside of the container.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

_LISTENERS = {
    "PLAINTEXT": "ADVERTISED_PORT",
    "SSL": "ADVERTISED_SSL_PORT",
    "SASL_PLAINTEXT": "ADVERTISED_SASL_PLAINTEXT_PORT",
    "SASL_SSL": "ADVERTISED_SASL_SSL_PORT",
}
_PLAIN = (
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="admin" password="admin" '
    'user_admin="admin" user_test="test" user_test2="test2";'
)
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
_OURS = [os.environ["KAFKAWIRE_SUITE_PYTHON"], "-m"]


class Container:
    """A process in place of a container."""

    def __init__(self, process: subprocess.Popen[str], port: str) -> None:
        self._process = process
        self._port = port

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait(20)

    def exec_run(self, command: str | Sequence[str], user: str | None = None) -> tuple[int, bytes]:
        """Run one of Kafka's tools, or the script that makes certificates; exit code and output."""
        words = shlex.split(command) if isinstance(command, str) else list(command)
        if words[-1] == "/gen-ssl-certs.sh":
            script = ["bash", str(Path("gen-ssl-certs.sh").resolve())]
            done = subprocess.run(script, cwd="tests/ssl_cert", capture_output=True, check=False)
        else:
            tool = Path(words[0]).stem
            done = _ours("tests.suites.tools", tool, self._port, *words[1:])
        return done.returncode, done.stdout + done.stderr


class Containers:
    """Starts containers."""

    def run(self, image: str, environment: Mapping[str, object] | None = None, **_: object) -> Container:
        """Start a broker with the environment of the suite's image; without one, a process that does nothing."""
        if environment is None:
            return Container(subprocess.Popen(["sleep", "300"], text=True), "")
        port = str(environment["ADVERTISED_PORT"])
        path = Path(os.environ["KAFKAWIRE_SUITE_FOLDER"]) / f"{port}.properties"
        path.write_text("".join(f"{name}={value}\n" for name, value in _properties(environment).items()), "utf-8")
        process = subprocess.Popen(
            [*_OURS, "tests.suites.server", str(path)], stdout=subprocess.PIPE, text=True, env=_environment()
        )
        assert process.stdout is not None
        process.stdout.readline()
        return Container(process, port)


class Client:
    """What ``from_env`` returns."""

    containers = Containers()
    images = SimpleNamespace(pull=lambda image: image)

    def close(self) -> None:
        """Do nothing."""


def from_env() -> Client:
    """The client."""
    return Client()


def _properties(environment: Mapping[str, object]) -> dict[str, str]:
    host = environment["ADVERTISED_HOST"]
    found = {
        "node.id": "1",
        "listeners": ",".join(f"{name}://{host}:{environment[port]}" for name, port in _LISTENERS.items()),
        "listener.security.protocol.map": ",".join(f"{name}:{name}" for name in _LISTENERS),
        "num.partitions": str(environment["NUM_PARTITIONS"]),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
        "group.initial.rebalance.delay.ms": "0",
        "ssl.client.auth": "required",
        "ssl.keystore.location": str(Path("tests/ssl_cert/br_server.keystore.jks").resolve()),
        "ssl.keystore.password": "abcdefgh",
        "ssl.truststore.location": str(Path("tests/ssl_cert/ca.crt").resolve()),
        "ssl.truststore.type": "PEM",
    }
    for listener in ("sasl_plaintext", "sasl_ssl"):
        modules = {"plain": _PLAIN, "scram-sha-256": _SCRAM, "scram-sha-512": _SCRAM}
        found |= {f"listener.name.{listener}.{name}.sasl.jaas.config": module for name, module in modules.items()}
    return found


def _ours(*command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*_OURS, *command], capture_output=True, check=False, env=_environment())


def _environment() -> dict[str, str]:
    """That of our Python: without this package, and with the tests."""
    return {**os.environ, "PYTHONPATH": os.environ["KAFKAWIRE_SUITE_ROOT"]}


models = SimpleNamespace(containers=SimpleNamespace(Container=Container))
