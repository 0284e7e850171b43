"""Which sentence a field gets, and that nothing but ``about`` changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.made.packages import Json, field, message, write_definitions

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.merge.meanings import fields_without_meaning
from kafkawire.codegen.parse.load import load_definitions
from kafkawire.codegen.specs_tree import load_specs

ADDRESS = {"name": "Address", "versions": "0+", "fields": [field("City", "string"), field("Name", "string")]}
ORDER = message(
    "Order",
    field("Name", "string"),
    field("Lines", "[]Line", fields=[field("Name", "string"), field("Note", "string", about="Its own.")]),
    field("To", "Address"),
    field("From", "[]Address"),
    commonStructs=[ADDRESS],
)
OTHER = message("Other", field("Name", "string"), field("Lines", "[]int8"))


def explained(folder: Path, text: str, *definitions: Json) -> dict[str, str]:
    """``Message.Struct.Field`` to its text, for every field that has one."""
    write_definitions(folder, *(definitions or (ORDER, OTHER)))
    (folder / "field-meanings.toml").write_text(text)
    specs = load_specs(folder)
    assert specs.findings == ()
    return {
        f"{path}.{one.name}": one.about
        for found in specs.messages
        for path, fields in structs_of(found)
        for one in fields
        if one.about
    }


def structs_of(found: MessageDefinition) -> list[tuple[str, tuple[FieldDefinition, ...]]]:
    inline = [(f"{found.name}.{one.type.name}", one.fields) for one in found.fields if one.fields]
    common = [(f"{found.name}.{one.name}", one.fields) for one in found.common_structs]
    return [(found.name, found.fields), *inline, *common]


def test_a_general_sentence_is_for_all_fields_of_the_name(tmp_path: Path) -> None:
    assert explained(tmp_path, '[fields]\nName = "A name."') == {
        "Order.Name": "A name.",
        "Order.Line.Name": "A name.",
        "Order.Address.Name": "A name.",
        "Order.Line.Note": "Its own.",
        "Other.Name": "A name.",
    }


def test_the_nearest_sentence_wins(tmp_path: Path) -> None:
    text = """
        [fields]
        Name = "General."
        Note = "General."
        Lines = "General."
        [messages.Order]
        Name = "Of orders."
        Note = "Of orders."
        "Lines.Name" = "Of lines."
        "Lines.Note" = "Of lines."
    """
    assert explained(tmp_path, text) == {
        "Order.Name": "Of orders.",
        "Order.Lines": "General.",
        "Order.Line.Name": "Of lines.",
        "Order.Line.Note": "Its own.",
        "Order.Address.Name": "Of orders.",
        "Other.Name": "General.",
        "Other.Lines": "General.",
    }


def test_a_path_through_any_field_leads_to_a_common_struct(tmp_path: Path) -> None:
    assert explained(tmp_path, '[messages.Order]\n"From.City" = "The city."')["Order.Address.City"] == "The city."


def test_sentences_of_several_paths_to_one_field_are_joined(tmp_path: Path) -> None:
    text = """
        [messages.Order]
        "From.City" = "Where it is."
        "To.City" = "Where it goes."
        "From.Name" = "Who lives there."
        "To.Name" = "Who lives there."
    """
    found = explained(tmp_path, text)
    assert found["Order.Address.City"] == "In from: Where it is. In to: Where it goes."
    assert found["Order.Address.Name"] == "Who lives there."


def test_a_field_that_only_a_proposal_has_gets_its_sentence(tmp_path: Path) -> None:
    write_definitions(tmp_path / "proposals" / "kip-1", message("Order", field("Rank", "int8"), versions="2"))
    base = message("Order", field("Name", "string"))
    text = '[messages.Order]\nRank = "The rank."\nName = "The name."'
    assert explained(tmp_path, text, base) == {"Order.Rank": "The rank.", "Order.Name": "The name."}


def test_only_the_text_of_fields_changes(tmp_path: Path) -> None:
    explained(tmp_path, '[fields]\nName = "A name."')
    plain = {found.name: found for found in load_definitions(tmp_path).messages}
    for found in load_specs(tmp_path).messages:
        assert found != plain[found.name]
        assert without_about(found) == without_about(plain[found.name])


def without_about(found: MessageDefinition) -> MessageDefinition:
    def bare(fields: tuple[FieldDefinition, ...]) -> tuple[FieldDefinition, ...]:
        return tuple(replace(one, about="", fields=bare(one.fields)) for one in fields)

    common = tuple(replace(struct, fields=bare(struct.fields)) for struct in found.common_structs)
    return replace(found, fields=bare(found.fields), common_structs=common)


def test_fields_without_a_sentence_are_listed(tmp_path: Path) -> None:
    explained(tmp_path, '[fields]\nName = "A name."\nCity = "A city."')
    assert list(fields_without_meaning(load_specs(tmp_path).messages)) == [
        "Order.Lines",
        "Order.To",
        "Order.From",
        "Other.Lines",
    ]
