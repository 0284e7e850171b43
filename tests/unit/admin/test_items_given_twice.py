"""Items that a call is given twice: equal ones are sent once, contradictory ones not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from tests.stand_ins.cluster import StandInCluster
from tests.unit.admin.method_arguments import alternatives, item_of, methods, parameters, required, sample

from kafkawire.admin import (
    AdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    NewTopic,
    RaftEndpoint,
    Results,
    ScramDeletion,
    ScramUpsertion,
)
from kafkawire.admin.engine.batch_call import BatchCall
from kafkawire.admin.engine.item_states import ItemState
from kafkawire.admin.engine.operation import Operation
from kafkawire.layout import Uuid
from kafkawire.protocol.errors import DuplicateResourceError, InvalidRequestError
from kafkawire.wire.kafka_errors import ApiError

ALICE = ClientQuotaEntity(user="alice")

CONTRADICTIONS: dict[object, list[tuple[Any, Any, type[ApiError]]]] = {
    NewTopic: [
        (NewTopic("a"), NewTopic("a", 3), InvalidRequestError),
        (NewTopic("a"), NewTopic("a"), InvalidRequestError),
    ],
    ClientQuotaAlteration: [
        (
            ClientQuotaAlteration(ALICE, {"producer_byte_rate": 1}),
            ClientQuotaAlteration(ALICE, {"producer_byte_rate": None}),
            InvalidRequestError,
        ),
    ],
    ScramUpsertion: [
        (
            ScramUpsertion("alice", "SCRAM-SHA-256", "one"),
            ScramUpsertion("alice", "SCRAM-SHA-256", "other"),
            DuplicateResourceError,
        ),
        (
            ScramUpsertion("alice", "SCRAM-SHA-256", "one"),
            ScramDeletion("alice", "SCRAM-SHA-256"),
            DuplicateResourceError,
        ),
    ],
}
"""What a method takes to pairs of it that cannot both be done."""


def bulk_methods() -> list[tuple[str, str]]:
    """Methods with a result for each of many items, and the parameter that has these."""
    found = []
    for method in methods():
        function = getattr(AdminClient, method)
        returned = str(function.__annotations__["return"])
        if not any(kind in returned for kind in ("Results", "DescribedAcls", "DescribedQuotas", "DeletedAcls")):
            continue
        many = [name for name, hint in parameters(function).items() if item_of(hint) is not None]
        if many and many[0] not in ("keys", "configs"):
            found.append((method, many[0]))
    return found


def key_of_results(method: str) -> object:
    """What the results of a method are for, or its items themselves where it has a class of results of its own."""
    returned = get_type_hints(getattr(AdminClient, method))["return"] if method != "capabilities" else Results[int, int]
    results = next((part for part in alternatives(returned) if get_origin(part) is Results), None)
    return None if results is None else alternatives(get_args(results)[0])[0]


def contradictable() -> list[tuple[str, str, object]]:
    """Methods whose items say more than which thing they are about: the results are for something else."""
    found = []
    for method, parameter in bulk_methods():
        item, key = item_of(parameters(getattr(AdminClient, method))[parameter]), key_of_results(method)
        if key is not None and key != item:
            found.append((method, parameter, item))
    return found


def test_the_bulk_methods_are_found() -> None:
    assert len(bulk_methods()) > 25
    assert {item for _, _, item in contradictable()} == set(CONTRADICTIONS)


@pytest.mark.parametrize(("method", "parameter"), [each for each in bulk_methods() if each[0] != "create_topics"])
async def test_equal_items_are_sent_once_and_reported_as_often_as_they_are_given(
    method: str, parameter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Sequence[object]] = []

    async def seen(
        self: BatchCall[Any, Any], operation: Operation[Any, Any, Any], states: Sequence[ItemState[Any]]
    ) -> None:
        sent.append(states)
        for state in states:
            self._settle(operation, state, (1,) if state.item is None else InvalidRequestError("seen"))

    monkeypatch.setattr(BatchCall, "_dispatch", seen)
    function = getattr(AdminClient("127.0.0.1:1"), method)
    item = sample(item_of(parameters(function)[parameter]))
    results = await function(**{**required(function), parameter: [item, item]})
    assert len(results) == 2
    assert all(len(items) <= 1 for items in sent)


@pytest.mark.parametrize(("method", "parameter", "item"), contradictable())
async def test_items_that_contradict_each_other_are_refused_before_anything_is_sent(
    method: str, parameter: str, item: object
) -> None:
    for one, other, error in CONTRADICTIONS[item]:
        async with StandInCluster() as cluster, cluster.client() as client:
            function = getattr(client, method)
            results = await function(**{**required(function), parameter: [one, other]})
            assert len(results) == 2
            assert [type(each) for each in results.errors().values()] == [error]
            assert cluster.asked == []


async def test_a_listener_of_a_voter_at_two_addresses_is_refused() -> None:
    endpoints = [RaftEndpoint("CONTROLLER", host, 9093) for host in ("a", "b")]
    async with StandInCluster() as cluster, cluster.client() as client:
        with pytest.raises(InvalidRequestError, match="the listener 'CONTROLLER' has two addresses"):
            await client.add_raft_voter(3, Uuid(b"\1" * 16), endpoints)
        assert cluster.asked == []


async def test_contradictory_items_do_not_affect_the_rest_of_the_call() -> None:
    async with StandInCluster() as cluster, cluster.client() as client:
        results = await client.create_topics([NewTopic("a", 1, 1), NewTopic("b", 1, 1), NewTopic("a", 2, 1)])
        assert list(results) == ["a", "b", "a"]
        assert str(results.errors()["a"]) == ("INVALID_REQUEST (42): the topic 'a' is given twice; give each name once")
        assert "given twice" not in str(results.errors()["b"])
