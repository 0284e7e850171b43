"""``kafkawire configs --compat kafka`` for callers that may do nothing or cannot log in, and without a broker.

The same lines at the same broker, by Apache's tool and by this one: output, errors and exit codes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest
from tests.apache_kafka.kafka_tool import KafkaTool, Printed, running_kafka_tool
from tests.apache_kafka.releases import broker_release_parameters, newest_scala_tools
from tests.apache_kafka.secure_broker import USER, SecureBroker, running_secure_broker
from tests.conformance.kafka_configs.scenarios import words_of

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.cli.app import main
from kafkawire.cli.kafka_configs.secrets_in_words import shown_words

pytestmark = [pytest.mark.conformance, pytest.mark.extended]

PLACE_IN_JAVA: Final = re.compile(r"(?:\tat |\t\.\.\. ).*\n")
REQUEST_IN_JAVA: Final = re.compile(r"Request Request\(.*\)")
"""In the text of a controller: connections, lengths and numbers of objects, which are others for each request."""

LOG_LINE: Final = re.compile(r"^.*; the client tries again until the timeout of the call\n", re.MULTILINE)

TOPIC: Final = "of-callers"
NODE: Final = 1
"""The id of the broker, whichever release it is of."""

LINES: Final = tuple(
    f"--describe {each}"
    for each in (
        f"--topic {TOPIC}", f"--topic {TOPIC} --all", "--entity-type topics", "--broker NODE", "--broker NODE --all",
        "--broker-defaults", "--entity-type brokers", "--broker-logger NODE", "--user u1", "--entity-type users",
        "--client c1", "--ip 1.2.3.4", "--client-metrics m", "--entity-type client-metrics", "--group g",
        "--entity-type groups",
    )
) + tuple(
    f"--alter {each}"
    for each in (
        f"--topic {TOPIC} --add-config retention.ms=1", f"--topic {TOPIC} --delete-config retention.ms",
        "--broker NODE --add-config log.cleaner.threads=1", "--broker-defaults --add-config log.cleaner.threads=1",
        "--broker-logger NODE --add-config kafka=INFO", "--user u1 --add-config producer_byte_rate=1",
        "--user u1 --delete-config producer_byte_rate", "--user u1 --add-config SCRAM-SHA-256=[password=p]",
        "--user u1 --delete-config SCRAM-SHA-256", "--client c1 --add-config producer_byte_rate=1",
        "--ip 1.2.3.4 --add-config connection_creation_rate=1", "--client-metrics m --add-config interval.ms=1000",
        "--group g --add-config consumer.session.timeout.ms=50000",
    )
)  # fmt: skip
"""Each entity type described and altered."""

SOME: Final = tuple(line for line in LINES if re.search(TOPIC + "$|types? (topics|brokers|groups)$|=1$|password", line))
QUICK: Final = {"request.timeout.ms": "1000", "default.api.timeout.ms": "1000"}


@pytest.fixture(scope="module")
def tool() -> Iterator[KafkaTool]:
    """Apache's tool, for brokers of every release."""
    with running_kafka_tool(newest_scala_tools()) as running:
        yield running


@pytest.fixture(scope="module", params=broker_release_parameters(every_minor=False))
def secure(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureBroker]:
    """A broker of its own: these lines alter it."""
    release: str = request.param
    with running_secure_broker(release, tmp_path_factory.mktemp(f"callers-{release}")) as broker:
        assert broker.broker.node_id == NODE
        with BlockingAdminClient(broker.address) as client:
            client.create_topics([NewTopic(TOPIC, 1, 1)])
        yield broker


Compare = Callable[[Sequence[str], str, Mapping[str, str]], None]


@pytest.fixture
def compare(tool: KafkaTool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Compare:
    """Compares lines with the words and properties of a caller before them."""
    file = tmp_path / "caller.properties"

    def printed(line: str) -> tuple[str, Printed, Printed]:
        words = words_of(f"{line} --command-config {file}", server="-", controller="-", node=NODE, files=tmp_path)
        (theirs,) = tool.configs([words])
        exit_code = main(["configs", "--compat", "kafka", *words])
        return line, _promised(Printed(*capsys.readouterr(), exit_code), words), _promised(theirs, words)

    def compared(lines: Sequence[str], access: str, properties: Mapping[str, str]) -> None:
        file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        results = [printed(f"{access} {line}") for line in lines]
        assert [(line, ours) for line, ours, _ in results] == [(line, theirs) for line, _, theirs in results]

    return compared


def _promised(printed: Printed, words: Sequence[str]) -> Printed:
    errors = PLACE_IN_JAVA.sub("", printed.stderr).replace(" ".join(words), shown_words(words))
    errors = LOG_LINE.sub("", REQUEST_IN_JAVA.sub("the request", errors))
    return Printed(printed.stdout, errors, printed.exit)


def login(secure: SecureBroker, mechanism: str, password: str | None = None) -> dict[str, str]:
    properties = secure.java_sasl(mechanism, USER, password, tls=False)
    return {name: value for name, value in properties.items() if name != "bootstrap.servers"}


def test_a_caller_without_any_rights(compare: Compare, secure: SecureBroker) -> None:
    server = f"--bootstrap-server localhost:{secure.sasl_plaintext_port}"
    compare(LINES, server, {**login(secure, "PLAIN"), **QUICK})


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_wrong_password(mechanism: str, compare: Compare, secure: SecureBroker) -> None:
    server = f"--bootstrap-server localhost:{secure.sasl_plaintext_port}"
    compare(SOME, server, {**login(secure, mechanism, "wrong"), **QUICK})


@pytest.mark.parametrize("access", ["--bootstrap-server", "--bootstrap-controller"])
def test_no_broker_at_the_address(access: str, compare: Compare) -> None:
    compare(SOME[::3], f"{access} localhost:1", QUICK)


def test_controllers(compare: Compare, secure: SecureBroker) -> None:
    controller = f"{secure.broker.host}:{secure.broker.controller_port}"
    compare(LINES, f"--bootstrap-controller {controller}", QUICK)


def test_brokers_given_as_controllers_and_the_other_way_round(compare: Compare, secure: SecureBroker) -> None:
    controller = f"{secure.broker.host}:{secure.broker.controller_port}"
    compare(SOME, f"--bootstrap-server {controller}", QUICK)
    compare(SOME, f"--bootstrap-controller {secure.address}", QUICK)
