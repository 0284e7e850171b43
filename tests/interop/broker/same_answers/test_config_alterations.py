"""How configurations change: IncrementalAlterConfigs and AlterConfigs (G5, G6), for every type of resource."""

from __future__ import annotations

import pytest
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_config_descriptions import (
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
    Resource,
)
from tests.interop.broker.same_answers.test_topics import Topic, create, settled

from kafkawire.model.configs.definitions import definitions
from kafkawire.protocol import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

pytestmark = pytest.mark.interop

Changed = IncrementalAlterConfigsRequest.AlterConfigsResource
Change = IncrementalAlterConfigsRequest.AlterableConfig
Replaced = AlterConfigsRequest.AlterConfigsResource
Value = AlterConfigsRequest.AlterableConfig
SET, DELETE, APPEND, SUBTRACT = range(4)

_BROKER_VALUES = {
    "": ("x",),
    "auto.create.topics.enable": ("false",),
    "background.threads": ("20",),
    "broker.id": ("5",),
    "config.providers": ("x",),
    "cordoned.log.dirs": ("/no/such", ""),
    "create.topic.policy.class.name": ("x",),
    "follower.replication.throttled.rate": ("x",),
    "group.consumer.assignment.interval.ms": ("-1", "20000", "5"),
    "group.coordinator.cached.buffer.max.bytes": ("1", "600000"),
    "internal.metadata.log.segment.bytes": ("5",),
    "leader.replication.throttled.rate": ("-1", "5"),
    "listener.name.plaintext.max.connection.creation.rate": ("5", "x"),
    "listener.name.plaintext.max.connections": ("5", "x", "-1"),
    "listener.name.plaintext.ssl.client.auth": ("x", "none"),
    "listener.name.x.max.connections": ("5",),
    "listener.name.x.no.such": ("y",),
    "listener.name.x.ssl.keystore.type": ("PEM",),
    "log.cleaner.backoff.ms": ("-1",),
    "log.cleaner.dedupe.buffer.size": ("1",),
    "log.cleaner.max.compaction.lag.ms": ("1",),
    "log.cleaner.threads": ("x", "1", "2"),
    "log.cleanup.policy": ("nope", "", "compact,compact"),
    "log.flush.interval.ms": ("0",),
    "log.local.retention.bytes": ("5",),
    "log.message.timestamp.before.max.ms": ("-1",),
    "log.retention.bytes": ("0",),
    "log.retention.ms": ("x", "5000", "0", "-1", "-2"),
    "log.roll.jitter.ms": ("-1", "5"),
    "log.roll.ms": ("0", "5"),
    "log.segment.bytes": ("1",),
    "max.connections": ("-1", "1000"),
    "max.connections.per.ip": ("0", "5"),
    "max.connections.per.ip.overrides": ("127.0.0.1:5", ""),
    "message.max.bytes": ("1000012", "-1"),
    "min.insync.replicas": ("2", "1"),
    "no.such": ("x",),
    "num.io.threads": ("9", "8", "16", "4"),
    "num.network.threads": ("1", "4"),
    "num.partitions": ("3",),
    "num.replica.fetchers": ("2",),
    "producer.id.expiration.ms": ("0", "5"),
    "quota.window.num": ("3",),
    "remote.log.reader.threads": ("5", "20"),
    "replica.alter.log.dirs.io.max.bytes.per.second": ("-1", "5"),
    "sasl.enabled.mechanisms": ("PLAIN",),
    "ssl.client.auth": ("none",),
    "ssl.keystore.location": ("x",),
    "super.users": ("x",),
    "unclean.leader.election.enable": ("true", "x"),
}
_NAMES_OF_CLASSES = {"metric.reporters", "principal.builder.class", "ssl.engine.factory.class"}
_WORDED_IN_JAVA = {
    "background.threads": ("1", "21"),
    "listener.security.protocol.map": ("bad", "PLAINTEXT:PLAINTEXT"),
    "listener.name.nope.max.connections": ("0",),
    "listener.name.plaintext.max.connections": ("0",),
    "listeners": ("PLAINTEXT://:1", "bad"),
    "log.cleaner.threads": ("0", "3"),
    "log.local.retention.ms": ("999999999999", "-1"),
    "max.connections.per.ip.overrides": ("bad", "1.1.1.1:x"),
    "num.io.threads": ("1", "100"),
    "num.network.threads": ("100",),
    "num.recovery.threads.per.data.dir": ("5",),
    "num.replica.fetchers": ("3",),
    "remote.log.reader.threads": ("4", "21"),
}


def change(talk: Talk, *resources: Changed, version: int = 1, validate_only: bool = False) -> None:
    request = IncrementalAlterConfigsRequest(resources, validate_only)
    talk.ask(request, version, IncrementalAlterConfigsResponse)


def replace(talk: Talk, *resources: Replaced, version: int = 2, validate_only: bool = False) -> None:
    talk.ask(AlterConfigsRequest(resources, validate_only), version, AlterConfigsResponse)


def seen(talk: Talk, resource: tuple[int, str], key: str, value: str | None, source: int) -> None:
    """Wait until a value is visible, and compare its description."""
    request = DescribeConfigsRequest((Resource(*resource, (key,)),), True)

    def is_there(answer: DescribeConfigsResponse) -> bool:
        return [(c.value, c.config_source) for c in answer.results[0].configs] == [(value, source)]

    talk.ask_until(request, 4, DescribeConfigsResponse, is_there)


@same_answers_from_plain_brokers
def test_values_of_a_topic_are_set_appended_subtracted_and_deleted(talk: Talk) -> None:
    """G5."""
    create(talk, Topic("altered", 1, 1))
    settled(talk, "altered")
    steps = (
        (Change("retention.ms", SET, "5"),),
        (Change("retention.ms", SET, "5"),),
        (Change("cleanup.policy", APPEND, "compact"),),
        (Change("cleanup.policy", APPEND, "compact,delete"),),
        (Change("cleanup.policy", SUBTRACT, "delete,nope"),),
        (Change("retention.ms", DELETE, None), Change("flush.ms", DELETE, "9")),
        (Change("no.such", DELETE, None),),
    )
    for configs in steps:
        change(talk, Changed(TOPIC, "altered", configs), validate_only=True)
        change(talk, Changed(TOPIC, "altered", configs))
    seen(talk, (TOPIC, "altered"), "cleanup.policy", "compact", 1)
    seen(talk, (TOPIC, "altered"), "retention.ms", "604800000", 5)
    change(talk, Changed(TOPIC, "altered", (Change("cleanup.policy", SUBTRACT, "compact"),)))
    seen(talk, (TOPIC, "altered"), "cleanup.policy", "", 1)


@same_answers_from_plain_brokers
def test_appending_and_subtracting_handles_empty_and_repeated_list_entries(talk: Talk) -> None:
    """G5."""
    create(talk, Topic("entries", 1, 1))
    settled(talk, "entries")
    name = "follower.replication.throttled.replicas"
    for operation, text, left in (
        (APPEND, "0:1,", "0:1"),
        (APPEND, "0:1,1:1,1:1", "0:1,1:1"),
        (SET, "0:1,0:1,1:1", "0:1,0:1,1:1"),
        (SUBTRACT, "0:1", "0:1,1:1"),
        (SUBTRACT, ",", "0:1,1:1"),
        (APPEND, ",", "0:1,1:1"),
        (SUBTRACT, "1:1,0:1", ""),
    ):
        change(talk, Changed(TOPIC, "entries", (Change(name, operation, text),)))
        seen(talk, (TOPIC, "entries"), name, left, 1)
    for operation, text in ((APPEND, ",0:1"), (APPEND, ""), (APPEND, "a,,b"), (SUBTRACT, "")):
        change(talk, Changed(TOPIC, "entries", (Change(name, operation, text),)))


@same_answers_from_plain_brokers
def test_a_list_grows_until_no_record_can_hold_it(talk: Talk) -> None:
    """G5."""
    create(talk, Topic("long", 1, 1))
    settled(talk, "long")
    for broker in (1, 2):
        entries = ",".join(f"{partition}:{broker}" for partition in range(4_000))
        grown = Change("leader.replication.throttled.replicas", APPEND, entries)
        change(talk, Changed(TOPIC, "long", (grown,)), Changed(TOPIC, "no-such", ()))


@same_answers_from_plain_brokers
def test_wrong_changes_of_a_topic_are_refused(talk: Talk) -> None:
    """G5."""
    create(talk, Topic("unalterable", 1, 1))
    settled(talk, "unalterable")
    steps = (
        (Change("retention.ms", SET, "5"), Change("retention.ms", DELETE, None)),
        (Change("retention.ms", APPEND, "5"),),
        (Change("retention.ms", SUBTRACT, "5"),),
        (Change("no.such", APPEND, "5"),),
        (Change("no.such", SET, "5"),),
        (Change("retention.ms", SET, "x"),),
        (Change("retention.ms", SET, None),),
        (Change("retention.ms", APPEND, None), Change("flush.ms", SET, None)),
        (Change("retention.ms", 9, "5"),),
        (Change("cleanup.policy", APPEND, "nope"),),
        (Change("cleanup.policy", SET, "nope"),),
        (Change("min.compaction.lag.ms", SET, "5"), Change("max.compaction.lag.ms", SET, "3")),
        (Change("remote.storage.enable", SET, "true"),),
        (Change("min.insync.replicas", SET, "2"),),
        (Change("follower.replication.throttled.replicas", APPEND, "x"),),
        (Change("", SET, "x"),),
        (),
    )
    for configs in steps:
        change(talk, Changed(TOPIC, "unalterable", configs), validate_only=True)


@same_answers_from_plain_brokers
def test_repeated_missing_and_unknown_resources_are_refused(talk: Talk) -> None:
    """G5."""
    create(talk, Topic("again", 1, 1))
    settled(talk, "again")
    good = (Change("retention.ms", SET, "5"),)
    change(talk, Changed(TOPIC, "again", good), Changed(TOPIC, "again", good), Changed(TOPIC, "nope", good))
    names = ("", "a b", "no-such", "again")
    change(talk, *(Changed(TOPIC, name, good) for name in names))
    change(talk, *(Changed(TOPIC, name, (Change("no.such", SET, "1"),)) for name in names))
    for unknown in (0, 1, 3, 99, -1):
        change(talk, Changed(TOPIC, "again", good), Changed(unknown, "x", good))
        change(talk, Changed(unknown, "x", ()))
    change(talk)


@same_answers_from_plain_brokers
def test_changes_of_groups_are_checked_by_key_and_value(talk: Talk) -> None:
    """G5."""
    cases = {
        "consumer.session.timeout.ms": ("1", "50000", "100000000", "x", "45000"),
        "consumer.heartbeat.interval.ms": ("1", "15000", "100000000"),
        "consumer.assignment.interval.ms": ("-1", "500", "100000000"),
        "share.auto.offset.reset": (
            "earliest",
            "by_duration:PT1H",
            "nope",
            "BY_DURATION:PT1H",
            "by_duration:PT-1H",
            "by_duration:P106751991167301D",
            "by_duration:PT1H-30,5M",
            "by_duration:PT1H-30M",
            "by_duration:PT1,5S",
        ),
        "share.isolation.level": ("read_committed", "READ_COMMITTED", "nope"),
        "share.record.lock.duration.ms": ("1", "1000", "20000", "100000000"),
        "share.delivery.count.limit": ("1", "5", "100"),
        "streams.num.standby.replicas": ("-1", "1", "100"),
        "no.such": ("1",),
    }
    for key, values in cases.items():
        for value in values:
            change(talk, Changed(GROUP, "g-altered", (Change(key, SET, value),)))
    for operation in (APPEND, SUBTRACT):
        change(talk, Changed(GROUP, "g-altered", (Change("share.isolation.level", operation, "x"),)))
    seen(talk, (GROUP, "g-altered"), "share.isolation.level", "read_committed", 8)
    seen(talk, (GROUP, "g-altered"), "consumer.session.timeout.ms", "45000", 8)
    change(talk, Changed(GROUP, "", (Change("share.isolation.level", SET, "read_committed"),)))
    change(talk, Changed(GROUP, "g-altered", (Change("share.isolation.level", DELETE, None),)))
    seen(talk, (GROUP, "g-altered"), "share.isolation.level", "read_uncommitted", 5)


@same_answers_from_plain_brokers
def test_changes_of_client_metrics_are_checked_by_key_and_value(talk: Talk) -> None:
    """G5."""
    cases = {
        "interval.ms": ("1", "100", "3600000", "3600001", "x", ""),
        "match": ("client_id=.*", "client_id=x,client_source_port=1", "x", "a=b", "client_id=[", "client_id=x=y", ""),
        "metrics": ("", "*", "a.,b.", "a,a", "a,,b"),
        "no.such": ("1",),
    }
    for key, values in cases.items():
        for value in values:
            change(talk, Changed(CLIENT_METRICS, "cm-altered", (Change(key, SET, value),)))
            change(talk, Changed(CLIENT_METRICS, "cm-validated", (Change(key, SET, value),)), validate_only=True)
    for key in cases:
        for operation in (APPEND, SUBTRACT):
            change(talk, Changed(CLIENT_METRICS, "cm-altered", (Change(key, operation, "x"),)))
    change(talk, Changed(CLIENT_METRICS, "", (Change("interval.ms", SET, "100"),)))
    change(talk, Changed(CLIENT_METRICS, "cm-altered", (Change("interval.ms", DELETE, None),)))
    seen(talk, (CLIENT_METRICS, "cm-altered"), "interval.ms", "300000", 5)


@same_answers_from_plain_brokers
def test_changes_of_brokers_are_checked_by_name_key_and_value(talk: Talk) -> None:
    """G5."""
    for key, values in _BROKER_VALUES.items():
        for value in values:
            for name in ("1", ""):
                change(talk, Changed(BROKER, name, (Change(key, SET, value),)), validate_only=True)
        for name in ("1", ""):
            change(talk, Changed(BROKER, name, (Change(key, DELETE, None),)), validate_only=True)
    for name in ("2", "x", "-1", "01"):
        change(talk, Changed(BROKER, name, (Change("log.retention.ms", SET, "5"),)))
    for operation in (APPEND, SUBTRACT, 9):
        for key in ("log.retention.ms", "log.cleanup.policy", "no.such"):
            change(talk, Changed(BROKER, "", (Change(key, operation, "compact"),)), validate_only=True)
    change(talk, Changed(BROKER, "", (Change("log.retention.ms", SET, None),)))


@same_answers_from_plain_brokers
def test_refusals_that_kafka_words_in_java(talk: Talk) -> None:
    """The codes are the same; Kafka's texts are those of Java's exceptions, or name its classes."""
    for key, values in _WORDED_IN_JAVA.items():
        for value in values:
            for name in ("1", ""):
                changed = Changed(BROKER, name, (Change(key, SET, value),))
                request = IncrementalAlterConfigsRequest((changed,), True)
                talk.ask_for_codes(request, 1)


@pytest.mark.extended
@same_answers_from_plain_brokers
def test_every_name_with_all_kinds_of_values(talk: Talk) -> None:
    create(talk, Topic("every", 1, 1))
    settled(talk, "every")
    known = definitions()
    for value in ("", "x", "-1", "0", "1", "99999999999999999999", "true", "0.5", "*", "producer,x"):
        for key in known.topic:
            change(talk, Changed(TOPIC, "every", (Change(key, SET, value),)), validate_only=True)
        for key in known.group:
            change(talk, Changed(GROUP, "every", (Change(key, SET, value),)), validate_only=True)
        for key in sorted(known.update_modes.keys() - _NAMES_OF_CLASSES):
            changed = Changed(BROKER, "1", (Change(key, SET, value),))
            talk.ask_for_codes(IncrementalAlterConfigsRequest((changed,), True), 1)


@pytest.mark.extended
@same_answers_from_plain_brokers
def test_the_source_of_a_value_is_the_nearest_level_that_sets_it(talk: Talk) -> None:
    """G2."""
    create(talk, Topic("sources", 1, 1))
    settled(talk, "sources")
    name = "log.flush.interval.messages"
    change(talk, Changed(BROKER, "", (Change(name, SET, "500"),)))
    seen(talk, (BROKER, ""), name, "500", 3)
    seen(talk, (BROKER, "1"), name, "500", 3)
    seen(talk, (TOPIC, "sources"), "flush.messages", "500", 3)
    change(talk, Changed(BROKER, "1", (Change(name, SET, "600"),)))
    seen(talk, (BROKER, "1"), name, "600", 2)
    seen(talk, (TOPIC, "sources"), "flush.messages", "600", 2)
    change(talk, Changed(TOPIC, "sources", (Change("flush.messages", SET, "700"),)))
    seen(talk, (TOPIC, "sources"), "flush.messages", "700", 1)
    change(
        talk, Changed(BROKER, "1", (Change(name, DELETE, None),)), Changed(BROKER, "", (Change(name, DELETE, None),))
    )
    seen(talk, (BROKER, "1"), name, "9223372036854775807", 5)
    seen(talk, (TOPIC, "sources"), "flush.messages", "700", 1)


@same_answers_from_plain_brokers
def test_changes_of_loggers(talk: Talk) -> None:
    steps = (
        (Change("root", SET, "NOPE"),),
        (Change("root", SET, "WARN"),),
        (Change("root", DELETE, None),),
        (Change("no.such.logger", SET, "INFO"),),
        (Change("no.such.logger", DELETE, None),),
        (Change("root", APPEND, "INFO"),),
        (Change("root", SUBTRACT, "INFO"),),
        (Change("root", 9, "INFO"),),
        (Change("root", SET, None),),
        (Change("root", SET, "warn"),),
    )
    for configs in steps:
        change(talk, Changed(BROKER_LOGGER, "1", configs), validate_only=True)
    for name in ("", "2", "x"):
        change(talk, Changed(BROKER_LOGGER, name, (Change("root", SET, "WARN"),)), validate_only=True)


@same_answers_from_plain_brokers
def test_whole_configurations_are_replaced(talk: Talk) -> None:
    create(talk, Topic("replaced", 1, 1))
    settled(talk, "replaced")
    replace(talk, Replaced(TOPIC, "replaced", (Value("retention.ms", "5"), Value("flush.ms", "6"))))
    for version in range(3):
        replace(talk, Replaced(TOPIC, "replaced", (Value("retention.ms", "7"),)), version=version)
    seen(talk, (TOPIC, "replaced"), "flush.ms", "9223372036854775807", 5)
    seen(talk, (TOPIC, "replaced"), "retention.ms", "7", 1)
    steps = (
        (Value("retention.ms", "x"),),
        (Value("no.such", "x"),),
        (Value("retention.ms", None),),
        (Value("retention.ms", "1"), Value("retention.ms", "2")),
        (),
    )
    for kind, name in ((TOPIC, "replaced"), (GROUP, "g-replaced"), (CLIENT_METRICS, "cm-replaced"), (BROKER, "1")):
        for configs in steps:
            replace(talk, Replaced(kind, name, configs), validate_only=True)
    replace(talk, Replaced(TOPIC, "", ()), Replaced(TOPIC, "no-such", ()), Replaced(99, "x", ()))
    replace(talk, Replaced(BROKER_LOGGER, "1", (Value("root", "WARN"),)), Replaced(BROKER, "2", ()))
    replace(talk, Replaced(TOPIC, "replaced", ()))
    seen(talk, (TOPIC, "replaced"), "retention.ms", "604800000", 5)
    kept = Value("min.insync.replicas", "1")
    flushed = Value("log.flush.interval.ms", "5000")
    for given in ((flushed,), (flushed, kept), (kept,), ()):
        replace(talk, Replaced(BROKER, "", given))
