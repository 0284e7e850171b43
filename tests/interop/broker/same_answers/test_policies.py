"""Policies for new topics (KIP-108) and for configurations, the same ones in Java and in Python: B1 to B7, B11."""

from __future__ import annotations

import pytest
from tests.interop.broker.same_answers.scenario import same_answers_from_brokers_with_policies
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_config_alterations import (
    APPEND,
    DELETE,
    SET,
    SUBTRACT,
    Change,
    Changed,
    Replaced,
    Value,
    change,
    replace,
)
from tests.interop.broker.same_answers.test_config_descriptions import BROKER, CLIENT_METRICS, GROUP, TOPIC
from tests.interop.broker.same_answers.test_topics import Assigned, Config, Topic, create, settled

from kafkawire.protocol import (
    AlterConfigsRequest,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
    MetadataResponse,
)

pytestmark = pytest.mark.interop


@same_answers_from_brokers_with_policies
def test_each_topic_has_its_own_outcome(talk: Talk) -> None:
    """B4."""
    names = ("good", "forbidden", "broken", "better", "misconfigured")
    for version in range(2, 8):
        create(talk, *(Topic(f"{name}-{version}", 1, 1) for name in names), version=version)
    for name in names:
        create(talk, Topic(name, 1, 1), Topic(f"beside-{name}", 1, 1))


@same_answers_from_brokers_with_policies
def test_the_policy_sees_the_numbers_assignments_and_configs_of_the_request(talk: Talk) -> None:
    """B2, B3."""
    retention, default = Config("retention.ms", "5"), Config("retention.ms", "604800000")
    create(
        talk,
        Topic("shown-numbers", 2, 1),
        Topic("shown-defaults", -1, -1),
        Topic("shown-partitions", -1, 1),
        Topic("shown-factor", 2, -1),
        Topic("shown-places", -1, -1, (Assigned(1, (1,)), Assigned(0, (1,)))),
        Topic("shown-config", 1, 1, (), (retention,)),
        Topic("shown-default-config", 1, 1, (), (default,)),
        Topic("shown-config-twice", 1, 1, (), (retention, default)),
        Topic("shown-blanks", 1, 1, (), (Config("retention.ms", " 5 "),)),
    )


@same_answers_from_brokers_with_policies
def test_the_policy_runs_after_all_other_checks(talk: Talk) -> None:
    """B5, B6."""
    create(talk, Topic("there", 1, 1))
    topics = (
        Topic("there", 0, 0),
        Topic("forbidden name", 1, 1),
        Topic("forbidden-config", 0, 0, (), (Config("no.such", "x"),)),
        Topic("forbidden-null", 0, 0, (), (Config("retention.ms", None),)),
        Topic("forbidden-places", 1, 1, (Assigned(0, (1,)),)),
        Topic("forbidden-gap", -1, -1, (Assigned(0, (1,)), Assigned(2, (1,)))),
        Topic("forbidden-factor", 0, 0),
        Topic("forbidden-partitions", 0, 1),
        Topic("forbidden-placement", 1, 2),
        Topic("forbidden-by-both", 1, 1, (), (Config("flush.messages", "5"),)),
        Topic("broken-by-both", 0, 0, (), (Config("file.delete.delay.ms", "5"),)),
        Topic("forbidden", 1, 1),
        Topic("forbidden-twice", 1, 1),
        Topic("forbidden-twice", 1, 1),
    )
    create(talk, *topics, validate_only=True)
    create(talk, *topics)


@same_answers_from_brokers_with_policies
def test_topics_that_metadata_creates_pass_the_policy(talk: Talk) -> None:
    asked = tuple(
        MetadataRequest.MetadataRequestTopic(name=name) for name in ("forbidden-auto", "good-auto", "shown-it")
    )
    talk.ask(MetadataRequest(asked), 12, MetadataResponse)
    settled(talk, "good-auto")
    talk.ask(MetadataRequest(asked, False), 12, MetadataResponse)


@same_answers_from_brokers_with_policies
def test_more_partitions_need_no_policy(talk: Talk) -> None:
    create(talk, Topic("growing", 1, 1))
    settled(talk, "growing")
    more = CreatePartitionsRequest.CreatePartitionsTopic("growing", 2)
    talk.ask(CreatePartitionsRequest((more,), 30_000), 3, CreatePartitionsResponse)


@same_answers_from_brokers_with_policies
def test_the_policy_sees_the_changed_values_of_a_topic(talk: Talk) -> None:
    """B11."""
    create(talk, Topic("changing", 1, 1))
    settled(talk, "changing")
    change(talk, Changed(TOPIC, "changing", (Change("retention.ms", SET, "5"),)))
    more, resources = Change("flush.messages", SET, "5"), (TOPIC, "changing")
    steps = (
        (more,),
        (more, Change("retention.ms", SET, "5"), Change("segment.ms", SET, "6000000")),
        (more, Change("retention.ms", DELETE, None), Change("segment.ms", DELETE, None)),
        (more, Change("cleanup.policy", APPEND, "compact")),
        (more, Change("cleanup.policy", SUBTRACT, "delete")),
        (Change("flush.messages", DELETE, None),),
        (Change("index.interval.bytes", SET, "5"),),
        (Change("file.delete.delay.ms", SET, "5"),),
        (Change("flush.messages", SET, "x"),),
        (),
    )
    for configs in steps:
        change(talk, Changed(*resources, configs), validate_only=True)
        change(talk, Changed(*resources, configs), Changed(TOPIC, "no-such", configs))


@same_answers_from_brokers_with_policies
def test_the_policy_sees_changes_of_brokers_groups_and_client_metrics(talk: Talk) -> None:
    """B11."""
    keys = {
        (BROKER, "1"): "log.flush.interval.messages",
        (BROKER, ""): "log.flush.interval.messages",
        (GROUP, "g-policy"): "consumer.session.timeout.ms",
        (CLIENT_METRICS, "cm-policy"): "interval.ms",
    }
    for resource, key in keys.items():
        change(talk, Changed(*resource, (Change(key, SET, "50000"),)))
        change(talk, Changed(*resource, (Change(key, DELETE, None),)))


@same_answers_from_brokers_with_policies
def test_the_policy_sees_only_the_given_values_of_a_replacement(talk: Talk) -> None:
    """B11."""
    create(talk, Topic("replacing", 1, 1))
    settled(talk, "replacing")
    change(talk, Changed(TOPIC, "replacing", (Change("retention.ms", SET, "5"), Change("segment.ms", SET, "6000000"))))
    shown = Value("flush.messages", "5")
    replace(talk, Replaced(TOPIC, "replacing", (shown,)))
    replace(talk, Replaced(TOPIC, "replacing", (shown, Value("retention.ms", "5"))))
    replace(talk, Replaced(TOPIC, "replacing", (shown, Value("retention.ms", "6"))), validate_only=True)


@same_answers_from_brokers_with_policies
def test_kip_257_a_callback_validates_its_configuration(talk: Talk) -> None:
    """For all brokers and for one, and only when its own configuration changes; Java wraps its words."""
    factor = "doubled.factor"
    for resource in (
        (BROKER, ""),
        (BROKER, "1"),
    ):  # a value of the broker hides that of all, and Kafka removes it later
        for value in ("x", "broken"):
            refused = Changed(*resource, (Change(factor, SET, value),))
            talk.ask_for_codes(IncrementalAlterConfigsRequest((refused,)), 1)
            talk.ask_for_codes(IncrementalAlterConfigsRequest((refused,), True), 1)
            talk.ask_for_codes(AlterConfigsRequest((Replaced(*resource, (Value(factor, value),)),)), 2)
        change(talk, Changed(*resource, (Change("mail.address", SET, "x"),)))
        change(talk, Changed(*resource, (Change(factor, SET, "3"), Change("mail.address", DELETE, None))))
        change(talk, Changed(*resource, (Change(factor, DELETE, None),)))
