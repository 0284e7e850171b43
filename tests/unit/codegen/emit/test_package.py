"""Pieces of the printer that the definitions of the golden package do not reach."""

from __future__ import annotations

import json
from pathlib import Path

import jinja2
import pytest
from tests.made.packages import Json, field, message

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.emit.formatting import FormattingError, format_files
from kafkawire.codegen.emit.grammar import grammar_lines, versions_text
from kafkawire.codegen.emit.headers import header_versions
from kafkawire.codegen.emit.names import default_literal, literal
from kafkawire.codegen.emit.package_modules import registries_view
from kafkawire.codegen.emit.render import environment
from kafkawire.codegen.emit.used_names import UsedNames
from kafkawire.codegen.parse.load import parse_message
from kafkawire.codegen.resolve.layouts import resolve_message
from kafkawire.layout import DefaultValue, Uuid


def parsed(definition: Json, group: str = "") -> MessageDefinition:
    made, findings = parse_message(json.dumps(definition), "M.json", group)
    assert made is not None, findings
    return made


def rpc(kind: str, key: int, name: str = "M", **more: object) -> MessageDefinition:
    name += kind.capitalize()
    return parsed(message(name, versions="0-3", flexible="2+", type=kind, apiKey=key, **more))


def test_header_versions_follow_the_rules_where_nothing_is_stated() -> None:
    assert header_versions(rpc("request", 50))[1] == {0: 1, 1: 1, 2: 2, 3: 2}
    assert header_versions(rpc("response", 50))[1] == {0: 0, 1: 0, 2: 1, 3: 1}
    assert header_versions(rpc("request", 7, "ControlledShutdown"))[1] == {0: 0, 1: 1, 2: 2, 3: 2}
    assert header_versions(rpc("response", 18, "ApiVersions"))[1] == {0: 0, 1: 0, 2: 0, 3: 0}


def test_other_messages_under_keys_of_kafkas_follow_the_rules_too() -> None:
    assert header_versions(rpc("request", 7))[1] == {0: 1, 1: 1, 2: 2, 3: 2}
    assert header_versions(rpc("response", 18))[1] == {0: 0, 1: 0, 2: 1, 3: 1}


def test_stated_header_versions_win() -> None:
    stated = {"3+": "3", "0": "1", "1-2": "2"}
    assert header_versions(rpc("request", 50, headerVersions=stated))[1] == {0: 1, 1: 2, 2: 2, 3: 3}
    assert header_versions(rpc("response", 50, headerVersions={"0+": "0"}))[1] == {0: 0, 1: 0, 2: 0, 3: 0}


def test_coordinator_records_in_the_form_of_releases_before_4_1() -> None:
    """The version of a key is its record type (coord-key-prefix)."""
    old_key = message("OffsetKey", field("Group", "string"), versions="0-1", flexible="none")
    old_value = message("OffsetValue", field("Offset", "int64"))
    new_key = message("MemberKey", versions="0", flexible="none", type="coordinator-key", apiKey=4)
    new_value = message("MemberValue", type="coordinator-value", apiKey=4)
    lone = message("LoneKey", versions="0", flexible="none")
    group = [parsed(definition, "group") for definition in (new_value, old_key, lone, new_key, old_value)]
    view = registries_view([*group, parsed(old_key, "other"), parsed(old_value, "other")], package="p")
    assert view.metadata == ()
    (registry,) = view.coordinators
    assert registry.constant == "GROUP_RECORDS"
    assert [(e.key, e.name, e.key_message, e.key_version, e.value_message) for e in registry.entries] == [
        (0, "Offset", "OffsetKey", 0, "OffsetValue"), (1, "Offset", "OffsetKey", 1, "OffsetValue"),
        (4, "Member", "MemberKey", 0, "MemberValue"),
    ]  # fmt: skip


def test_every_table_of_records_has_a_name_of_its_own() -> None:
    """Folders may be alike as Python names, and one folder may have records of both kinds."""
    record = message("NoteRecord", type="metadata", apiKey=1)
    key = message("NoteKey", versions="0", flexible="none", type="coordinator-key", apiKey=4)
    value = message("NoteValue", type="coordinator-value", apiKey=4)
    messages = [parsed(definition, group) for group in ("a/b", "a_b") for definition in (record, key, value)]
    view = registries_view(messages, package="p")
    assert [(registry.constant, registry.group) for registry in (*view.metadata, *view.coordinators)] == [
        ("A_B_RECORDS", "a/b"), ("A_B_RECORDS_", "a_b"),
        ("A_B_COORDINATOR_RECORDS", "a/b"), ("A_B_COORDINATOR_RECORDS_", "a_b"),
    ]  # fmt: skip


def test_records_of_the_root_folder_have_a_table_too() -> None:
    record = parsed(message("NoteRecord", type="metadata", apiKey=1))
    assert registries_view([record], package="p").metadata[0].constant == "RECORDS"


def test_printed_text_that_is_not_python_is_a_fault_that_names_the_file() -> None:
    with pytest.raises(FormattingError, match=r"broken\.py") as caught:
        format_files({"sub/broken.py": "def (:\n", "fine.py": "x=1\n"})
    assert "/tmp" not in str(caught.value)  # noqa: S108 the message does not show the folder


def test_formatting_is_that_of_this_project() -> None:
    assert format_files({"a.py": "x = {'a':1,\n}\n", "b/c.py": ""}) == {"a.py": 'x = {\n    "a": 1,\n}\n', "b/c.py": ""}
    assert format_files({}) == {}


def test_templates_see_nothing_but_their_view(tmp_path: Path) -> None:
    (tmp_path / "t.j2").write_text("{{ view.nothing }}")
    with pytest.raises(jinja2.UndefinedError):
        environment(tmp_path).get_template("t.j2").render(view=object())


@pytest.mark.parametrize(
    "value", [True, -5, 1.5, float("inf"), 'it\'s "so"\\\n\u2028\x00é', b"", (), None, Uuid(bytes(range(16)))]
)
def test_literals_read_back(value: DefaultValue) -> None:
    read = eval(literal(value), {"Uuid": Uuid})  # noqa: S307 what a literal is for
    assert read == value
    assert type(read) is type(value)


def test_the_zero_uuid_is_a_constant_and_not_a_number_a_call() -> None:
    use = UsedNames()
    assert default_literal(Uuid(), use) == "ZERO_UUID"
    assert "ZERO_UUID" in use.imports
    assert literal(float("nan")) == 'float("nan")'


def test_grammar_in_words() -> None:
    layouts = resolve_message(
        parsed(
            message(
                "M", field("A", "int8"), field("B", "[]S", fields=[field("X", "int8")]), field("C", "uuid", "1+"),
                field("D", "string", "1+", nullableVersions="1+"),
                field("E", "bytes", "1+", tag=0, taggedVersions="1+"),
                field("F", "string", flexibleVersions="none"),
            )
        )
    )  # fmt: skip
    assert grammar_lines(layouts.of_version(0)) == ("A: int8", "B: []S", "F: string")
    assert grammar_lines(layouts.of_version(1)) == (
        "A: int8", "B: compact []S", "C: uuid", "D: compact string, nullable", "F: string",
        "tag 0, E: compact bytes", "other tagged fields",
    )  # fmt: skip
    assert grammar_lines(resolve_message(parsed(message("M"))).of_version(0)) == ("nothing",)


@pytest.mark.parametrize(
    ("versions", "text"), [((3,), "version 3"), ((3, 4, 5), "versions 3-5"), ((1, 3, 4, 7), "versions 1, 3-4, 7")]
)
def test_versions_in_words(versions: tuple[int, ...], text: str) -> None:
    assert versions_text(versions) == text


def test_a_name_that_no_table_has_is_an_error_of_the_generator() -> None:
    with pytest.raises(KeyError):
        UsedNames()("long_txt")


def test_names_with_digits_and_functions_are_imported_where_they_are_used() -> None:
    use = UsedNames()
    assert use.function("load", "int128") == "_load_int128"
    assert use.function("pack_text", "", "h?B") == "_pack_text__hzB"
    assert use("Sequence") == use.annotation("Sequence") == "Sequence"
    assert (use.annotation("int"), use.annotation("Uuid")) == ("int", "Uuid")
    assert use.functions == '_load_int128 = loader("int128")\n_pack_text__hzB = text_packers("", "h?B")'
    assert use.imports == (
        "from collections.abc import Sequence\n\n"
        "from kafkawire.wire import Uuid\nfrom kafkawire.wire.structs import loader, text_packers"
    )
