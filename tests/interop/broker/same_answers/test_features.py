"""Levels of features, and the registrations of brokers (KIP-584, KIP-778)."""

from __future__ import annotations

import pytest
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers, same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_config_alterations import SET, Change, Changed, change
from tests.interop.broker.same_answers.test_topic_rights import allow

from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareFetchRequest,
    ShareFetchResponse,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

pytestmark = [pytest.mark.interop, pytest.mark.extended]

_CLUSTER = (ResourceType.CLUSTER, "kafka-cluster", 3)
_UPGRADE, _SAFE, _UNSAFE = 1, 2, 3
_BROKER = 4
_VERSIONS = (1, 2)
_LEVELS = {
    "group.version": range(-1, 4),
    "transaction.version": range(-1, 5),
    "share.version": range(-1, 3),
    "streams.version": range(-1, 3),
    "eligible.leader.replicas.version": range(-1, 3),
    "metadata.version": (-1, 0, 6, 7, 24, 29, 30, 31),
    "no.such.version": range(-1, 3),
    "": range(2),
}


def update(name: str, level: int, kind: int = _UPGRADE) -> UpdateFeaturesRequest.FeatureUpdateKey:
    return UpdateFeaturesRequest.FeatureUpdateKey(name, level, False, kind)


def ask(talk: Talk, *updates: UpdateFeaturesRequest.FeatureUpdateKey, only: bool = True) -> None:
    for version in _VERSIONS:
        talk.ask(UpdateFeaturesRequest(9000, updates, only), version, UpdateFeaturesResponse)


def show(talk: Talk, name: str, level: int) -> None:
    """Compare the finalized features once one has a level; 0 is none."""

    def has_level(answer: ApiVersionsResponse) -> bool:
        finalized = {one.name: one.max_version_level for one in answer.finalized_features}
        return finalized.get(name, 0) == level

    talk.ask_until(ApiVersionsRequest("kafkawire", "1.0"), 4, ApiVersionsResponse, has_level)


def configure_the_broker(talk: Talk) -> None:
    """Set a configuration of the broker itself.

    After its controller has failed for another request, Kafka's may look for configurations of a broker without any,
    and fails again when eligible leader replicas come (a NullPointerException in ``maybeGenerateElrSafetyRecords``).
    """
    change(talk, Changed(_BROKER, "1", (Change("message.max.bytes", SET, "1000000"),)))


@same_answers_from_plain_brokers
def test_levels_are_checked(talk: Talk) -> None:
    for name, levels in _LEVELS.items():
        for level in levels:
            for kind in (_UPGRADE, _SAFE, _UNSAFE):
                ask(talk, update(name, level, kind))
    for kind in (0, 4, -1, 127):
        ask(talk, update("group.version", 1, kind))
    for kind in (_UPGRADE, _SAFE):
        ask(talk, update("kraft.version", 0, kind))
    ask(talk, update("kraft.version", 2))


@same_answers_from_plain_brokers
def test_all_or_none_of_several(talk: Talk) -> None:
    for only in (True, False):
        ask(talk, only=only)
        ask(talk, update("group.version", 1), update("share.version", 1), only=only)
        ask(talk, update("group.version", 0, _SAFE), update("no.such.version", 1), only=only)
        ask(talk, update("group.version", 0, _SAFE), update("group.version", 1), only=only)
    show(talk, "group.version", 1)


@same_answers_from_plain_brokers
def test_a_downgrade_and_an_upgrade_are_shown(talk: Talk) -> None:
    configure_the_broker(talk)
    for name, levels in {
        "transaction.version": (1, 0, 2),
        "eligible.leader.replicas.version": (0, 1),
        "streams.version": (0, 1),
    }.items():
        before = levels[-1]
        for level in levels:
            ask(talk, update(name, level, _SAFE if level < before else _UPGRADE), only=False)
            show(talk, name, level)
            before = level


@same_answers_from_plain_brokers
def test_groups_of_a_feature_at_level_0_are_not_served(talk: Talk) -> None:
    kinds = ("group.version", "share.version")
    ask(talk, *(update(name, 0, _SAFE) for name in kinds), only=False)
    for name in kinds:
        show(talk, name, 0)
    for version in (0, 1):
        talk.ask(ConsumerGroupHeartbeatRequest("g", "member"), version, ConsumerGroupHeartbeatResponse)
        talk.ask(ConsumerGroupDescribeRequest(("g", "")), version, ConsumerGroupDescribeResponse)
    talk.ask(ShareGroupHeartbeatRequest("g", "member"), 1, ShareGroupHeartbeatResponse)
    for version in (1, 2):
        for group in ("g", None):
            talk.ask(ShareFetchRequest(group, "member"), version, ShareFetchResponse)
            talk.ask(ShareAcknowledgeRequest(group, "member"), version, ShareAcknowledgeResponse)
    ask(talk, *(update(name, 1) for name in kinds), only=False)
    for name in kinds:
        show(talk, name, 1)


@same_answers_from_plain_brokers
def test_updates_of_version_0_do_not_downgrade(talk: Talk) -> None:
    for level in (2, 1, 0):
        for downgrade in (False, True):
            key = UpdateFeaturesRequest.FeatureUpdateKey("streams.version", level, downgrade)
            talk.ask(UpdateFeaturesRequest(9000, (key,)), 0, UpdateFeaturesResponse)
    show(talk, "streams.version", 1)


@same_answers_from_plain_brokers
def test_brokers_that_there_are_not_cannot_be_unregistered(talk: Talk) -> None:
    for broker in (-1, 0, 2, (1 << 31) - 1):
        talk.ask(UnregisterBrokerRequest(broker), 0, UnregisterBrokerResponse)


@same_answers_from_secure_brokers
def test_rights(talk: Talk) -> None:
    for operation in (None, AclOperation.DESCRIBE, AclOperation.ALTER):
        if operation is not None:
            allow(talk, (_CLUSTER, operation))
        with talk.logged_in(USER, PASSWORDS[USER]):
            for version in range(3):
                talk.ask_for_codes(UpdateFeaturesRequest(9000, (update("group.version", 1),)), version)
            talk.ask_for_codes(UnregisterBrokerRequest(9), 0)
