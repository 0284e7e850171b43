"""A field type in every place where it may be, against the examples of its golden file."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings, strategies as st
from tests.kafka_logs.column_rows import check_columns
from tests.made.packages import check_laws, classes_of, field, make_package, message

from kafkawire.columns import MessageColumns
from kafkawire.layout import FieldType
from kafkawire.wire.laws import check_round_trip
from kafkawire.wire.strategies import messages


def check_field_type(type_: FieldType, golden: str, folder: Path, package: str) -> int:
    """Generate messages with a type in each place, and compare codecs, JSON form, strategies and columns.

    Args:
        type_: a type of the table.
        golden: a JSON array of examples, each an array: the JSON form of a value, its bytes in hexadecimal, and its
            bytes in flexible versions if these differ.
        folder: where to write.
        package: name of the package, used by no other test.

    Returns:
        How many values were compared with their bytes.
    """
    name = type_.name
    nullable = {"nullableVersions": "0+"} if type_.nullable else {}
    null = {"default": "null"} if type_.default is None else {}
    fields = [
        field("Alone", name, **nullable, **null),
        field("Inside", "S", fields=[field("Deep", name, **nullable), field("Later", name, "1+", ignorable=True)]),
        field("Between", "string"),
        field("Beside", name, **nullable),
        field("Structs", "[]T", fields=[field("First", name, **nullable), field("Second", "int32")]),
    ]
    if type_.element:
        fields += [field("Many", f"[]{name}"), field("Few", f"[]{name}", nullableVersions="0+", default="null")]
    if type_.taggable:
        fields.append(field("Tagged", name, "1+", tag=0, taggedVersions="1+"))
    if type_.taggable and type_.element:
        fields.append(field("ManyTagged", f"[]{name}", "1+", tag=1, taggedVersions="1+"))
    made = make_package(folder, package, message("Places", *fields), message("Value", field("A", name)))
    assert check_laws(classes_of(made), examples=20) > 30
    assert check_columns(MessageColumns(made.Places), examples=20) > 30

    @given(st.data())
    @settings(max_examples=20, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    def check_strategies(data: st.DataObject) -> None:
        check_round_trip(data.draw(messages(made.Places, 1)), 1)

    check_strategies()
    vectors = json.loads(golden)
    for form, *octets in vectors:
        for version, written in enumerate((octets[0], octets[-1])):
            value = made.from_json(made.Value, {"a": form}, version)
            tags = "00" * version
            assert value.encode(version).hex() == written + tags
            assert made.Value.decode(bytes.fromhex(written + tags), version) == value
            assert made.to_json(value, version) == {"a": form}
            check_round_trip(value, version)
    return len(vectors)
