"""Stands in for the package ``docker``: a container is a process with the embedded broker.

The suite of aiokafka starts Apache Kafka with that package. This one understands the environment that the suite gives
to its image, and runs the tools that the suite runs inside of the container.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a suite has a package ``tests`` of its own, and this folder is on its path
    from tests.suites.packages.broker_process import BrokerProcess
else:
    from broker_process import BrokerProcess

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


class Container:
    """A process in place of a container; without a broker it has only the tools."""

    def __init__(self, broker: BrokerProcess | None) -> None:
        self._broker = broker

    def stop(self) -> None:
        """End the process."""
        if self._broker is not None:
            self._broker.stop()

    def exec_run(self, command: str | Sequence[str], user: str | None = None) -> tuple[int, bytes]:
        """Run one of Kafka's tools, or the script that makes certificates; exit code and output."""
        words = shlex.split(command) if isinstance(command, str) else list(command)
        if words[-1] == "/gen-ssl-certs.sh":
            script = ["bash", str(Path("gen-ssl-certs.sh").resolve())]
            done = subprocess.run(script, cwd="tests/ssl_cert", capture_output=True, check=False)
        else:
            assert self._broker is not None
            done = self._broker.run_tool(Path(words[0]).stem, *words[1:])
        return done.returncode, done.stdout + done.stderr


class Containers:
    """Starts containers."""

    def run(self, image: str, environment: Mapping[str, object] | None = None, **_: object) -> Container:
        """Start a broker with the environment of the suite's image; without one, nothing."""
        return Container(None if environment is None else BrokerProcess(_properties(environment)))


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
        "node.id": "0",  # as the brokers of its image, and a test sends to this one
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


models = SimpleNamespace(containers=SimpleNamespace(Container=Container))
