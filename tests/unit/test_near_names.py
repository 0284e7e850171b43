"""Suggestions for names that do not exist."""

from __future__ import annotations

import pytest

from kafkawire.near_names import did_you_mean, near_names

NAMES = ("TOPIC_RECORD", "REMOVE_TOPIC_RECORD", "CONFIG_RECORD", "acl_history", "group_history", "group_metadata")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("topic_record", ["TOPIC_RECORD"]),
        ("TOPIC", ["TOPIC_RECORD"]),
        ("acl", ["acl_history"]),
        ("acls", ["acl_history"]),
        ("acl_histroy", ["acl_history"]),
        ("group", ["group_history", "group_metadata"]),
        ("COMFIG_RECORD", ["CONFIG_RECORD"]),
        ("configRecord", ["CONFIG_RECORD"]),
        ("remove-topic", ["REMOVE_TOPIC_RECORD"]),
        ("zzz", []),
        ("", []),
        ("a" * 10_000, []),
    ],
)
def test_names_are_near_by_letters_or_by_their_first_words(name: str, near: list[str]) -> None:
    assert list(near_names(name, NAMES)) == near


def test_a_suggestion_is_a_question_or_nothing() -> None:
    assert did_you_mean("group", NAMES) == "did you mean group_history or group_metadata?"
    assert did_you_mean("zzz", NAMES) == ""
