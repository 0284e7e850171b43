"""Example instances and strategies keep to what a version allows."""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.made.example_messages import extreme_instances, random_instance
from tests.made.messages import (
    ABSENT,
    FLEXIBLE,
    PLAIN,
    TAGGED,
    NullableStructMessage,
    everything,
    nullable_struct_layout,
)

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, StructLayout
from kafkawire.protocol import MetadataRequest
from kafkawire.wire.strategies import instances, messages
from kafkawire.wire.values import FIRST_UNKNOWN_TAG, LARGEST_TAG

EVERYTHING = everything()


def walk(value: msgspec.Struct, layout: StructLayout) -> Iterator[tuple[FieldLayout, object, object]]:
    """Every field with its value and the default of its class, structs within included."""
    default = type(value)()
    for field in layout.fields:
        held = getattr(value, field.attribute)
        yield field, held, getattr(default, field.attribute)
        if field.type == STRUCT and field.struct is not None and held is not None:
            for element in held if field.array else (held,):
                yield from walk(element, field.struct)


def assert_legal(value: msgspec.Struct, layout: StructLayout) -> None:
    for field, held, default in walk(value, layout):
        if field.presence == "absent":
            assert held == default, field.name
        elif held is None:
            assert field.nullable, field.name
        elif field.type != STRUCT:
            type_ = FIELD_TYPES[field.type]
            for element in held if field.array else (held,):  # type: ignore[attr-defined]
                assert element is not None
                if type_.domain == "int":
                    assert type_.minimum <= element <= type_.maximum, field.name


@pytest.mark.parametrize("version", [PLAIN, FLEXIBLE, TAGGED, ABSENT])
def test_random_instances_are_legal_and_repeatable(version: int) -> None:
    layout = EVERYTHING[version].layout
    for seed in range(30):
        made = random_instance(random.Random(seed), EVERYTHING[0].cls, layout)
        assert_legal(made, layout)
        assert made == random_instance(random.Random(seed), EVERYTHING[0].cls, layout)


@pytest.mark.parametrize("version", [PLAIN, FLEXIBLE, TAGGED, ABSENT])
def test_extreme_instances_are_legal(version: int) -> None:
    layout = EVERYTHING[version].layout
    made = extreme_instances(EVERYTHING[0].cls, layout)
    assert set(made) == {"default", "nulls", "minimum", "maximum"}
    assert made["default"] == EVERYTHING[0].cls()
    for value in made.values():
        assert_legal(value, layout)


def test_extremes_reach_the_ends_of_each_type() -> None:
    made = extreme_instances(EVERYTHING[0].cls, EVERYTHING[FLEXIBLE].layout)
    for field, held, _ in walk(made["minimum"], EVERYTHING[FLEXIBLE].layout):
        if field.type != STRUCT and FIELD_TYPES[field.type].domain == "int":
            assert held == ((FIELD_TYPES[field.type].minimum,) if field.array else FIELD_TYPES[field.type].minimum)
    for field, held, _ in walk(made["maximum"], EVERYTHING[FLEXIBLE].layout):
        if field.type != STRUCT and FIELD_TYPES[field.type].domain == "int" and not field.array:
            assert held == FIELD_TYPES[field.type].maximum


def test_nulls_stand_exactly_where_the_version_allows_them() -> None:
    layout = nullable_struct_layout(0)
    made = extreme_instances(NullableStructMessage, layout)["nulls"]
    assert made.a is None
    assert made.b is not None
    everywhere = extreme_instances(NullableStructMessage, nullable_struct_layout(1))["nulls"]
    assert everywhere == NullableStructMessage(None, None, None, None)


def test_unknown_tags_only_in_flexible_versions_and_only_if_wanted() -> None:
    rng = random.Random(1)
    flexible = [random_instance(rng, NullableStructMessage, nullable_struct_layout(1)) for _ in range(100)]
    tags = [tag for made in flexible for tag, _ in made.unknown_tagged_fields]
    assert tags
    assert all(FIRST_UNKNOWN_TAG <= tag <= LARGEST_TAG for tag in tags)
    for layout, wanted in ((nullable_struct_layout(0), True), (nullable_struct_layout(1), False)):
        made = [random_instance(rng, NullableStructMessage, layout, unknown_tags=wanted) for _ in range(100)]
        assert not any(message.unknown_tagged_fields for message in made)


@settings(max_examples=scaled(25))
@given(data=st.data())
@pytest.mark.parametrize("version", [PLAIN, FLEXIBLE, TAGGED, ABSENT])
def test_strategies_draw_legal_instances(version: int, data: st.DataObject) -> None:
    layout = EVERYTHING[version].layout
    assert_legal(data.draw(instances(EVERYTHING[0].cls, layout)), layout)


@given(message=messages(MetadataRequest, 12))
def test_strategies_of_messages_draw_values_that_the_version_can_carry(message: MetadataRequest) -> None:
    assert MetadataRequest.decode(message.encode(12), 12) == message
