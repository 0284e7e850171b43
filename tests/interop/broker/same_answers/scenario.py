"""Tests that send the same requests to Apache Kafka and to the embedded broker, and expect the same answers."""

from __future__ import annotations

import difflib
import pprint
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pytest
from tests.apache_kafka.connection import connected_to
from tests.apache_kafka.eventually import eventually
from tests.interop.broker.same_answers.talk import Exchange, Side, Talk

from kafkawire.protocol import DeleteAclsRequest, DeleteAclsResponse, DescribeAclsRequest, DescribeAclsResponse
from kafkawire.wire import Message

Scenario: TypeAlias = Callable[[Talk], None]
_ANY = 1
_SCENARIOS: dict[Callable[[Pair], None], Scenario] = {}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two brokers with the same properties.

    Attributes:
        kafka: Apache Kafka.
        embedded: the embedded broker.
        differing: requests whose answers are known to differ.
    """

    kafka: Side
    embedded: Side
    differing: tuple[type[Message], ...] = ()

    def compare(self, scenario: Scenario) -> None:
        """Let a scenario happen at each, and compare all answers."""
        expected, found = (_exchanges(side, scenario) for side in (self.kafka, self.embedded))
        assert len(found) == len(expected)
        different = [
            _shown(kafkas, ours)
            for kafkas, ours in zip(expected, found, strict=True)
            if kafkas.answer != ours.answer and not kafkas.request.startswith(tuple(map(_name, self.differing)))
        ]
        if different:
            pytest.fail("\n\n".join(different), pytrace=False)


def _name(request: type[Message]) -> str:
    return f"{request.__name__}("


def _exchanges(side: Side, scenario: Scenario) -> list[Exchange]:
    talk = Talk(side)
    try:
        scenario(talk)
    finally:
        talk.close()
    return talk.exchanges


def same_answers_from_plain_brokers(scenario: Scenario) -> Callable[[Pair], None]:
    """Make a test of a scenario at brokers without any security.

    ::

        @same_answers_from_plain_brokers
        def test_a_name_that_occurs_twice_is_refused(talk: Talk) -> None:
            talk.ask(CreateTopicsRequest(...), 7, CreateTopicsResponse)
    """

    def test(plain_pair: Pair) -> None:
        plain_pair.compare(scenario)

    return _named(test, scenario)


def same_answers_from_secure_brokers(scenario: Scenario) -> Callable[[Pair], None]:
    """Make a test of a scenario at brokers with an authorizer, and SASL on their second listener.

    Over the plain listener everything is allowed. ``with talk.logged_in("alice", PASSWORDS["alice"])`` asks as
    somebody who may do nothing but what ACLs allow. No ACL is there when a scenario begins.
    """

    def test(secure_pair: Pair) -> None:
        for side in (secure_pair.kafka, secure_pair.embedded):
            _remove_acls(side)
        secure_pair.compare(scenario)

    return _named(test, scenario)


def _remove_acls(side: Side) -> None:
    """Those that an earlier scenario has left; the broker may forget them later than its controller."""
    everything = DeleteAclsRequest.DeleteAclsFilter(_ANY, None, _ANY, None, None, _ANY, _ANY)
    every = DescribeAclsRequest(_ANY, None, _ANY, None, None, _ANY, _ANY)
    with connected_to(side.host, side.port) as connection:
        connection.ask(DeleteAclsRequest((everything,)), 3, DeleteAclsResponse)
        eventually(lambda: connection.ask(every, 3, DescribeAclsResponse), lambda answer: not answer.resources)


def same_answers_from_brokers_with_policies(scenario: Scenario) -> Callable[[Pair], None]:
    """Make a test of a scenario at brokers with the policies of ``policies``."""

    def test(policy_pair: Pair) -> None:
        policy_pair.compare(scenario)

    return _named(test, scenario)


def same_answers_from_upgrading_brokers(scenario: Scenario) -> Callable[[Pair], None]:
    """Make a test of a scenario at brokers that make consumer groups of classic groups, and not the other way round."""

    def test(upgrading_pair: Pair) -> None:
        upgrading_pair.compare(scenario)

    return _named(test, scenario)


def same_answers_from_brokers_of_4_4(scenario: Scenario) -> Callable[[Pair], None]:
    """Make a test of a scenario at a broker of Apache Kafka 4.4 and at an embedded one that answers as one."""

    def test(later_pair: Pair) -> None:
        later_pair.compare(scenario)

    return _named(test, scenario)


def scenario_of(test: Callable[[Pair], None]) -> Scenario:
    """The scenario of which a test was made."""
    return _SCENARIOS[test]


def _named(test: Callable[[Pair], None], scenario: Scenario) -> Callable[[Pair], None]:
    test.__name__ = scenario.__name__
    test.__qualname__ = scenario.__qualname__
    test.__module__ = scenario.__module__
    test.__doc__ = scenario.__doc__
    test.__dict__.update(scenario.__dict__)  # the marks below the decorator
    _SCENARIOS[test] = scenario
    return test


def _shown(kafkas: Exchange, ours: Exchange) -> str:
    """What is different in an answer; the request is Kafka's, ours may name other ids."""
    theirs, own = (pprint.pformat(exchange.answer, width=110).splitlines() for exchange in (kafkas, ours))
    changed = difflib.unified_diff(theirs, own, "Apache Kafka", "embedded broker", n=2, lineterm="")
    return "\n".join((f"{kafkas.request} at version {kafkas.version}", *changed))
