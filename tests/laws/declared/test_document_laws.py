"""A state that is written is read back; any text ends in problems with places, never otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import yaml
from hypothesis import given, strategies as st
from tests.laws.declared.state_strategies import TRAPS, states

from kafkawire.declared.documents.declared import Declared
from kafkawire.declared.documents.reading import KEYS, read_documents, read_texts
from kafkawire.declared.documents.writing import write_documents
from kafkawire.declared.state import ClusterState

_WORDS = (*KEYS, "partitions", "configs", "principal", "operation", "topic", "user", "apiVersion", "kind", "spec")
_VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from((*TRAPS, *_WORDS)) | st.text(max_size=5)
)
documents = st.recursive(
    _VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_WORDS) | st.text(max_size=5), inner),
    max_leaves=12,
)


def _is_sound(declared: Declared, text: str) -> bool:
    lines = text.count("\n") + text.count("\r") + 4 + sum(map(text.count, "\x85\u2028\u2029"))
    return all(0 < each.position.line <= lines and each.message for each in declared.problems)


@given(states)
def test_written_state_is_read_back(state: ClusterState) -> None:
    text = write_documents(state, with_assignments=True)
    declared = read_texts({"state.yaml": text})
    assert not declared.errors, text
    assert declared.state == state


@given(states)
def test_equal_states_are_written_as_equal_texts(state: ClusterState) -> None:
    text = write_documents(state, with_assignments=True)
    assert write_documents(read_texts({"state.yaml": text}).state, with_assignments=True) == text


@given(st.binary(max_size=200))
def test_any_bytes_end_in_problems(content: bytes) -> None:
    @dataclass
    class Input:
        content: bytes

        def read(self, _: int) -> bytes:
            return self.content

    declared = read_documents(["-"], stdin=Input(content))  # type: ignore[arg-type]  # the part that is used
    assert declared.problems or declared.state == ClusterState()


@given(st.text(max_size=200))
def test_any_text_ends_in_problems(text: str) -> None:
    assert _is_sound(read_texts({"a.yaml": text}), text)


@given(documents)
def test_any_document_ends_in_problems(document: object) -> None:
    text = yaml.safe_dump(document, allow_unicode=True)
    assert _is_sound(read_texts({"a.yaml": text}), text)
