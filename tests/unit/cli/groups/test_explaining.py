"""Errors that brokers send as a code alone have a text."""

from __future__ import annotations

from kafkawire.admin import Results
from kafkawire.cli.groups.explaining import explained
from kafkawire.protocol.errors import GroupIdNotFoundError, NonEmptyGroupError


def test_a_code_has_a_text_and_a_text_stays() -> None:
    results = explained(Results({"a": NonEmptyGroupError(node=1), "b": GroupIdNotFoundError("Group b"), "c": None}))
    errors = results.errors()
    assert errors["a"].message == "the group has members; stop them first"
    assert errors["a"].node == 1
    assert errors["b"].message == "Group b"
    assert results.values() == {"c": None}
