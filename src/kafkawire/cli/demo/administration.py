"""The steps of the demonstration that need a broker: administer it, kill it, compare its state, read its log."""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from rich.console import Console
from rich.table import Table

from kafkawire.admin import (
    AclBinding,
    AclBindingFilter,
    AclEvaluator,
    AclOperation,
    AclPermissionType,
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    EffectiveQuotas,
    NewTopic,
    PatternType,
    ResourceType,
    Results,
)
from kafkawire.cli.demo.acl_history import show_acl_history
from kafkawire.cli.demo.broker_process import broker_process
from kafkawire.cli.demo.kafka_dump_log import KafkaToolError, dump_metadata_log, missing_program
from kafkawire.cli.outcome import CommandError
from kafkawire.wire.kafka_errors import KafkaError

USERS: Final = 1_000
_K = TypeVar("_K")
_TOPIC: Final = "orders"
_ADDRESS: Final = "127.0.0.1"
_DUMPED_LINES: Final = 6
_RECORD_TYPE: Final = re.compile(r'payload: \{"type":"([A-Z_]+)"')
_PROPERTIES: Final = (
    "create.topic.policy.class.name=kafkawire.cli.demo.topic_policy:PartitionLimit",
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users=User:ANONYMOUS",
)
_SHUT_OUT: Final = AclBinding(ResourceType.TOPIC, _TOPIC, "User:user-0300", AclOperation.WRITE, AclPermissionType.DENY)


class _State(NamedTuple):
    """What a cluster holds."""

    topics: frozenset[tuple[str, int]]
    acls: frozenset[AclBinding]
    quotas: Mapping[ClientQuotaEntity, Mapping[str, float]]


def show_administration(console: Console) -> None:
    """Start a broker, administer it in bulk, kill it and show that nothing is lost.

    Raises:
        CommandError: the broker does not start, or something is lost.
    """
    with tempfile.TemporaryDirectory(prefix="kafkawire-demo-") as scratch:
        console.rule("[bold]3. A broker that runs in Python is administered in bulk")
        with broker_process(Path(scratch), _PROPERTIES) as broker:
            console.print(f"kafkawire broker listens on {broker.bootstrap_servers}, properties:")
            for setting in _PROPERTIES:
                console.print(f"  {setting}", style="cyan", highlight=False)
            with BlockingAdminClient(broker.bootstrap_servers) as client:
                _create_topics(console, client)
                _set_up_users(console, client)
                before = _state(client)
            _show_rights(console, before.acls)
            _show_quotas(console, before.quotas)
            console.rule("[bold]4. The broker is killed and started again")
            broker.kill()
            console.print("kill -9")
            broker.start()
            console.print(f"It is back after {broker.seconds_to_start:.2f} s, on {broker.bootstrap_servers}.")
            with BlockingAdminClient(broker.bootstrap_servers) as client:
                _show_nothing_is_lost(console, before, _state(client))
            _show_log(console, broker.data_dir)
            console.rule("[bold]6. The same log shows who had which ACL, and when")
            with BlockingAdminClient(broker.bootstrap_servers) as client:
                _let_write_again(console, client)
            show_acl_history(console, broker.data_dir / "__cluster_metadata-0", _SHUT_OUT.principal)


def _create_topics(console: Console, client: BlockingAdminClient) -> None:
    wanted = [
        NewTopic(_TOPIC, 6, configs={"cleanup.policy": "compact"}),
        NewTopic("payments", 12),
        NewTopic("clicks", 64),
        NewTopic("audit", 1, configs={"retention.ms": "604800000"}),
    ]
    created = client.create_topics(wanted)
    table = _table("Topics: the policy refuses one, the others are created", "topic", "partitions", "outcome")
    for topic in wanted:
        error = created.errors().get(topic.name)
        table.add_row(topic.name, str(topic.num_partitions), _outcome(error))
    console.print(table)


def _set_up_users(console: Console, client: BlockingAdminClient) -> None:
    table = _table(f"{USERS} users at once", "call", "asked for", "done", "failed", "seconds")
    begin = time.perf_counter()
    acls = client.create_acls(_acls())
    table.add_row("create_acls", *_figures(acls, begin))
    begin = time.perf_counter()
    quotas = client.alter_client_quotas(_quotas())
    table.add_row("alter_client_quotas", *_figures(quotas, begin))
    console.print(table)


def _acls() -> Iterator[AclBinding]:
    """Every user may read; every hundredth may write too, except one, who is denied."""
    for number in range(USERS):
        user = f"User:user-{number:04}"
        yield AclBinding(ResourceType.TOPIC, _TOPIC, user, AclOperation.READ)
        yield AclBinding(ResourceType.GROUP, f"user-{number:04}", user, AclOperation.READ)
        if number % 100 == 0:
            yield AclBinding(ResourceType.TOPIC, "ord", user, AclOperation.WRITE, pattern_type=PatternType.PREFIXED)
    yield _SHUT_OUT


def _quotas() -> Iterator[ClientQuotaAlteration]:
    yield ClientQuotaAlteration(ClientQuotaEntity.of_user(None), {"producer_byte_rate": 1_000_000})
    for number in range(USERS):
        entity = ClientQuotaEntity.of_user(f"user-{number:04}")
        yield ClientQuotaAlteration(entity, {"consumer_byte_rate": 2_000_000 + number, "request_percentage": 50})
    batch = ClientQuotaEntity.of_user_and_client("user-0042", "batch")
    yield ClientQuotaAlteration(batch, {"producer_byte_rate": 250_000})


def _show_rights(console: Console, acls: frozenset[AclBinding]) -> None:
    evaluator = AclEvaluator(sorted(acls))
    speaking = {acl.principal for acl in acls if acl.operation == AclOperation.WRITE}
    table = _table(f"Who may write to {_TOPIC}, and which ACL says so", "principal", "may", "ACL")
    for principal in sorted(speaking):
        decision = evaluator.decide(principal, AclOperation.WRITE, ResourceType.TOPIC, _TOPIC, _ADDRESS)
        table.add_row(principal, "[green]yes" if decision.allowed else "[red]no", _described(decision.acl))
    console.print(table)


def _described(acl: AclBinding | None) -> str:
    if acl is None:
        return "none"
    pattern = f"{acl.resource_name}*" if acl.pattern_type == PatternType.PREFIXED else acl.resource_name
    return f"{acl.permission_type.name} {acl.operation.name} on {acl.resource_type.name} {pattern} from {acl.host}"


def _show_quotas(console: Console, quotas: Mapping[ClientQuotaEntity, Mapping[str, float]]) -> None:
    table = _table("What holds for client batch of user-0042", "quota", "limit", "set for")
    for key, quota in EffectiveQuotas(quotas).of_client("user-0042", "batch").items():
        limit = "none" if quota.value is None else f"{quota.value:,.0f}"
        parts = quota.entity.items() if quota.entity is not None else ()
        table.add_row(key, limit, ", ".join(f"{kind} {name or '<default>'}" for kind, name in parts) or "none")
    console.print(table)


def _state(client: BlockingAdminClient) -> _State:
    topics = client.describe_topics(client.list_topics().keys())
    acls = client.describe_acls((AclBindingFilter(),))
    quotas = client.describe_client_quotas((ClientQuotaFilter(),))
    counted = frozenset((str(name), len(topic.partitions)) for name, topic in topics.all().items())
    return _State(counted, frozenset(acls.union()), quotas.union())


def _show_nothing_is_lost(console: Console, before: _State, after: _State) -> None:
    table = _table("Before and after", "", "before", "after", "equal")
    for what, was, is_now in (
        ("topics", before.topics, after.topics),
        ("ACLs", before.acls, after.acls),
        ("entities with quotas", before.quotas, after.quotas),
    ):
        table.add_row(what, str(len(was)), str(len(is_now)), "[green]yes" if was == is_now else "[red]no")
    console.print(table)
    if before != after:
        raise CommandError("the broker lost something that it had acknowledged")


def _show_log(console: Console, data_dir: Path) -> None:
    console.rule("[bold]5. Apache Kafka reads the log that the broker wrote")
    segment = max((data_dir / "__cluster_metadata-0").glob("*.log"))
    missing = missing_program()
    if missing is not None:
        console.print(f"Left out: kafka-dump-log needs {missing}, which this machine does not have.")
        return
    try:
        with console.status("kafka-dump-log (the first time, Maven fetches Apache Kafka)"):
            lines = dump_metadata_log(segment)
    except KafkaToolError as error:
        console.print(f"Left out: {error}", markup=False)
        return
    for line in lines[:_DUMPED_LINES]:
        console.print(line, style="cyan", markup=False, highlight=False, no_wrap=True, overflow="ellipsis")
    counts = Counter(found[1] for line in lines if (found := _RECORD_TYPE.search(line)))
    table = _table(f"kafka-dump-log {segment.name}", "record", "how many")
    for record_type, count in counts.most_common():
        table.add_row(record_type, str(count))
    console.print(table)


def _let_write_again(console: Console, client: BlockingAdminClient) -> None:
    client.delete_acls((_SHUT_OUT.to_filter(),)).all()
    console.print(f"{_SHUT_OUT.principal} may write again: {_described(_SHUT_OUT)} is deleted.", highlight=False)


def _figures(results: Results[_K, None], begin: float) -> Sequence[str]:
    failed = len(results.errors())
    return str(len(results)), str(len(results) - failed), str(failed), f"{time.perf_counter() - begin:.2f}"


def _outcome(error: KafkaError | None) -> str:
    return "[green]created" if error is None else f"[red]{error}"


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
