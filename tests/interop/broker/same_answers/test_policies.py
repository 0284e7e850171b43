"""Policies for new topics (KIP-108) and for configurations, the same ones in Java and in Python: B1 to B7, B11."""

from __future__ import annotations

import pytest
from tests.interop.broker.same_answers.scenario import on_policies
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
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    MetadataRequest,
    MetadataResponse,
)

pytestmark = pytest.mark.interop


@on_policies
def test_b4_each_topic_has_its_own_outcome(talk: Talk) -> None:
    names = ("good", "forbidden", "broken", "better", "misconfigured")
    for version in range(2, 8):
        create(talk, *(Topic(f"{name}-{version}", 1, 1) for name in names), version=version)
    for name in names:
        create(talk, Topic(name, 1, 1), Topic(f"beside-{name}", 1, 1))


@on_policies
def test_b2_and_b3_what_the_policy_is_shown(talk: Talk) -> None:
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


@on_policies
def test_b5_and_b6_the_policy_comes_last(talk: Talk) -> None:
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


@on_policies
def test_topics_that_metadata_creates_pass_the_policy(talk: Talk) -> None:
    asked = tuple(
        MetadataRequest.MetadataRequestTopic(name=name) for name in ("forbidden-auto", "good-auto", "shown-it")
    )
    talk.ask(MetadataRequest(asked), 12, MetadataResponse)
    settled(talk, "good-auto")
    talk.ask(MetadataRequest(asked, False), 12, MetadataResponse)


@on_policies
def test_more_partitions_need_no_policy(talk: Talk) -> None:
    create(talk, Topic("growing", 1, 1))
    settled(talk, "growing")
    more = CreatePartitionsRequest.CreatePartitionsTopic("growing", 2)
    talk.ask(CreatePartitionsRequest((more,), 30_000), 3, CreatePartitionsResponse)


@on_policies
def test_b11_what_the_policy_is_shown_of_changes(talk: Talk) -> None:
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


@on_policies
def test_b11_resources_of_every_type(talk: Talk) -> None:
    keys = {
        (BROKER, "1"): "log.flush.interval.messages",
        (BROKER, ""): "log.flush.interval.messages",
        (GROUP, "g-policy"): "consumer.session.timeout.ms",
        (CLIENT_METRICS, "cm-policy"): "interval.ms",
    }
    for resource, key in keys.items():
        change(talk, Changed(*resource, (Change(key, SET, "50000"),)))
        change(talk, Changed(*resource, (Change(key, DELETE, None),)))


@on_policies
def test_b11_replacements_show_what_is_given(talk: Talk) -> None:
    create(talk, Topic("replacing", 1, 1))
    settled(talk, "replacing")
    change(talk, Changed(TOPIC, "replacing", (Change("retention.ms", SET, "5"), Change("segment.ms", SET, "6000000"))))
    shown = Value("flush.messages", "5")
    replace(talk, Replaced(TOPIC, "replacing", (shown,)))
    replace(talk, Replaced(TOPIC, "replacing", (shown, Value("retention.ms", "5"))))
    replace(talk, Replaced(TOPIC, "replacing", (shown, Value("retention.ms", "6"))), validate_only=True)
