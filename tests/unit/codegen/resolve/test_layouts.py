"""From definitions to layouts: presence, compact forms, nullability, defaults, structs, shared layouts."""

from __future__ import annotations

import json
import math

import pytest
from tests.made.packages import Json, field, message

from kafkawire.codegen.parse.load import parse_message
from kafkawire.codegen.resolve.layouts import ResolvedMessage, resolve, resolve_message
from kafkawire.layout import STRUCT, FieldLayout, StructLayout, Uuid


def resolved(*fields: Json, **more: object) -> ResolvedMessage:
    """A resolved message ``M`` of these fields."""
    text = json.dumps(message("M", *fields, **more))  # type: ignore[arg-type]
    parsed, findings = parse_message(text, "M.json")
    assert findings == []
    assert parsed is not None
    return resolve(parsed)


def layout_of(name: str, layout: StructLayout) -> FieldLayout:
    return next(field for field in layout.fields if field.name == name)


def by_version(name: str, made: ResolvedMessage) -> list[FieldLayout]:
    return [layout_of(name, made.layouts.of_version(version)) for version in made.layouts.by_version]


def test_presence_by_version() -> None:
    made = resolved(field("A", "int32", "1+", tag=0, taggedVersions="3+"), versions="0-4", flexible="2+")
    layouts = by_version("A", made)
    assert [layout.presence for layout in layouts] == ["absent", "inline", "inline", "tagged", "tagged"]
    assert [layout.tag for layout in layouts] == [None, None, None, 0, 0]


def test_versions_default_to_the_tagged_versions() -> None:
    made = resolved({"name": "A", "type": "int8", "tag": 0, "taggedVersions": "1+"})
    assert [layout.presence for layout in by_version("A", made)] == ["absent", "tagged"]


def test_compact_follows_the_message_or_the_field() -> None:
    made = resolved(
        field("A", "string"), field("B", "string", flexibleVersions="none"), field("C", "bytes", flexibleVersions="2+"),
        versions="0-2",
    )  # fmt: skip
    assert {name: [layout.compact for layout in by_version(name, made)] for name in "ABC"} == {
        "A": [False, True, True], "B": [False, False, False], "C": [False, False, True],
    }  # fmt: skip
    assert [made.layouts.of_version(version).flexible for version in range(3)] == [False, True, True]


def test_nullability_by_version() -> None:
    made = resolved(
        field("A", "string", "1+", nullableVersions="0+"), field("B", "string", nullableVersions="2+"), versions="0-2"
    )
    assert [layout.nullable for layout in by_version("A", made)] == [False, True, True], "only the overlap matters"
    assert [layout.nullable for layout in by_version("B", made)] == [False, False, True]
    assert {layout.ever_nullable for name in "AB" for layout in by_version(name, made)} == {True}


@pytest.mark.parametrize(
    ("type_", "text", "expected"),
    [
        ("bool", None, False), ("bool", "", False), ("bool", "tRuE", True), ("bool", False, False),
        ("int8", None, 0), ("int8", "-128", -128), ("int16", "0x7FfF", 32767), ("int32", "+5", 5), ("int64", -1, -1),
        ("uint16", "0xffff", 65535), ("uint32", "4294967295", 2**32 - 1), ("int64", "-9223372036854775808", -(2**63)),
        ("uuid", None, Uuid()), ("uuid", "H3KKOO4TTPaCWtEmm3vW7A", Uuid.from_text("H3KKOO4TTPaCWtEmm3vW7A")),
        ("float64", None, 0.0), ("float64", "1e3", 1000.0), ("float64", "-Infinity", -math.inf),
        ("float64", "12.5", 12.5),
        ("string", None, ""), ("string", "", ""), ("string", "Null", "Null"), ("string", " a ", " a "),
        ("bytes", None, b""), ("records", None, None), ("[]int32", None, ()), ("[]string", "", ()),
    ],
)  # fmt: skip
def test_default_values(type_: str, text: object, expected: object) -> None:
    default = {} if text is None else {"default": text}
    (layout,) = resolved(field("A", type_, **default), versions="0").layouts.layouts
    found = layout_of("A", layout).default
    assert found == expected
    assert type(found) is type(expected)


def test_default_float_not_a_number() -> None:
    (layout,) = resolved(field("A", "float64", default="NaN"), versions="0").layouts.layouts
    found = layout_of("A", layout).default
    assert isinstance(found, float)
    assert math.isnan(found)


@pytest.mark.parametrize("type_", ["string", "bytes", "records", "[]int32", "[]string", "S", "[]S"])
def test_default_null(type_: str) -> None:
    inner = {"fields": [field("X", "int8")]} if type_.endswith("S") else {}
    made = resolved(field("A", type_, nullableVersions="0+", default="null", **inner))
    assert {layout.default for layout in by_version("A", made)} == {None}


def test_default_nullable_not_null_and_default_json_null() -> None:
    inner = [field("X", "int8")]
    made = resolved(
        field("A", "string", nullableVersions="0+"), field("B", "[]int8", nullableVersions="0+"),
        field("C", "S", nullableVersions="0+", default=None, fields=inner),
    )  # fmt: skip
    assert [layout_of(name, made.layouts.of_version(0)).default for name in "ABC"] == ["", (), ()]


def test_structs_nest_and_end_in_a_section_where_the_message_is_flexible() -> None:
    made = resolved(field("A", "[]Outer", fields=[field("B", "Inner", "1+", fields=[field("C", "int8", "1+")])]))
    plain, flexible = (layout_of("A", layout).struct for layout in made.layouts.layouts)
    assert plain == StructLayout(
        "Outer", (FieldLayout("B", "b", STRUCT, struct_name="Inner", presence="absent", default=()),), False
    )
    assert flexible is not None
    inner = layout_of("B", flexible).struct
    assert inner is not None
    assert (flexible.flexible, inner.flexible, inner.name) == (True, True, "Inner")
    assert [str(struct.versions) for struct in made.structs.values()] == ["0-1", "1"]


def test_field_common_struct_is_shared() -> None:
    common = [
        {"name": "Pair", "versions": "0+", "fields": [field("X", "int8"), field("Y", "Deep")]},
        {"name": "Deep", "versions": "0-1", "fields": [field("Z", "int8")]},
        {"name": "Unused", "versions": "1+", "fields": [field("Z", "int8")]},
    ]
    made = resolved(field("One", "Pair"), field("Many", "[]Pair", "1+"), commonStructs=common)
    latest = made.layouts.of_version(1)
    assert layout_of("One", latest).struct is not None
    assert layout_of("One", latest).struct == layout_of("Many", latest).struct
    assert list(made.structs) == ["Pair", "Deep", "Unused"]
    assert str(made.structs["Unused"].versions) == "1"


def test_equal_versions_share_one_layout() -> None:
    made = resolved(field("A", "int8"), field("B", "int8", "3"), versions="1-5", flexible="2+")
    assert made.layouts.by_version == {1: 0, 2: 1, 3: 2, 4: 1, 5: 1}
    assert len(made.layouts.layouts) == 3


def test_layouts_alone_and_flags_of_fields() -> None:
    made = resolved(
        field("A", "[]S", fields=[field("K", "string", mapKey=True)]), field("B", "int8", "1+", ignorable=True)
    )
    assert resolve_message(made.definition).layouts == made.layouts.layouts
    struct = layout_of("A", made.layouts.of_version(0)).struct
    assert struct is not None
    assert layout_of("K", struct).map_key
    assert [layout.ignorable for layout in by_version("B", made)] == [True, True]


def test_classes_get_python_names() -> None:
    made = resolved(
        field("A", "Sequence", fields=[field("Class", "int8")]), field("B", "M", fields=[field("At", "int8")])
    )
    assert {name: struct.class_name for name, struct in made.structs.items()} == {"Sequence": "Sequence_", "M": "M_"}
    assert [layout_of(name, made.layouts.of_version(0)).struct_name for name in "AB"] == ["Sequence_", "M_"]
    assert made.structs["Sequence"].attributes == {"Class": "class_"}
