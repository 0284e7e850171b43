"""The suites: how each runs, what it needs, and the broker that it gets."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.suites.java_clients import class_path
from tests.suites.packages.broker_process import free_port

_PACKAGES: Final = str(Path(__file__).parent / "packages")
_PYTEST: Final = (
    "{python}", "-m", "pytest", "-p", "no:cacheprovider", "--timeout", "120", "--timeout-method", "signal", "-rfE"
)  # fmt: skip
_SCRAM: Final = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
_PLAIN: Final = (
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="test" password="testtest" '
    'user_test="testtest" user_bob="bobbob" user_alice="alicealice";'
)


class Suite(NamedTuple):
    """How a suite runs.

    Attributes:
        source: where the project is cloned from; empty for a suite that needs no clone, only a folder for its results.
        command: of the runner; ``{python}`` is the Python of the suite, ``{classes}`` its class path.
        tests: its tests, unless others are named.
        environment: variables besides ours; ``{folder}`` is the folder of this run, ``{port}`` the port of its broker.
        modules: what the Python of the suite must be able to import.
        install: how its needs are met, in the clone.
        release: the one whose versions the embedded broker offers.
        folder: in the clone, from which the runner starts.
        program: that must be there, on the path or in the folder.
        properties: of the broker, from the folder of this run; None where the suite starts brokers itself.
        prepared_by: command lines of tools, run once when the broker has started.
        on_disk: whether its records need more room than the embedded broker has in memory.
        class_path: of a suite in Java, found or made when it runs.
    """

    source: str
    command: Sequence[str]
    tests: Sequence[str]
    environment: Mapping[str, str]
    install: str
    modules: Sequence[str] = ()
    release: str = "4.2"
    folder: str = ""
    program: str = ""
    properties: Callable[[Path], Mapping[str, str] | None] = lambda _folder: None
    prepared_by: Sequence[Sequence[str]] = ()
    on_disk: bool = False
    class_path: Callable[[], str] = lambda: ""

    def missing(self, checkout: Path, python: str) -> str | None:
        """What is missing to run the suite, and how to get it; None if nothing is."""
        if not (checkout / self.folder).is_dir():
            is_clone = f"is not a clone; git clone {self.source} {checkout}"
            return f"{checkout} {is_clone if self.source else 'is not a folder; the suite writes its results there'}"
        if self.program and shutil.which(self.program, path=_path(checkout, self.folder)) is None:
            return f"there is no {self.program.rpartition('/')[2]}; {self.install}"
        if not self.modules:
            return None
        if shutil.which(python) is None:
            return f"--python must be a Python with {', '.join(self.modules)}; {self.install}"
        imported = [python, "-c", f"import {', '.join(self.modules)}"]
        done = subprocess.run(imported, cwd=checkout, capture_output=True, text=True, check=False)
        lines = done.stderr.strip().splitlines()
        return f"{python}: {lines[-1]}; {self.install}" if done.returncode else None


def _path(checkout: Path, folder: str) -> str:
    """The folders in which a suite finds its program."""
    own = [checkout / "node_modules" / ".bin", checkout / folder]
    return os.pathsep.join([*map(str, own), os.environ.get("PATH", "")])


def _plain(_folder: Path) -> Mapping[str, str]:
    """The properties of a broker that answers on a free port."""
    return {
        "node.id": "1",
        "listeners": f"PLAINTEXT://127.0.0.1:{free_port()}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT",
    }


def _of_kafka_go(_folder: Path) -> Mapping[str, str]:
    """The properties of a broker with the ports and users of the suite."""
    plain = 'PlainLoginModule required username="adminplain" password="admin-secret" user_adminplain="admin-secret";'
    logins = {
        "plain": f"org.apache.kafka.common.security.plain.{plain}",
        "scram-sha-256": _SCRAM,
        "scram-sha-512": _SCRAM,
    }
    return {
        "node.id": "1",
        "listeners": "PLAINTEXT://localhost:9092,SASL_PLAINTEXT://localhost:9093",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "message.max.bytes": "200000000",
        "group.initial.rebalance.delay.ms": "3000",  # its tests create topics while the first member waits
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        **{f"listener.name.sasl_plaintext.{name}.sasl.jaas.config": module for name, module in logins.items()},
    }


def _of_platformatic(_folder: Path) -> Mapping[str, str]:
    """The properties of a broker in place of the two that the suite uses without logins."""
    return {
        "node.id": "1",
        "listeners": "PLAINTEXT://localhost:9011,SINGLE://localhost:9001",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SINGLE:PLAINTEXT",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "group.consumer.heartbeat.interval.ms": "200",
        "group.consumer.min.heartbeat.interval.ms": "100",
    }


def _of_rskafka(_folder: Path) -> Mapping[str, str]:
    """The properties of a broker with the user of the suite on a second port."""
    users = 'PlainLoginModule required user_admin="admin-secret";'
    return {
        "node.id": "1",
        "listeners": f"PLAINTEXT://127.0.0.1:{free_port()},SECURE://localhost:9097",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SECURE:SASL_PLAINTEXT",
        "auto.create.topics.enable": "false",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.secure.plain.sasl.jaas.config": f"org.apache.kafka.common.security.plain.{users}",
    }


def _of_rust_rdkafka(_folder: Path) -> Mapping[str, str]:
    """The properties of a broker with the port, the id and the partitions that the suite expects."""
    return {
        "node.id": "0",
        "listeners": "PLAINTEXT://localhost:9092",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT",
        "num.partitions": "3",
    }


def _of_librdkafka(folder: Path) -> Mapping[str, str]:
    """The properties of a broker on a free port, which the configuration of the suite names.

    Groups wait for further members, as is the default: tests count the rebalances of two that begin together.
    """
    port = free_port()
    lines = f"metadata.broker.list=127.0.0.1:{port}\nbroker.address.family=v4\ntest.timeout.multiplier=3\n"
    (folder / "test.conf").write_text(lines, "utf-8")
    return {
        "node.id": "1",
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT",
        "num.partitions": "4",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
        "group.initial.rebalance.delay.ms": "3000",
        "group.share.min.record.lock.duration.ms": "1000",
    }


def _of_kafkajs(folder: Path) -> Mapping[str, str]:
    """The properties of a broker with the ports and users of the suite, and a certificate of this run."""
    key, certificate, store = folder / "key", folder / "certificate", folder / "store.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    store.write_bytes(key.read_bytes() + certificate.read_bytes())
    logins = {"plain": _PLAIN, "scram-sha-256": _SCRAM, "scram-sha-512": _SCRAM}
    return {
        "node.id": "0",
        "listeners": "PLAINTEXT://localhost:9092,SSL://localhost:9093,SASL_SSL://localhost:9094",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL",
        "num.partitions": "2",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "true",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        **{f"listener.name.sasl_ssl.{name}.sasl.jaas.config": module for name, module in logins.items()},
    }


SUITES: Final = {
    "kafka-python": Suite(
        "https://github.com/dpkp/kafka-python",
        _PYTEST,
        ("test/integration",),
        {"KAFKA_VERSION": "4.2.0", "KAFKA_ROOT": "{folder}"},
        "pip install -e CHECKOUT pytest pytest-timeout pytest-mock crc32c lz4 zstandard python-snappy xxhash",
        ("kafka", "pytest", "pytest_timeout"),
    ),
    "aiokafka": Suite(
        "https://github.com/aio-libs/aiokafka",
        (*_PYTEST, "--docker-image", "kafka:2.13_4.2.0", "-o", "asyncio_default_fixture_loop_scope=function"),
        ("tests",),
        {"PYTHONPATH": _PACKAGES},
        "apt-get install krb5-user libkrb5-dev, and"
        " pip install -e CHECKOUT[all] -r CHECKOUT/requirements-ci.txt pytest-timeout",
        ("aiokafka", "pytest", "pytest_timeout"),
        program="ktutil",
    ),
    "confluent-kafka-python": Suite(
        "https://github.com/confluentinc/confluent-kafka-python",
        _PYTEST,
        (
            *(f"tests/integration/{name}" for name in ("admin", "consumer", "producer", "serialization")),
            *("tests/integration/share_consumer", "-k", "not schema_registry"),
        ),
        {"PYTHONPATH": _PACKAGES},
        "pip install 'confluent-kafka[schemaregistry,avro,json,protobuf,rules]' pytest pytest-asyncio pytest-timeout",
        ("confluent_kafka.schema_registry", "pytest", "pytest_timeout", "pytest_asyncio"),
    ),
    "franz-go": Suite(
        "https://github.com/twmb/franz-go",
        ("go", "test", "-count=1", "-timeout", "20m", "-v"),
        ("-run", "ETL|Etl|ShareGroup", "."),
        {"KGO_SEEDS": "127.0.0.1:{port}", "KGO_TEST_RF": "1", "KGO_TEST_RECORDS": "100000", "KGO_LOG_LEVEL": "none"},
        "install Go (Debian: apt-get install golang)",
        folder="pkg/kgo",
        program="go",
        properties=_plain,
    ),
    "kafka-go": Suite(
        "https://github.com/segmentio/kafka-go",
        ("go", "test", "-count=1", "-timeout", "20m", "-v", "-parallel", "4"),
        ("-skip", "TestReaderConsumerGroup/.*commit", "."),
        {"KAFKA_VERSION": "3.7.0"},
        "install Go (Debian: apt-get install golang)",
        program="go",
        properties=_of_kafka_go,
        prepared_by=(
            ("kafka-configs", "--entity-name", "adminscram", "--add-config",
             "SCRAM-SHA-256=[password=admin-secret-256],SCRAM-SHA-512=[password=admin-secret-512]"),
        ),
    ),
    "platformatic-kafka": Suite(
        "https://github.com/platformatic/kafka",
        ("node", "--experimental-strip-types", "--no-warnings", "--test", "--test-reporter=spec"),
        (*(f"test/clients/{name}/*.test.ts" for name in ("admin", "consumer", "producer")),
         "test/clients/base/base.test.ts"),
        {},
        "npm install --ignore-scripts in the clone, with Node.js 22.22 or newer",
        program="node",
        properties=_of_platformatic,
    ),
    "librdkafka": Suite(
        "https://github.com/confluentinc/librdkafka",
        ("./run-test.sh", "-L", "-p5"),
        ("-E",),  # without faults of sockets: an assertion of theirs can end the run
        # The tests left out call Apache Kafka's tools, ask for three replicas, or measure how fast a broker answers.
        {"RDKAFKA_TEST_CONF": "{folder}/test.conf", "TEST_KAFKA_VERSION": "4.2.0",
         "TESTS_SKIP": "0045,0052,0055,0077,0098,0101,0103,0109,0115,0119"},
        "run ./configure, with the headers of zstd, make libs and make -C tests build in the clone",
        folder="tests",
        program="test-runner",
        properties=_of_librdkafka,
        on_disk=True,
    ),
    "java-clients": Suite(
        "",
        ("java", "-Xmx1g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", "{classes}",
         "kafkawire.suites.RunTests", "kafka-clients-integration-tests"),
        (),
        {},
        "install Java 17 and Maven (Debian: apt-get install openjdk-17-jdk-headless maven)",
        program="mvn",
        class_path=class_path,
    ),
    "rskafka": Suite(
        "https://github.com/influxdata/rskafka",
        ("cargo", "test", "--all-features", "--no-fail-fast"),
        ("--tests",),
        {"TEST_INTEGRATION": "1", "TEST_BROKER_IMPL": "kafka", "KAFKA_CONNECT": "127.0.0.1:{port}",
         "KAFKA_SASL_CONNECT": "localhost:9097", "RUSTUP_TOOLCHAIN": "stable"},
        "install Rust",
        program="cargo",
        properties=_of_rskafka,
    ),
    "rust-rdkafka": Suite(
        "https://github.com/fede1024/rust-rdkafka",
        ("cargo", "test", "--no-fail-fast"),
        ("--tests",),
        {"KAFKA_HOST": "localhost:9092", "KAFKA_VERSION": "4.2.0", "RUSTUP_TOOLCHAIN": "stable"},
        "install Rust, and git submodule update --init in the clone",
        program="cargo",
        properties=_of_rust_rdkafka,
    ),
    "kafkajs": Suite(
        "https://github.com/tulios/kafkajs",
        ("node_modules/.bin/jest", "--ci", "--no-watchman", "--forceExit", "--maxWorkers=2", "--verbose"),
        tuple(f"src/{name}/" for name in ("admin", "broker", "cluster", "consumer", "producer")),
        {"KAFKA_VERSION": "2.4", "NODE_ENV": "test", "KAFKAJS_DEBUG_PROTOCOL_BUFFERS": "1"},
        "npm install --ignore-scripts --legacy-peer-deps in the clone, with Node.js 14 or newer",
        program="jest",
        properties=_of_kafkajs,
        prepared_by=(
            ("kafka-configs", "--entity-name", "testscram", "--add-config",
             "SCRAM-SHA-256=[password=testtestscram=256],SCRAM-SHA-512=[password=testtestscram=512]"),
        ),
    ),
}  # fmt: skip
