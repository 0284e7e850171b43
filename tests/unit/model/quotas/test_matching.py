"""Which quota entities a filter matches (E1 to E5), and entities, filters and alterations as values."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence

import pytest

from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    IP,
    USER,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
    QuotaMatch,
)
from kafkawire.model.quotas.matching import QuotaIndex, matches

exact, default, any_of = (
    ClientQuotaFilterComponent.exact,
    ClientQuotaFilterComponent.default,
    ClientQuotaFilterComponent.any,
)

U1 = ClientQuotaEntity.of_user("u1")
DEFAULT_USER = ClientQuotaEntity.of_user(None)
U1_C1 = ClientQuotaEntity.of_user_and_client("u1", "c1")
U1_DEFAULT = ClientQuotaEntity.of_user_and_client("u1", None)
C1 = ClientQuotaEntity.of_client("c1")
ADDRESS = ClientQuotaEntity.of_ip("10.0.0.1")
ALL = [U1, DEFAULT_USER, U1_C1, U1_DEFAULT, C1, ADDRESS]

Find = Callable[[Sequence[ClientQuotaEntity], ClientQuotaFilter], list[ClientQuotaEntity]]


def _one_by_one(entities: Sequence[ClientQuotaEntity], wanted: ClientQuotaFilter) -> list[ClientQuotaEntity]:
    return [entity for entity in entities if matches(wanted, entity)]


def _by_index(entities: Sequence[ClientQuotaEntity], wanted: ClientQuotaFilter) -> list[ClientQuotaEntity]:
    return QuotaIndex(entities).matching(wanted)


@pytest.fixture(params=[_one_by_one, _by_index], ids=["one by one", "index"])
def find(request: pytest.FixtureRequest) -> Find:
    """Both ways to ask."""
    made: Find = request.param
    return made


@pytest.mark.parametrize(
    ("components", "strict", "expected"),
    [
        ((), False, ALL),
        ((), True, []),
        ((exact(USER, "u1"),), False, [U1, U1_C1, U1_DEFAULT]),
        ((exact(USER, "u1"),), True, [U1]),
        ((default(USER),), True, [DEFAULT_USER]),
        ((any_of(USER),), True, [U1, DEFAULT_USER]),
        ((any_of(USER),), False, [U1, DEFAULT_USER, U1_C1, U1_DEFAULT]),
        ((any_of(USER), any_of(CLIENT_ID)), False, [U1_C1, U1_DEFAULT]),
        ((any_of(USER), any_of(CLIENT_ID)), True, [U1_C1, U1_DEFAULT]),
        ((exact(CLIENT_ID, "c1"),), False, [U1_C1, C1]),
        ((exact(USER, "u1"), default(CLIENT_ID)), True, [U1_DEFAULT]),
        ((any_of(IP),), False, [ADDRESS]),
        ((any_of(IP),), True, [ADDRESS]),
    ],
)
def test_filters_find_the_entities_that_the_table_shows(
    find: Find,
    components: tuple[ClientQuotaFilterComponent, ...],
    strict: bool,
    expected: list[ClientQuotaEntity],
) -> None:
    """E5."""
    assert find(ALL, ClientQuotaFilter(components, strict)) == expected
    assert find(ALL, ClientQuotaFilter(components[::-1], strict)) == expected


def test_match_types_have_the_numbers_of_kafka() -> None:
    """E1."""
    assert [(match.name, match.value) for match in QuotaMatch] == [("EXACT", 0), ("DEFAULT", 1), ("ANY", 2)]
    assert exact(USER, "u1") == ClientQuotaFilterComponent(USER, QuotaMatch.EXACT, "u1")
    assert default(USER) == ClientQuotaFilterComponent(USER, QuotaMatch.DEFAULT, None)
    assert any_of(USER) == ClientQuotaFilterComponent(USER)


def test_any_matches_named_and_default_entities(find: Find) -> None:
    """E2."""
    assert find([U1, DEFAULT_USER], ClientQuotaFilter((any_of(USER),))) == [U1, DEFAULT_USER]


def test_a_strict_filter_leaves_out_entities_with_other_types(find: Find) -> None:
    """E3."""
    assert find([U1_C1], ClientQuotaFilter((exact(USER, "u1"),), strict=True)) == []
    assert find([U1_C1], ClientQuotaFilter((exact(USER, "u1"),))) == [U1_C1]


def test_without_components_a_filter_matches_everything_and_a_strict_one_nothing(find: Find) -> None:
    """E4."""
    assert find(ALL, ClientQuotaFilter()) == ALL
    assert find(ALL, ClientQuotaFilter(strict=True)) == []


def test_an_exact_match_is_never_the_default(find: Find) -> None:
    no_name = ClientQuotaFilter((ClientQuotaFilterComponent(USER, QuotaMatch.EXACT, None),))
    assert find([DEFAULT_USER, ClientQuotaEntity.of_user("")], no_name) == []
    assert find([DEFAULT_USER], ClientQuotaFilter((exact(USER, ""),))) == []


def test_a_match_of_a_newer_broker_finds_nothing(find: Find) -> None:
    assert find(ALL, ClientQuotaFilter((ClientQuotaFilterComponent(USER, QuotaMatch(3)),))) == []


def test_the_index_is_asked_again() -> None:
    index = QuotaIndex(ALL)
    assert index.matching(ClientQuotaFilter((exact(USER, "u1"),), strict=True)) == [U1]
    assert index.matching(ClientQuotaFilter((exact(USER, "u2"),), strict=True)) == []
    index.matching(ClientQuotaFilter((exact(USER, "u1"),))).clear()
    assert index.matching(ClientQuotaFilter((exact(USER, "u1"),))) == [U1, U1_C1, U1_DEFAULT]


def test_the_parts_of_an_entity_have_no_order() -> None:
    one, other = ClientQuotaEntity({USER: "a", CLIENT_ID: None}), ClientQuotaEntity({CLIENT_ID: None, USER: "a"})
    assert one == other
    assert hash(one) == hash(other)
    assert list(one.items()) == list(other.items())
    assert one != ClientQuotaEntity({USER: "a"})
    assert one != ClientQuotaEntity({USER: "a", CLIENT_ID: ""})
    assert one[CLIENT_ID] is None
    assert repr(one) == "ClientQuotaEntity({'client-id': None, 'user': 'a'})"


def test_an_entity_of_a_newer_broker_is_kept() -> None:
    assert dict(ClientQuotaEntity({"tenant": "t"})) == {"tenant": "t"}


def test_the_argument_of_an_entity_can_change() -> None:
    parts: dict[str, str | None] = {USER: "a"}
    entity = ClientQuotaEntity(parts)
    parts[USER] = "b"
    assert entity[USER] == "a"


@pytest.mark.parametrize("made", [U1_DEFAULT, ClientQuotaAlteration(U1, {"producer_byte_rate": 1.5, "x": None})])
def test_entities_and_alterations_travel(made: object) -> None:
    for duplicate in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):  # noqa: S301 - own data
        assert duplicate == made
        assert hash(duplicate) == hash(made)
        assert repr(duplicate) == repr(made)


def test_an_alteration_does_not_share_its_arguments() -> None:
    values: dict[str, float | None] = {"producer_byte_rate": 1.0}
    alteration = ClientQuotaAlteration(U1, values)
    values.clear()
    assert alteration.values == {"producer_byte_rate": 1.0}
    assert alteration != ClientQuotaAlteration(U1, {})
    assert alteration != ClientQuotaAlteration(C1, {"producer_byte_rate": 1.0})
