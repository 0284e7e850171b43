"""Reading definitions: coercion, what counts as given, and files and folders that are broken."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafkawire.codegen.definition import MessageDefinition, Span, TypeRef
from kafkawire.codegen.parse.files import MAXIMUM_FILE_BYTES
from kafkawire.codegen.parse.load import (
    load_definitions,
    load_paths,
    parse_message,
    read_definition,
    read_definitions,
)
from kafkawire.codegen.versions import NO_VERSIONS, Versions

HEAD = '"type": "data", "name": "Example", "validVersions": "0-3", "flexibleVersions": "2+"'


def message_of(fields: str, head: str = HEAD) -> MessageDefinition:
    message, findings = parse_message(f'{{{head}, "fields": [{fields}]}}', "Example.json", "group")
    assert findings == []
    assert message is not None
    return message


def rules_of(fields: str, head: str = HEAD) -> list[str]:
    return [finding.rule for finding in parse_message(f'{{{head}, "fields": [{fields}]}}', "Example.json")[1]]


def definition(name: str, type_: str = "data", api_key: int | None = None, fields: str = "") -> str:
    key = "" if api_key is None else f'"apiKey": {api_key}, '
    return (
        f'{{{key}"type": "{type_}", "name": "{name}", "validVersions": "0", "flexibleVersions": "0+",'
        f' "fields": [{fields}]}}'
    )


def test_a_definition_reads_into_the_model() -> None:
    message = message_of('{"name": "A", "type": "[]string", "versions": "1-2", "about": "the text", "zeroCopy": false}')
    assert (message.name, message.type, message.group, message.api_key) == ("Example", "data", "group", None)
    assert (message.valid_versions, message.flexible_versions) == (Versions(0, 3), Versions(2, 32767))
    assert message.header_versions is None
    (field,) = message.fields
    assert (field.name, field.type) == ("A", TypeRef("string", array=True, is_struct=False))
    assert str(field.type) == "[]string"
    assert field.versions == Versions(1, 2)
    assert field.nullable_versions == field.tagged_versions == NO_VERSIONS
    assert (field.tag, field.default, field.entity_type, field.about) == (None, None, "unknown", "the text")
    assert field.flexible_versions is None


def test_file_scalar_coercion() -> None:
    written = '"versions": 0, "tag": "1", "taggedVersions": "2+", "default": -1, "ignorable": "false", "mapKey": "true"'
    (field,) = message_of(f'{{"name": "A", "type": "int8", {written}}}').fields
    assert (str(field.versions), field.tag, field.default) == ("0", 1, "-1")
    assert (field.ignorable, field.map_key) == (False, True)
    (flag,) = message_of('{"name": "A", "type": "bool", "versions": "0+", "default": false}').fields
    assert flag.default == "false"


def test_file_null_attribute() -> None:
    absent = ("nullableVersions", "tag", "taggedVersions", "default", "ignorable", "entityType", "about", "fields")
    nothing = ", ".join(f'"{name}": null' for name in absent)
    with_nulls = message_of(f'{{"name": "A", "type": "int8", "versions": "0+", {nothing}}}')
    assert with_nulls == message_of('{"name": "A", "type": "int8", "versions": "0+"}')
    assert "tag" not in with_nulls.fields[0].place.attributes


@pytest.mark.parametrize("default", ["null", '""'])
def test_default_json_null_and_default_empty_are_none(default: str) -> None:
    (field,) = message_of(f'{{"name": "A", "type": "string", "versions": "0+", "default": {default}}}').fields
    assert field.default is None


def test_default_null_as_text_is_kept() -> None:
    (field,) = message_of('{"name": "A", "type": "string", "versions": "0+", "default": "null"}').fields
    assert field.default == "null"


def test_file_single_as_list() -> None:
    one_field = '{"name": "A", "type": "int8", "versions": "0+"}'
    message, findings = parse_message(f'{{{HEAD}, "listeners": "broker", "fields": {one_field}}}', "Example.json")
    assert findings == []
    assert message is not None
    assert message.listeners == ("broker",)
    assert [field.name for field in message.fields] == ["A"]


def test_file_duplicate_key_with_the_same_value_is_accepted() -> None:
    written = '"name": "A", "type": "int8", "versions": "0+", "tag": 0, "versions": "0+", "tag": "0"'
    (field,) = message_of(f"{{{written}}}").fields
    assert (str(field.versions), field.tag) == ("0+", 0)


def test_versions_are_taken_from_tagged_versions() -> None:
    (field,) = message_of('{"name": "A", "type": "int8", "tag": 0, "taggedVersions": "2+"}').fields
    assert field.versions == field.tagged_versions == Versions(2, 32767)


def test_header_versions_are_sorted() -> None:
    message = message_of("", HEAD + ', "headerVersions": {"2+": "2", "0-1": 1}')
    assert message.header_versions == ((Versions(0, 1), 1), (Versions(2, 32767), 2))


def test_retired_message_needs_no_flexible_versions_and_no_fields() -> None:
    text = '{"apiKey": 4, "type": "request", "name": "LeaderAndIsrRequest", "validVersions": "none"}'
    message, findings = parse_message(text, "LeaderAndIsrRequest.json")
    assert findings == []
    assert message is not None
    assert (message.valid_versions, message.flexible_versions, message.fields) == (NO_VERSIONS, NO_VERSIONS, ())


def test_places_are_those_of_the_file() -> None:
    text = '{\n  "type": "data",\n  "name": "Example", "validVersions": "0",\n  "flexibleVersions": "none"\n}'
    message, _ = parse_message(text, "folder/Example.json")
    assert message is not None
    assert message.place.file == "folder/Example.json"
    assert message.place.of("name") == Span(3, 11, 3, 20)
    assert message.place.of("fields") == message.place.span == Span(1, 1, 5, 2)


def test_a_message_with_errors_is_withheld_and_one_with_warnings_is_not() -> None:
    message, findings = parse_message(f'{{{HEAD}, "mistake": 1}}', "Example.json")
    assert message is None
    assert [finding.severity for finding in findings] == ["error"]
    message, findings = parse_message(f'{{{HEAD}, "deprecatedVersions": "3-2"}}', "Example.json")
    assert message is not None
    assert [finding.severity for finding in findings] == ["warning"]


def test_all_problems_of_a_field_are_reported_together() -> None:
    broken = '"name": "1st", "type": "int24", "versions": "x", "tag": "y", "ignorable": 2, "entityType": "z", "x": 1'
    assert rules_of(f"{{{broken}}}") == [
        "field-name-pattern",
        "field-type-unknown",
        "versions-not-a-number",
        "json-wrong-kind",
        "json-wrong-kind",
        "json-bad-enum",
        "json-unknown-attribute",
    ]


def test_a_misspelt_attribute_is_not_missing_too() -> None:
    assert rules_of('{"name": "A", "typ": "int8", "version": "0+"}') == ["json-unknown-attribute"] * 2


def test_the_path_of_a_nameless_field_has_its_index() -> None:
    _, findings = parse_message(
        f'{{{HEAD}, "fields": [{{"name": "A", "type": "S", "versions": "0+", "fields": [{{}}, 1]}}]}}', "Example.json"
    )
    assert {finding.message.partition(":")[0] for finding in findings} == {"Example.A.fields[0]", "Example.A"}


def test_deep_nesting_of_fields_is_a_finding() -> None:
    nested = '{"name": "A", "type": "S", "versions": "0+", "fields": ['
    _, findings = parse_message(f"{{{HEAD}, " + '"fields": [' + nested * 5000, "Example.json")
    assert [finding.rule for finding in findings] == ["file-nesting"]


@pytest.mark.parametrize(
    ("text", "rule", "message"),
    [
        ("not json", "json-syntax", 'expected the object of a definition, found "not"'),
        ('"text" "more"', "json-wrong-kind", "Example: a definition is one object"),
        ('"\\x" more', "json-syntax", "\\x is not an escape of JSON"),
        ("[] {}", "json-wrong-kind", "Example: a definition is one object"),
    ],
)
def test_a_file_that_is_no_definition_at_all_has_one_finding(text: str, rule: str, message: str) -> None:
    (finding,) = read_definition(text.encode(), "Example.json").findings
    assert (finding.rule, finding.message) == (rule, message)


def test_a_file_that_no_definition_is_as_large_as_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "Example.json").write_bytes(bytes(MAXIMUM_FILE_BYTES + 1))
    definitions = load_definitions(tmp_path)
    (finding,) = definitions.findings
    assert (finding.rule, finding.message) == (
        "file-unreadable", "cannot read this file: it has more than 1048576 bytes"
    )  # fmt: skip
    assert definitions.sources == {}


def test_load_definitions_reads_sub_folders_as_groups_in_order(tmp_path: Path) -> None:
    for name in ("b/c/Second.json", "First.json", "b/Third.json", "b/ignored.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(definition(path.stem))
    definitions = load_definitions(tmp_path)
    assert [(message.name, message.group) for message in definitions.messages] == [
        ("First", ""),
        ("Third", "b"),
        ("Second", "b/c"),
    ]
    in_order = ("First.json", "b/Third.json", "b/c/Second.json")
    assert list(definitions.sources) == [str(tmp_path / name) for name in in_order]
    assert not definitions.has_errors


def test_a_broken_file_hides_nothing_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "A.json").write_text("{")
    field = '"name": "X", "versions": "0+"'
    (tmp_path / "B.json").write_text(definition("B", fields=f'{{{field}, "type": "int24"}}'))
    (tmp_path / "C.json").write_text(definition("C", fields=f'{{{field}, "type": "int8", "default": "x"}}'))
    (tmp_path / "D.json").write_text(definition("D"))
    definitions = load_definitions(tmp_path)
    assert [(Path(finding.file).name, finding.rule) for finding in definitions.findings] == [
        ("A.json", "json-syntax"),
        ("B.json", "field-type-unknown"),
        ("C.json", "default-int-syntax"),
    ]
    assert [message.name for message in definitions.messages] == ["D"]


@pytest.mark.parametrize("partner", ["{", definition("FooResponse", "response").replace('"response"', '"Response"')])
def test_a_broken_file_is_not_a_missing_partner(tmp_path: Path, partner: str) -> None:
    (tmp_path / "FooRequest.json").write_text(definition("FooRequest", "request", 1))
    (tmp_path / "FooResponse.json").write_text(partner)
    findings = load_definitions(tmp_path).findings
    assert {Path(finding.file).name for finding in findings} == {"FooResponse.json"}


def test_files_that_are_named_one_by_one_are_no_set(tmp_path: Path) -> None:
    request = tmp_path / "FooRequest.json"
    request.write_text(definition("FooRequest", "request", 1))
    assert load_paths([request]).findings == ()
    assert [finding.rule for finding in load_paths([tmp_path]).findings] == ["set-request-has-response"]


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "Example.json"
    path.write_text(definition("Example"))
    definitions = load_paths([path, tmp_path, path])
    assert [message.name for message in definitions.messages] == ["Example"]


def test_folders_that_are_named_together_are_sets_of_their_own(tmp_path: Path) -> None:
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "Record.json").write_text(definition("Record", "metadata", 1))
    assert load_paths([tmp_path / "one", tmp_path / "other"]).findings == ()


def test_what_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "Pipe.json")
    (tmp_path / "Gone.json").symlink_to("nowhere")
    (tmp_path / "Example.json").write_text(definition("Example"))
    definitions = load_definitions(tmp_path)
    assert [(Path(finding.file).name, finding.rule) for finding in definitions.findings] == [
        ("Gone.json", "file-unreadable"),
        ("Pipe.json", "file-unreadable"),
    ]
    assert [message.name for message in definitions.messages] == ["Example"]
    assert definitions.files == {str(tmp_path / name) for name in ("Gone.json", "Pipe.json", "Example.json")}


def test_a_folder_that_cannot_be_listed_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked = tmp_path / "locked"
    locked.mkdir()
    scandir = os.scandir

    def refuse_locked(path: str | os.PathLike[str]) -> object:
        if os.fspath(path) == str(locked):
            raise PermissionError(13, "Permission denied", str(locked))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse_locked)  # root may list any folder, so the refusal is played
    (finding,) = load_definitions(tmp_path).findings
    assert (finding.file, finding.rule) == (str(locked), "file-unreadable")
    assert finding.message == "cannot read this folder: Permission denied"


def test_a_missing_folder_is_a_finding(tmp_path: Path) -> None:
    definitions = load_definitions(tmp_path / "missing")
    assert [finding.rule for finding in definitions.findings] == ["file-unreadable"]
    assert definitions.messages == ()


SOUND = b'{"type": "data", "name": "Example", "validVersions": "0", "flexibleVersions": "none", "fields": []}'
WITHOUT_FLEXIBLE = SOUND.replace(b'"flexibleVersions": "none", ', b"")


def test_a_path_is_named_as_it_is_to_be_shown(tmp_path: Path) -> None:
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients" / "A.json").write_bytes(SOUND)
    (tmp_path / "clients" / "B.json").write_bytes(b"{")

    definitions = load_definitions(tmp_path, lambda path: f"shown/{path.relative_to(tmp_path).as_posix()}")

    assert definitions.messages[0].place.file == "shown/clients/A.json"
    assert [finding.file for finding in definitions.findings] == ["shown/clients/B.json"]
    assert list(definitions.sources) == ["shown/clients/A.json", "shown/clients/B.json"]


def test_definitions_off_the_disk_are_read_as_those_of_a_folder(tmp_path: Path) -> None:
    request = SOUND.replace(b'"data"', b'"request", "apiKey": 1').replace(b"Example", b"ExampleRequest")
    contents = {
        "clients/ExampleRequest.json": request,
        "Top.json": SOUND,
        "clients/Bad.json": b"\xff",
        "clients-2/A.json": SOUND,
    }
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)

    off_disk = read_definitions(contents, lambda path: f"x/{path}")

    assert off_disk == load_definitions(tmp_path, lambda path: f"x/{path.relative_to(tmp_path).as_posix()}")
    assert [message.group for message in off_disk.messages] == ["", "clients", "clients-2"]
    assert {finding.file for finding in off_disk.findings} >= {"x/clients/Bad.json"}


def test_one_definition_off_the_disk_is_no_set() -> None:
    request = SOUND.replace(b'"data"', b'"request", "apiKey": 1').replace(b"Example", b"ExampleRequest")

    definitions = read_definition(request, "x")

    assert [(message.name, message.group, message.place.file) for message in definitions.messages] == [
        ("ExampleRequest", "", "x")
    ]
    assert definitions.findings == ()


def test_what_is_tolerated_is_a_warning_and_its_message_is_kept() -> None:
    refused = read_definitions({"A.json": WITHOUT_FLEXIBLE}, str)
    assert (refused.messages, refused.has_errors) == ((), True)

    tolerated = read_definitions({"A.json": WITHOUT_FLEXIBLE}, str, {"message-flexible-required"})
    assert [message.flexible_versions for message in tolerated.messages] == [NO_VERSIONS]
    assert [finding.severity for finding in tolerated.findings] == ["warning"]
