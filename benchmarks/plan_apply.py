"""How long ``kafkawire plan`` and ``apply`` take, whole processes: ``python -m benchmarks.plan_apply``.

* Quotas for 1 000 users by one apply, and by a loop of kafka-configs over 20 users, of which the time of 1 000 is
  extrapolated; both at one broker of Apache Kafka.
* 1 000 new ACLs beside 80 000, at an embedded broker in a process of its own.
* A plan of 100 000 items of every kind, all of them new and all of them unchanged, at the same.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.apache_kafka.broker import AUTHORIZER, running_broker
from tests.apache_kafka.java_program import java_command
from tests.apache_kafka.releases import newest_broker_release

from kafkawire.admin import AclBinding, AclOperation, BlockingAdminClient, ResourceType

_COMMAND = str(Path(sys.executable).with_name("kafkawire"))
_ROUNDS = 3
_LOOPED = 20
_USERS = 1_000


@contextmanager
def broker(folder: Path) -> Iterator[str]:
    """The address of a broker with an authorizer."""
    properties = folder / "broker.properties"
    properties.write_text(
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\nsuper.users=User:ANONYMOUS\n"
    )
    ready = folder / "address"
    ready.unlink(missing_ok=True)
    words = [_COMMAND, "broker", "--properties", str(properties), "--port", "0", "--ready-file", str(ready)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        while not ready.exists() or not ready.read_text().strip():
            assert process.poll() is None, "the broker has ended"
            time.sleep(0.05)
        yield ready.read_text().split()[0]
    finally:
        process.terminate()
        process.wait()


def seconds(words: Sequence[str]) -> float:
    """Seconds of a process that must succeed."""
    begin = time.perf_counter()
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True, env={**os.environ, "PASSWORD": "secret"})
    return time.perf_counter() - begin


def everything() -> dict[str, object]:
    """A document of 100 000 items: 10 000 topics, 60 000 ACLs, 29 000 quotas and 1 000 credentials."""
    return {
        "topics": {f"topic-{n}": {"partitions": 1, "configs": {"retention.ms": 86400000}} for n in range(10_000)},
        "acls": [
            {"principal": f"User:user-{n % 1000}", "topic": f"topic-{n // 6}", "operation": operation}
            for n in range(0, 60_000, 6)
            for operation in (["read", "write", "create", "delete", "alter", "alter_configs"],)
        ],
        "quotas": [{"user": f"user-{n}", "producer_byte_rate": 1024 + n} for n in range(29_000)],
        "users": {f"user-{n}": {"SCRAM-SHA-512": {"password": {"env": "PASSWORD"}}} for n in range(1_000)},
    }


def acls(count: int, prefix: str) -> dict[str, object]:
    """A document of ACLs."""
    return {
        "acls": [
            {"principal": f"User:{prefix}-{n % 500}", "topic": f"{prefix}-{n}", "operation": "read"}
            for n in range(count)
        ]
    }


def quotas(rate: int) -> dict[str, object]:
    """A document of quotas."""
    return {"quotas": [{"user": f"user-{n}", "producer_byte_rate": rate} for n in range(_USERS)]}


def written(folder: Path, name: str, content: dict[str, object]) -> str:
    """The path of a document."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(content))
    return str(path)


def plan_of_everything(folder: Path) -> None:
    """Print the times of large plans."""
    document = written(folder, "everything", everything())
    with broker(folder) as address:
        cluster = ["-b", address, "--timeout", "300"]
        print(f"plan of 100 000 items, all new: {seconds([_COMMAND, 'plan', document, *cluster]):.1f} s", flush=True)
        print(f"apply of 100 000 items: {seconds([_COMMAND, 'apply', document, '--yes', *cluster]):.1f} s", flush=True)
        print(f"plan of 100 000 items, unchanged: {seconds([_COMMAND, 'plan', document, *cluster]):.1f} s", flush=True)


def thousand_acls(folder: Path) -> None:
    """Print the times of 1 000 ACLs beside 80 000."""
    taken = []
    with broker(folder) as address:
        with BlockingAdminClient(address) as admin:
            present = [
                AclBinding(ResourceType.TOPIC, f"old-{n}", f"User:old-{n % 500}", AclOperation.READ)
                for n in range(80_000)
            ]
            admin.create_acls(present, timeout=600).all()
        for attempt in range(_ROUNDS):
            document = written(folder, f"acls-{attempt}", acls(1_000, f"new{attempt}"))
            taken.append(seconds([_COMMAND, "apply", document, "--yes", "-b", address]))
    print(f"apply of 1 000 ACLs beside 80 000: {statistics.median(taken):.2f} s", flush=True)


def thousand_quotas(folder: Path) -> None:
    """Print the times of quotas for 1 000 users."""
    release = newest_broker_release()
    with running_broker(release, Path(tempfile.mkdtemp(dir=folder)), properties=AUTHORIZER) as running:
        taken = [
            seconds(
                [_COMMAND, "apply", written(folder, f"quotas-{rate}", quotas(rate)), "--yes", "-b", running.address]
            )
            for rate in range(1, _ROUNDS + 1)
        ]
        ours = statistics.median(taken)
        print(f"apply of quotas for {_USERS} users: {ours:.2f} s", flush=True)
        tool = java_command(release, "256M")
        what = ["--bootstrap-server", running.address, "--alter", "--add-config", "producer_byte_rate=9"]
        loop = sum(
            seconds([*tool, "kafka.admin.ConfigCommand", *what, "--entity-type", "users", "--entity-name", f"user-{n}"])
            for n in range(_LOOPED)
        )
    whole = loop / _LOOPED * _USERS
    print(
        f"a loop of kafka-configs of {release}: {loop:.1f} s for {_LOOPED} users, so {whole:.0f} s for {_USERS} "
        f"(extrapolated): {whole / ours:.0f} times as long",
        flush=True,
    )


def main() -> None:
    """Print a line for each measurement."""
    with tempfile.TemporaryDirectory() as name:
        thousand_quotas(Path(name))
        thousand_acls(Path(name))
        plan_of_everything(Path(name))


if __name__ == "__main__":
    main()
