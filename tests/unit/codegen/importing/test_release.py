"""Reading the definitions of one release."""

from __future__ import annotations

import json

import pytest
from tests.made.release_jars import field, message

from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.release import read_release


def test_descriptions_are_dropped_at_every_depth() -> None:
    inner = field("Inner", "int8", "0+", about="deep")
    definition = message(
        "A", "0",
        [field("S", "S", "0+", about="top", fields=[inner]), field("C", "Shared", "0+")],
        commonStructs=[{"name": "Shared", "versions": "0+", "fields": [inner]}],
    )  # fmt: skip

    release = read_release("1.0", {"clients": {"A.json": json.dumps(definition)}})

    read = release.messages["clients", "A"]
    fields = [*read.fields, *read.fields[0].fields, *read.common_structs[0].fields]
    assert [f.about for f in fields] == ["", "", "", ""]


def test_a_message_defined_twice_in_a_group_is_refused_and_in_two_groups_is_not() -> None:
    text = json.dumps(message("A", "0", [field("F", "int8", "0+")]))

    assert len(read_release("1.0", {"one": {"A.json": text}, "two": {"A.json": text}}).messages) == 2
    with pytest.raises(SpecsImportError, match=r"1\.0 one: B\.json: A is defined twice"):
        read_release("1.0", {"one": {"A.json": text, "B.json": text}})


def test_all_errors_of_all_files_are_reported() -> None:
    with pytest.raises(SpecsImportError) as refused:
        read_release("1.0", {"one": {"A.json": "{", "B.json": '{"name": "B"}'}})

    assert {problem.split(":")[1].strip() for problem in refused.value.problems} == {"A.json", "B.json"}
