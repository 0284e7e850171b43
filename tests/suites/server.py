"""A process that starts a broker as ``kafka-server-start`` does, from a file of properties: ours, or Apache Kafka.

It prints the lines by which suites learn that Apache Kafka is ready. The broker has one more listener, without login,
for the tools of the suites; its address is in a file that is named after the first port.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from tests.apache_kafka.broker import ONE_NODE
from tests.suites.apache_kafka import running_kafka
from tests.suites.packages.broker_process import FOLDER, free_port

from kafkawire.admin import AdminClient, ScramUpsertion
from kafkawire.broker import EmbeddedBroker
from kafkawire.model.scram import ScramMechanism

TOOLS: Final = "TOOLS"
"""The listener for the tools of the suites."""

RELEASE: Final = "KAFKAWIRE_SUITE_RELEASE"
"""The variable with the release whose versions the embedded broker offers."""

ON_DISK: Final = "KAFKAWIRE_SUITE_ON_DISK"
"""The variable that is not empty if the embedded broker has a data directory."""

BROKER: Final = "KAFKAWIRE_SUITE_BROKER"
"""The variable with the broker: ``embedded``, or ``apache`` for Apache Kafka."""

_PEM: Final = re.compile(r"-----BEGIN [^-]+-----.*?-----END [^-]+-----\n?", re.DOTALL)
_SERVER_OF_JAAS: Final = re.compile(r"KafkaServer \{(.*?)\};", re.DOTALL)
_USER_OF_JAAS: Final = re.compile(r'username="([^"]*)"\s+password="([^"]*)"')


def address_file(port: int) -> Path:
    """The file with the address of the listener for tools, of the broker whose first port this is."""
    return Path(os.environ[FOLDER]) / f"{port}.address"


def properties_of(path: Path) -> dict[str, str]:
    """The properties in a file."""
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def with_pem(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties with a key store in PEM, which the broker reads, in place of one in Java's format."""
    store = properties.get("ssl.keystore.location")
    if store is None or store.endswith(".pem"):
        return dict(properties)
    password = properties["ssl.keystore.password"]
    standard = f"{store}.p12"
    _run("keytool", "-importkeystore", "-noprompt", "-srckeystore", store, "-srcstorepass", password,
         "-destkeystore", standard, "-deststoretype", "PKCS12", "-deststorepass", password)  # fmt: skip
    read = ("openssl", "pkcs12", "-in", standard, "-passin", f"pass:{password}")
    pem = Path(f"{store}.pem")
    pem.write_text("".join(_PEM.findall(_run(*read, "-nodes", "-nocerts") + _run(*read, "-nokeys"))), "utf-8")
    left_out = ("ssl.keystore.", "ssl.key.password", *(() if _trusts_pem(properties) else ("ssl.truststore.",)))
    others = {name: value for name, value in properties.items() if not name.startswith(left_out)}
    return {**others, "ssl.keystore.type": "PEM", "ssl.keystore.location": str(pem)}


def with_login(properties: Mapping[str, str], jaas: str) -> dict[str, str]:
    """The properties with the login module of ``KafkaServer`` in a JAAS file, which Java reads by a system property."""
    listener = properties["listeners"].partition(":")[0].lower()
    module = " ".join(_server_of(jaas).split())
    names = (name.strip().lower() for name in properties["sasl.enabled.mechanisms"].split(","))
    return {**properties, **{f"listener.name.{listener}.{name}.sasl.jaas.config": module for name in names}}


def with_tools(properties: Mapping[str, str], port: int = 0) -> dict[str, str]:
    """The properties with a listener for the tools of the suites, whose clients are super users."""
    given = properties.get("advertised.listeners", "").split(",")
    advertised = [each for each in given if each and not each.startswith("CONTROLLER")]
    tools = f"{TOOLS}://127.0.0.1:{port}"
    added = {
        "listeners": f"{properties['listeners']},{tools}",
        "listener.security.protocol.map": f"{properties['listener.security.protocol.map']},{TOOLS}:PLAINTEXT",
        "super.users": ";".join(filter(None, ("User:ANONYMOUS", properties.get("super.users")))),
    }
    if advertised:
        added["advertised.listeners"] = ",".join([*advertised, *([tools] if port else [])])
    return {**properties, **added}


def main() -> None:
    """Run the broker of the last argument until the process is ended."""
    properties, jaas = properties_of(Path(sys.argv[-1])), _jaas()
    asyncio.run(run(with_login(properties, jaas) if jaas else properties, jaas))


async def run(properties: Mapping[str, str], jaas: str) -> None:
    """Run the broker until the process is ended.

    Args:
        properties: of the broker.
        jaas: the file with its login module; empty without logins.
    """
    ended = asyncio.Event()
    # A start of Apache Kafka blocks the loop; when a suite ends it, Java has to end too, and so leave its ports.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    start = _apache if os.environ.get(BROKER) == "apache" else _embedded
    async with start(properties) as address:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        address_file(_first_port(properties)).write_text(address, "utf-8")
        if "ScramLoginModule" in jaas:
            await _add_user(address, properties["sasl.enabled.mechanisms"], jaas)
        sys.stdout.write(f"[KafkaRaftServer nodeId={properties['node.id']}] Kafka Server started\n")
        sys.stdout.flush()
        await ended.wait()


@asynccontextmanager
async def _embedded(properties: Mapping[str, str]) -> AsyncIterator[str]:
    """The embedded broker, with the delays that Apache Kafka gets; gives the address of its listener for tools."""
    data_dir = Path(os.environ[FOLDER]) / "data" if os.environ.get(ON_DISK) else None
    settings = {**ONE_NODE, **with_tools(with_pem(properties))}
    async with EmbeddedBroker(settings, data_dir=data_dir, release=os.environ.get(RELEASE)) as broker:
        yield broker.address(TOOLS)


@asynccontextmanager
async def _apache(properties: Mapping[str, str]) -> AsyncIterator[str]:
    """Apache Kafka; gives the address of its listener for tools."""
    port = free_port()
    with running_kafka(with_tools(properties, port), port, Path(os.environ[FOLDER])):
        yield f"127.0.0.1:{port}"


async def _add_user(address: str, mechanisms: str, jaas: str) -> None:
    """Add the user of the JAAS file, whom ``kafka-storage format --add-scram`` adds to Apache Kafka."""
    found = _USER_OF_JAAS.search(_server_of(jaas))
    if found is None:
        raise ValueError("the login module has no username and password")
    user, password = found.groups()
    async with AdminClient(address) as admin:
        scram = [each for each in ScramMechanism if each.name.replace("_", "-") in mechanisms.split(",")]
        alterations = [ScramUpsertion(user, each, password) for each in scram]
        (await admin.alter_user_scram_credentials(alterations)).all()
    sys.stdout.write(f"Replayed UserScramCredentialRecord creating new entry for {user}\n")
    sys.stdout.flush()


def _first_port(properties: Mapping[str, str]) -> int:
    return int(properties["listeners"].partition(",")[0].rpartition(":")[2])


def _server_of(jaas: str) -> str:
    found = _SERVER_OF_JAAS.search(jaas)
    if found is None:
        raise ValueError("the JAAS file has no section KafkaServer")
    return found[1]


def _trusts_pem(properties: Mapping[str, str]) -> bool:
    return properties.get("ssl.truststore.type") == "PEM"


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _jaas() -> str:
    """The JAAS file that Java would read; empty if there is none."""
    found = re.search(r"java\.security\.auth\.login\.config=(\S+)", os.environ.get("KAFKA_OPTS", ""))
    return "" if found is None else Path(found[1]).read_text("utf-8")


if __name__ == "__main__":
    main()
