"""The table of field types: what each record says agrees with itself, with ``struct`` and with the reference."""

from __future__ import annotations

import re
import struct

import pytest

from kafkawire.layout import ENTITY_TYPES, FIELD_TYPES, FieldType, Uuid

FIXED = [type_ for type_ in FIELD_TYPES.values() if type_.code is not None]
VARIABLE = [type_ for type_ in FIELD_TYPES.values() if type_.code is None]
PYTHON_TYPES = {"bool": bool, "int": int, "float": float, "uuid": Uuid, "text": str, "octets": bytes}


def name_of(type_: FieldType) -> str:
    return type_.name


def test_every_type_of_the_definition_language_is_there() -> None:
    language = {"bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "uuid", "float64", "string", "bytes"}
    assert language | {"records"} <= set(FIELD_TYPES)
    assert {name: type_.name for name, type_ in FIELD_TYPES.items()} == {name: name for name in FIELD_TYPES}


@pytest.mark.parametrize("type_", FIXED, ids=name_of)
def test_a_fixed_width_type_has_the_size_of_its_struct_code(type_: FieldType) -> None:
    assert struct.calcsize(f">{type_.code}") == type_.size
    assert type_.length_code is None
    assert not type_.nullable


@pytest.mark.parametrize("type_", VARIABLE, ids=name_of)
def test_a_variable_length_type_is_bounded_by_its_plain_length_prefix(type_: FieldType) -> None:
    assert type_.size is None
    assert type_.length_code is not None
    assert type_.maximum_length == 2 ** (8 * struct.calcsize(f">{type_.length_code}") - 1) - 1
    assert type_.nullable


@pytest.mark.parametrize("type_", [type_ for type_ in FIXED if type_.domain == "int"], ids=name_of)
def test_integers_have_the_range_of_their_name_and_struct_code(type_: FieldType) -> None:
    match = re.fullmatch(r"(u?)int(\d+)", type_.name)
    assert match is not None
    bits = int(match[2])
    assert (type_.minimum, type_.maximum) == (
        (0, 2**bits - 1) if match[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
    for edge, beyond in ((type_.minimum, type_.minimum - 1), (type_.maximum, type_.maximum + 1)):
        assert struct.unpack(f">{type_.code}", struct.pack(f">{type_.code}", edge)) == (edge,)
        with pytest.raises(struct.error):
            struct.pack(f">{type_.code}", beyond)


@pytest.mark.parametrize("type_", FIELD_TYPES.values(), ids=name_of)
def test_the_implicit_default_is_a_value_of_the_type(type_: FieldType) -> None:
    if type_.name == "records":
        assert type_.default is None
    else:
        assert type(type_.default) is PYTHON_TYPES[type_.domain]
        assert not type_.default or type_.default == bytes(16)


@pytest.mark.parametrize("type_", FIELD_TYPES.values(), ids=name_of)
def test_annotations_name_the_python_type(type_: FieldType) -> None:
    assert type_.annotation == ("RecordBytes" if type_.view else PYTHON_TYPES[type_.domain].__name__)


def test_field_array_of_records_and_field_tagged_records() -> None:
    assert [type_.name for type_ in FIELD_TYPES.values() if not type_.element] == ["records"]
    assert [type_.name for type_ in FIELD_TYPES.values() if not type_.taggable] == ["records"]


def test_records_are_the_only_views() -> None:
    assert [type_.name for type_ in FIELD_TYPES.values() if type_.view] == ["records"]


def test_entity_types_stand_for_types_of_the_table() -> None:
    assert set(ENTITY_TYPES.values()) <= set(FIELD_TYPES)
