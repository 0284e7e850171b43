"""Descriptions of configurations: DescribeConfigs and ListConfigResources (G1 to G4)."""

from __future__ import annotations

import pytest
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_topics import Config, Topic, create, settled

from kafkawire.protocol import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

pytestmark = pytest.mark.interop

Resource = DescribeConfigsRequest.DescribeConfigsResource
TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
VERSIONS = range(1, 5)


def describe(talk: Talk, *resources: Resource, version: int = 4, synonyms: bool = True) -> DescribeConfigsResponse:
    request = DescribeConfigsRequest(resources, synonyms, version >= 3)
    return talk.ask(request, version, DescribeConfigsResponse)


@same_answers_from_plain_brokers
def test_a_topic(talk: Talk) -> None:
    configs = (Config("retention.ms", " 7200000 "), Config("cleanup.policy", "compact, delete"))
    create(talk, Topic("described", 1, 1, (), (*configs, Config("min.cleanable.dirty.ratio", "1e-3"))))
    settled(talk, "described")
    for version in VERSIONS:
        for synonyms in (False, True):
            describe(talk, Resource(TOPIC, "described", None), version=version, synonyms=synonyms)


@same_answers_from_plain_brokers
def test_keys(talk: Talk) -> None:
    create(talk, Topic("keys", 1, 1))
    settled(talk, "keys")
    for keys in ((), ("retention.ms",), ("retention.ms", "retention.ms", "no.such"), ("no.such",), ("Retention.ms",)):
        describe(talk, Resource(TOPIC, "keys", keys))
    describe(talk, Resource(TOPIC, "keys", ("retention.ms",)), Resource(TOPIC, "keys", ("cleanup.policy",)))


@same_answers_from_plain_brokers
def test_topics_that_are_not_there(talk: Talk) -> None:
    names = ("", "a b", "no-such-topic", "x" * 250, "__cluster_metadata")
    for version in VERSIONS:
        describe(talk, *(Resource(TOPIC, name, None) for name in names), version=version)


@same_answers_from_plain_brokers
def test_the_broker(talk: Talk) -> None:
    for version in VERSIONS:
        for synonyms in (False, True):
            describe(talk, Resource(BROKER, "1", None), version=version, synonyms=synonyms)
    describe(talk, Resource(BROKER, "", None), Resource(BROKER, "1", ("log.retention.ms", "node.id", "no.such")))


@same_answers_from_plain_brokers
def test_brokers_that_are_not_there(talk: Talk) -> None:
    names = ("2", "x", "-1", "01", "+1", "1 ", "99999999999", "1.0")
    describe(talk, *(Resource(BROKER, name, ("node.id",)) for name in names))
    describe(talk, *(Resource(BROKER_LOGGER, name, ("no.such",)) for name in ("", *names)))


@same_answers_from_plain_brokers
def test_groups_and_client_metrics(talk: Talk) -> None:
    for version in VERSIONS:
        for synonyms in (False, True):
            described = (Resource(GROUP, "no-such-group", None), Resource(CLIENT_METRICS, "no-such-subscription", None))
            describe(talk, *described, version=version, synonyms=synonyms)
    describe(talk, Resource(GROUP, "", None), Resource(CLIENT_METRICS, "", None))


@same_answers_from_plain_brokers
def test_types_that_are_not_there(talk: Talk) -> None:
    for unknown in (0, 1, 3, 64, -1, 127):
        talk.tell(DescribeConfigsRequest((Resource(BROKER, "", None), Resource(unknown, "x", None))), 4)
    describe(talk)


@same_answers_from_plain_brokers
def test_resources_with_configurations(talk: Talk) -> None:
    talk.ask(ListConfigResourcesRequest(), 0, ListConfigResourcesResponse)
    for types in (
        (CLIENT_METRICS,),
        (BROKER,),
        (BROKER_LOGGER,),
        (BROKER, BROKER_LOGGER, BROKER),
        (99,),
        (4, 99),
        (0,),
    ):
        talk.tell(ListConfigResourcesRequest(types), 1)
