"""How long ``kafkawire plan`` and ``kafkawire apply`` take, whole processes.

* Quotas of many users by one apply, and by a loop of kafka-configs over a few of them, of which the time of all is
  extrapolated; both at one broker of Apache Kafka.
* A few new ACLs beside many, at an embedded broker in a process of its own.
* A plan of many items of every kind, all of them new and all of them unchanged, at the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.apache_kafka.broker import AUTHORIZER, running_broker
from tests.apache_kafka.java_program import java_command
from tests.apache_kafka.node import HOST
from tests.apache_kafka.releases import config_command, newest_broker_release

from benchmarks.broker_programs import running_program
from benchmarks.command_tools import HEAP, SCRIPT_OPTIONS
from benchmarks.processes import KAFKAWIRE, Ended, whole_process
from benchmarks.results import KAFKA, OURS, Alone, Measurement, Target
from kafkawire.admin import AclBinding, AclOperation, BlockingAdminClient, ResourceType

QUOTAS: Final = "apply quotas"
DOCUMENTS: Final = "plan and apply"
_OF_A_LOOP: Final = (Target(KAFKA, 500),)
_OF_ACLS: Final = (Target(None, 3),)
_OF_A_PLAN: Final = (Target(None, 10),)
_PATIENT: Final = ("--timeout", "600")


def quotas(rounds: int, users: int, looped: int) -> Measurement:
    """Measure quotas of users.

    Args:
        rounds: of one apply and one loop each; every apply sets another quota.
        users: of one apply.
        looped: users of the loop in a round.
    """
    release = newest_broker_release()
    tool = [*java_command(release, HEAP, options=SCRIPT_OPTIONS), config_command(release)]
    ours: list[float] = []
    theirs: list[float] = []
    with (
        TemporaryDirectory() as folder,
        running_broker(release, Path(folder) / "kafka", properties=AUTHORIZER) as broker,
    ):
        change = ["--bootstrap-server", broker.address, "--alter", "--entity-type", "users"]
        for number in range(rounds + 1):
            document = _written(folder, {"quotas": _quotas(users, 1024 + number)})
            taken = _kafkawire(["apply", document, "--yes"], broker.address).seconds
            rate = ["--add-config", f"producer_byte_rate={number + 9}"]
            each = [
                whole_process([*tool, *change, *rate, "--entity-name", f"user-{user}"]).seconds
                for user in range(looped if number else 1)
            ]
            if number:
                ours.append(taken)
                theirs.append(sum(each) / looped * users)
    case = f"quotas of {_grouped(users)} users"
    return Measurement(QUOTAS, case, {OURS: tuple(ours), KAFKA: tuple(theirs)}, _OF_A_LOOP)


def acls(rounds: int, new: int, present: int) -> Alone:
    """Measure an apply of new ACLs beside those that are present."""
    with TemporaryDirectory() as folder, running_program(Path(folder) / "data") as port:
        address = f"{HOST}:{port}"
        with BlockingAdminClient(address) as admin:
            admin.create_acls(
                [
                    AclBinding(ResourceType.TOPIC, f"old-{n}", f"User:old-{n % 500}", AclOperation.READ)
                    for n in range(present)
                ],
                timeout=600,
            ).all()
        ended = [
            _kafkawire(["apply", _written(folder, {"acls": _acls(new, f"new{number}")}), "--yes"], address)
            for number in range(rounds + 1)
        ]
    return _alone(f"apply {_grouped(new)} ACLs beside {_grouped(present)}", ended[1:], _OF_ACLS)


def items(rounds: int, count: int) -> Iterator[Alone]:
    """Measure plans of many items, and the apply between them."""
    with TemporaryDirectory() as folder, running_program(Path(folder) / "data") as port:
        address = f"{HOST}:{port}"
        document = _written(folder, _everything(count))

        def planned(what: str) -> Alone:
            ended = [_kafkawire(["plan", document, *_PATIENT], address) for _ in range(rounds)]
            return _alone(f"plan {_grouped(count)} items, {what}", ended, _OF_A_PLAN)

        yield planned("all of them new")
        applied = _kafkawire(["apply", document, "--yes", *_PATIENT], address)
        yield _alone(f"apply {_grouped(count)} items", [applied], ())
        yield planned("none of them changed")


def _kafkawire(words: Sequence[str], address: str) -> Ended:
    return whole_process([KAFKAWIRE, *words, "-b", address], {"PASSWORD": "secret"}, memory=True)


def _alone(case: str, ended: Sequence[Ended], targets: tuple[Target, ...]) -> Alone:
    seconds = {OURS: tuple(each.seconds for each in ended)}
    return Alone(DOCUMENTS, case, seconds, targets, peak=max(each.peak for each in ended))


def _everything(count: int) -> dict[str, object]:
    """A document: of 100 items 10 are topics, 60 ACLs, 29 quotas and one is a credential."""
    users = max(count // 100, 1)
    operations = ["read", "write", "create", "delete", "alter", "alter_configs"]
    topics = count // 10
    return {
        "topics": {f"topic-{n}": {"partitions": 1, "configs": {"retention.ms": 86400000}} for n in range(topics)},
        "acls": [
            {"principal": f"User:user-{6 * n % users}", "topic": f"topic-{n}", "operation": operations}
            for n in range(topics)
        ],
        "quotas": _quotas(count * 29 // 100, 1024),
        "users": {f"user-{n}": {"SCRAM-SHA-512": {"password": {"env": "PASSWORD"}}} for n in range(users)},
    }


def _acls(count: int, prefix: str) -> Sequence[object]:
    return [
        {"principal": f"User:{prefix}-{n % 500}", "topic": f"{prefix}-{n}", "operation": "read"} for n in range(count)
    ]


def _quotas(users: int, rate: int) -> Sequence[object]:
    return [{"user": f"user-{n}", "producer_byte_rate": rate} for n in range(users)]


def _written(folder: str, content: dict[str, object]) -> str:
    path = Path(folder) / "document.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")
