"""A slip of the finger in a type never loses a field without a word."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from hypothesis import assume, given, strategies as st
from tests.laws.codegen.definition_strategies import Json, real_definition_texts

from kafkawire.codegen.parse.load import read_definition
from kafkawire.layout import FIELD_TYPES

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789[] "


def fields_of(node: Json) -> Iterator[dict[str, Json]]:
    """All fields of a definition."""
    if isinstance(node, dict):
        if "type" in node and "versions" in node:
            yield node
        for value in node.values():
            yield from fields_of(value)
    elif isinstance(node, list):
        for item in node:
            yield from fields_of(item)


@st.composite
def slips(draw: st.DrawFn, text: str) -> str:
    """The text with a letter too many, too few, wrong, in the wrong case, or at its neighbour's place."""
    at = draw(st.integers(0, len(text) - 1))
    letter = draw(st.sampled_from(LETTERS))
    return draw(
        st.sampled_from(
            [
                text[:at] + text[at + 1 :],
                text[:at] + letter + text[at:],
                text[:at] + letter + text[at + 1 :],
                text[:at] + text[at].swapcase() + text[at + 1 :],
                text[:at] + text[at : at + 2][::-1] + text[at + 2 :],
            ]
        )
    )


@given(st.data())
def test_a_misspelt_type_is_an_error(data: st.DataObject) -> None:
    text = re.sub(r"^\s*//.*$", "", data.draw(st.sampled_from(real_definition_texts())), flags=re.MULTILINE)
    definition: Json = json.loads(text)
    fields = list(fields_of(definition))
    assume(fields)
    field = data.draw(st.sampled_from(fields))
    written = str(field["type"])
    misspelt = data.draw(slips(written))
    element = misspelt.strip().removeprefix("[]")
    # Another legal type says something else, and the struct that a field declares has no other name than this.
    assume(misspelt.strip() != written and element not in FIELD_TYPES)
    assume("fields" not in field and element != written.removeprefix("[]"))
    field["type"] = misspelt
    found = read_definition(json.dumps(definition).encode(), "Example.json")
    assert not found.messages, (written, misspelt)
    assert any(finding.severity == "error" for finding in found.findings)
