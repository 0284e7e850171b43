"""DescribeClientQuotas and AlterClientQuotas: E1 to E13, and many filters in one request (KIP-888)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from math import inf

import pytest
from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.admin.operations.quotas import described_quotas
from kafkawire.broker import EmbeddedBroker
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

PRODUCER, CONSUMER, PER_CENT = "producer_byte_rate", "consumer_byte_rate", "request_percentage"
MUTATION, CONNECTION = "controller_mutation_rate", "connection_creation_rate"
EXACT, DEFAULT, ANY = 0, 1, 2

U1, DEFAULT_USER = ClientQuotaEntity.of_user("u1"), ClientQuotaEntity.of_user(None)
BOTH, WITH_DEFAULT = ClientQuotaEntity.of_user_and_client("u1", "c1"), ClientQuotaEntity.of_user_and_client("u1", None)
C1, ADDRESS = ClientQuotaEntity.of_client("c1"), ClientQuotaEntity.of_ip("10.0.0.1")
ENTITIES = {
    U1: PRODUCER,
    DEFAULT_USER: PRODUCER,
    BOTH: CONSUMER,
    WITH_DEFAULT: PER_CENT,
    C1: MUTATION,
    ADDRESS: CONNECTION,
}

MIXED = (
    "Invalid entity filter component combination. "
    "IP filter component should not be used with user or clientId filter component."
)

Entity = Sequence[tuple[str, str | None]]
Op = tuple[str, float | None]
Component = tuple[str, int, str | None]


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker({"unstable.api.versions.enable": "true"}) as broker:
        yield broker


@pytest.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[BrokerConnection]:
    async with connected_to(broker) as client:
        yield client


async def alter(
    client: BrokerConnection, *entries: tuple[Entity, Sequence[Op]], validate_only: bool = False
) -> list[tuple[int, str | None]]:
    message = AlterClientQuotasRequest
    request = message(
        tuple(
            message.EntryData(
                tuple(message.EntityData(kind, name) for kind, name in entity),
                tuple(message.OpData(key, value or 0.0, remove=value is None) for key, value in ops),
            )
            for entity, ops in entries
        ),
        validate_only,
    )
    answer = await client.ask(request, 1, AlterClientQuotasResponse)
    found = {entity_of(entry.entity): (entry.error_code, entry.error_message) for entry in answer.entries}
    wanted = [*dict.fromkeys(entity_of(entry.entity) for entry in request.entries)]
    assert len(answer.entries) == len(wanted), "each entity has one result"
    return [found[each] for each in wanted]


def entity_of(
    parts: Sequence[AlterClientQuotasRequest.EntityData]
    | Sequence[AlterClientQuotasResponse.EntityData]
    | Sequence[DescribeClientQuotasResponse.EntityData],
) -> ClientQuotaEntity:
    return ClientQuotaEntity({part.entity_type: part.entity_name for part in parts})


async def describe(
    client: BrokerConnection, *components: Component, strict: bool = False, version: int = 1
) -> DescribeClientQuotasResponse:
    parts = tuple(DescribeClientQuotasRequest.ComponentData(*component) for component in components)
    return await client.ask(DescribeClientQuotasRequest(parts, strict), version, DescribeClientQuotasResponse)


async def described(
    client: BrokerConnection, *components: Component, strict: bool = False
) -> dict[ClientQuotaEntity, dict[str, float]]:
    answer = await describe(client, *components, strict=strict)
    assert (answer.error_code, answer.error_message) == (0, "")
    return {entity: dict(values) for entity, values in described_quotas(answer.entries or ()).items()}


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(
    ("components", "strict", "found"),
    [
        ([], False, set(ENTITIES)),
        ([], True, set()),
        ([("user", EXACT, "u1")], False, {U1, BOTH, WITH_DEFAULT}),
        ([("user", EXACT, "u1")], True, {U1}),
        ([("user", DEFAULT, None)], True, {DEFAULT_USER}),
        ([("user", ANY, None)], True, {U1, DEFAULT_USER}),
        ([("user", ANY, None)], False, {U1, DEFAULT_USER, BOTH, WITH_DEFAULT}),
        ([("user", ANY, None), ("client-id", ANY, None)], False, {BOTH, WITH_DEFAULT}),
        ([("client-id", ANY, None), ("user", ANY, None)], True, {BOTH, WITH_DEFAULT}),
        ([("client-id", EXACT, "c1")], False, {C1, BOTH}),
        ([("user", EXACT, "u1"), ("client-id", DEFAULT, None)], True, {WITH_DEFAULT}),
        ([("ip", ANY, None)], False, {ADDRESS}),
        ([("ip", ANY, None)], True, {ADDRESS}),
        ([("user", EXACT, "")], False, set()),
        ([("ip", EXACT, "no address")], False, set()),
    ],
)
async def test_filters_find_the_entities_that_the_table_shows(
    client: BrokerConnection, version: int, components: list[Component], *, strict: bool, found: set[ClientQuotaEntity]
) -> None:
    """E5."""
    await alter(client, *((list(entity.items()), [(key, 5.0)]) for entity, key in ENTITIES.items()))
    answer = await describe(client, *components, strict=strict, version=version)
    assert answer.error_code == 0
    values = described_quotas(answer.entries or ())
    assert values == {entity: {ENTITIES[entity]: 5.0} for entity in found}


@pytest.mark.parametrize(
    ("components", "code", "message"),
    [
        ([("", EXACT, "a")], 42, "Invalid empty entity type."),
        (
            [("user", ANY, None), ("user", EXACT, "a")],
            42,
            "Entity type user cannot appear more than once in the filter.",
        ),
        ([("User", ANY, None)], 35, "Unsupported entity type User"),
        ([("user", EXACT, None)], 42, "Request specified MATCH_TYPE_EXACT, but set match string to null."),
        ([("user", DEFAULT, "a")], 42, "Request specified MATCH_TYPE_DEFAULT, but also specified a match string."),
        ([("user", ANY, "a")], 42, "Request specified MATCH_TYPE_SPECIFIED, but also specified a match string."),
        ([("user", 3, None)], 42, "Unknown match type 3"),
        ([("user", -1, None)], 42, "Unknown match type -1"),
        ([("ip", ANY, None), ("tenant", ANY, None)], 35, "Unsupported entity type tenant"),
        (
            [("ip", ANY, None), ("client-id", ANY, None)],
            42,
            MIXED,
        ),
    ],
)
async def test_filters_with_contradictions_or_unknown_types_are_refused(
    client: BrokerConnection, components: list[Component], code: int, message: str
) -> None:
    """E6."""
    answer = await describe(client, *components)
    assert (answer.error_code, answer.error_message, answer.entries) == (code, message, None)


async def test_kip_888_each_filter_has_its_own_result(client: BrokerConnection) -> None:
    await alter(client, *((list(entity.items()), [(key, 5.0)]) for entity, key in ENTITIES.items()))
    message = DescribeClientQuotasRequest
    filters: list[list[Component]] = [[("user", EXACT, "u1")], [("tenant", ANY, None)], [], [("user", EXACT, "u1")]]
    request = message(
        strict=True,
        filters=tuple(
            message.DescribeClientQuotasFilter(tuple(message.ComponentData(*part) for part in parts))
            for parts in filters
        ),
    )
    answer = await client.ask(request, 2, DescribeClientQuotasResponse)
    results = [(result.error_code, result.entries) for result in answer.filter_results]
    assert [code for code, _ in results] == [0, 35, 0, 0]
    found = [None if entries is None else set(described_quotas(entries)) for _, entries in results]
    assert found == [{U1}, None, set(), {U1}]


async def test_proposals_offered_only_with_unstable_versions() -> None:
    async with EmbeddedBroker() as broker, connected_to(broker) as client:
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await describe(client, version=2)


@pytest.mark.parametrize(
    ("entity", "ops", "message"),
    [
        ([], [(PRODUCER, 1.0)], "Invalid empty client quota entity"),
        ([("tenant", "a")], [], "Unhandled client quota entity type: tenant"),
        ([("user", "")], [], "Empty user not supported"),
        (
            [("ip", "10.0.0.1"), ("user", "a")],
            [],
            "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId",
        ),
        ([("ip", "10.0.0.0/8")], [], "10.0.0.0/8 is not a valid IP or resolvable host."),
        ([("user", "a")], [(CONNECTION, 1.0)], f"Invalid configuration key {CONNECTION}"),
        ([("ip", None)], [(PRODUCER, 1.0)], f"Invalid configuration key {PRODUCER}"),
        ([("user", "a")], [(PRODUCER, 0.0)], f"Quota {PRODUCER} must be greater than 0"),
        ([("user", "a")], [(MUTATION, -1.0)], f"Quota {MUTATION} must be greater than 0"),
        ([("user", "a")], [(PRODUCER, 1.5)], f"{PRODUCER} cannot be a fractional value."),
        ([("user", "a")], [(CONSUMER, 2.0**64)], f"Proposed value for {CONSUMER} is too large for a LONG."),
        ([("user", "a")], [(CONSUMER, inf)], f"Proposed value for {CONSUMER} is too large for a LONG."),
        ([("ip", None)], [(CONNECTION, 2.0**31)], f"Proposed value for {CONNECTION} is too large for an INT."),
        (
            [("user", "a")],
            [(PRODUCER, 1.0), (PRODUCER, 2.0)],
            "Ignoring duplicate entity ClientQuotaEntity(entries={user=a})",
        ),
        (
            [("client-id", None)],
            [(PRODUCER, None), (PRODUCER, 2.0)],
            "Ignoring duplicate entity ClientQuotaEntity(entries={client-id=null})",
        ),
    ],
)
async def test_wrong_entities_keys_and_values_are_refused_and_the_others_are_altered(
    client: BrokerConnection, entity: Entity, ops: Sequence[Op], message: str
) -> None:
    """E11."""
    sound = ([("user", "sound")], [(PRODUCER, 1.0)])
    assert await alter(client, (entity, ops), sound) == [(42, message), (0, None)]
    assert await described(client) == {ClientQuotaEntity.of_user("sound"): {PRODUCER: 1.0}}  # E10


@pytest.mark.parametrize(
    ("entity", "ops", "stored"),
    [
        ([("user", "a")], [(PRODUCER, 1.0000001)], {PRODUCER: 1.0000001}),
        ([("user", "a")], [(PRODUCER, 2.0**63), (PER_CENT, 1e300)], {PRODUCER: 2.0**63, PER_CENT: 1e300}),
        ([("user", "a")], [("no_such_quota", None)], None),
        ([("user", "a")], [], None),
        ([("ip", "::1")], [(CONNECTION, 2.0**31 - 1)], {CONNECTION: 2.0**31 - 1}),
        ([("ip", "localhost")], [(CONNECTION, 3.0)], {CONNECTION: 3.0}),
        ([("user", "a"), ("user", "b")], [(PRODUCER, 1.0)], {PRODUCER: 1.0}),
    ],
)
async def test_extreme_values_and_repeated_types_are_accepted(
    client: BrokerConnection, entity: Entity, ops: Sequence[Op], stored: dict[str, float] | None
) -> None:
    """E11."""
    assert await alter(client, (entity, ops)) == [(0, None)]
    assert await described(client) == ({} if stored is None else {ClientQuotaEntity(dict(entity)): stored})


async def test_of_an_entity_that_occurs_twice_the_first_alteration_is_applied(client: BrokerConnection) -> None:
    """E9."""
    user = [("user", "a")]
    answer = await alter(client, (user, [(PRODUCER, 1.0)]), (user, [(CONSUMER, -1.0)]))
    assert answer == [(42, "Ignoring duplicate entity ClientQuotaEntity(entries={user=a})")]
    assert await described(client) == {ClientQuotaEntity.of_user("a"): {PRODUCER: 1.0}}


async def test_one_bad_key_spoils_its_entity_only(client: BrokerConnection) -> None:
    """E10."""
    bad, good = ([("user", "a")], [(PRODUCER, 1.0), (CONSUMER, 0.0)]), ([("user", "b")], [(PRODUCER, 1.0)])
    assert [code for code, _ in await alter(client, bad, good)] == [42, 0]
    assert await described(client) == {ClientQuotaEntity.of_user("b"): {PRODUCER: 1.0}}


async def test_entities_and_their_quotas_come_in_the_order_of_kafkas_maps(client: BrokerConnection) -> None:
    """As Apache Kafka 4.3.1 answers, whose users compare lists."""
    ops = ((PRODUCER, 1000.0), (CONSUMER, 1000.0), (PER_CENT, 0.5))
    for name in (None, "Client1"):
        await alter(client, ((("client-id", name), ("user", "User1")), ops))
    entries = (await describe(client)).entries or ()
    assert [entity_of(entry.entity)["client-id"] for entry in entries] == ["Client1", None]
    for entry in entries:
        assert [value.key for value in entry.values] == [CONSUMER, PER_CENT, PRODUCER]


async def test_validation_equal_values_and_removals_of_unset_keys_succeed(client: BrokerConnection) -> None:
    """E8, E12."""
    user = [("user", "a")]
    assert await alter(client, (user, [(PRODUCER, 1.0)]), validate_only=True) == [(0, None)]
    assert await described(client) == {}
    for _ in range(2):
        assert await alter(client, (user, [(PRODUCER, 1.0), (CONSUMER, 2.0)])) == [(0, None)]
    for _ in range(2):
        assert await alter(client, (user, [(PRODUCER, None)])) == [(0, None)]
    assert await described(client) == {ClientQuotaEntity.of_user("a"): {CONSUMER: 2.0}}
    assert await alter(client, (user, [(CONSUMER, None)])) == [(0, None)]
    assert await described(client) == {}


@pytest.mark.usefixtures("one_engine")
@pytest.mark.parametrize("validate_only", [True, False])
async def test_more_than_10_000_records_are_refused_altogether(
    client: BrokerConnection, *, validate_only: bool
) -> None:
    values = [(PRODUCER, 1.0), (CONSUMER, 1.0)]
    entries = [([("user", f"u{number}")], values) for number in range(5000)]
    more = ([("user", "one more")], [(PRODUCER, 1.0)])
    refused = await alter(client, *entries, more, validate_only=validate_only)
    assert set(refused) == {(44, "Request parameters do not satisfy the configured policy.")}
    assert len(refused) == 5001
    assert await described(client) == {}
    assert set(await alter(client, *entries)) == {(0, None)}
    assert len(await described(client)) == 5000
    assert (await alter(client, *entries, more)) == [(0, None)] * 5001  # equal values are no records
