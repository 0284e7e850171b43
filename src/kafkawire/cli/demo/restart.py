"""Fifth chapter: the broker is killed, and everything that it acknowledged is there after its restart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from kafkawire.admin import (
    AclBinding,
    AclBindingFilter,
    BlockingAdminClient,
    ClientQuotaEntity,
    ClientQuotaFilter,
)
from kafkawire.cli.demo.kafka_tools import ToolsAbsentError
from kafkawire.cli.demo.stage import Stage
from kafkawire.cli.outcome import CommandError

_RECORD_TYPE: Final = re.compile(r'payload: \{"type":"([A-Z_]+)"')
_TYPES_SHOWN: Final = 6


class _State(NamedTuple):
    """What a cluster holds."""

    topics: frozenset[tuple[str, int]]
    acls: frozenset[AclBinding]
    quotas: Mapping[ClientQuotaEntity, Mapping[str, float]]


def show(stage: Stage) -> None:
    """Kill the broker, start it again, and compare; then let Kafka read the log.

    Raises:
        CommandError: the broker does not start, or something is lost, or kafka-dump-log fails.
        KafkaError: the broker does not respond.
    """
    stage.prepare()
    before = _state(stage.broker.bootstrap_servers)
    killed = stage.broker.process_id
    stage.broker.kill()
    stage.item(f"kill -9 {killed}", "red")
    stage.broker.start()
    stage.say(f"It listens again after {stage.broker.seconds_to_start:.2f} s, on {stage.broker.bootstrap_servers}.")
    after = _state(stage.broker.bootstrap_servers)
    compared = (
        ("topics", before.topics, after.topics),
        ("ACLs", before.acls, after.acls),
        ("entities with quotas", before.quotas, after.quotas),
    )
    stage.table(
        ("what it holds", "before", "after", "equal"),
        [(what, f"{len(was):,}", f"{len(now):,}", "yes" if was == now else "no") for what, was, now in compared],
        right=("before", "after"),
    )
    if before != after:
        raise CommandError("the broker lost something that it had acknowledged")
    stage.gap()
    _show_log(stage)


def _state(bootstrap_servers: str) -> _State:
    with BlockingAdminClient(bootstrap_servers) as client:
        topics = client.describe_topics(client.list_topics().keys())
        acls = client.describe_acls((AclBindingFilter(),))
        quotas = client.describe_client_quotas((ClientQuotaFilter(),))
    counted = frozenset((str(name), len(topic.partitions)) for name, topic in topics.all().items())
    return _State(counted, frozenset(acls.union()), quotas.union())


def _show_log(stage: Stage) -> None:
    segment = max(stage.metadata_log.glob("*.log"))
    tools = stage.tools
    if isinstance(tools, ToolsAbsentError):
        stage.say(f"Left out: Kafka's own kafka-dump-log reads this log; it needs {tools}.", "dim")
        return
    with stage.console.status("kafka-dump-log reads the log"):
        lines = tools.dump_metadata_log(segment)
    counts = Counter(found[1] for line in lines if (found := _RECORD_TYPE.search(line)))
    stage.say(f"Kafka's own kafka-dump-log reads the log of our broker: {counts.total():,} records. The most frequent:")
    stage.table(
        ("record", "how many"), [(name, f"{n:,}") for name, n in counts.most_common(_TYPES_SHOWN)], right=("how many",)
    )
