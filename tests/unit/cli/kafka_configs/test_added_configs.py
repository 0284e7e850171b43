"""Values of ``--add-config`` and ``--delete-config``."""

from __future__ import annotations

import pytest

from kafkawire.cli.kafka_configs.added_configs import (
    AddedConfigsError,
    ForbiddenCharacterError,
    check_keys,
    read_added,
    read_deleted,
)


@pytest.mark.parametrize(
    ("text", "configs"),
    [
        ("a=b,c=d", {"a": "b", "c": "d"}),
        ("a=b,c=,d=e,f=", {"a": "b", "c": "", "d": "e", "f": ""}),
        ("k=[v1,v2,v3]", {"k": "v1,v2,v3"}),
        ("SCRAM-SHA-512=[password=1234=abc]", {"SCRAM-SHA-512": "password=1234=abc"}),
        ("SCRAM-SHA-256=[iterations=8192,password=abc, def]", {"SCRAM-SHA-256": "iterations=8192,password=abc, def"}),
        (" a = b , c = d ", {"a": "b", "c": "d"}),
        ("k=[[v1,v2]],x=[]", {"k": "v1,v2", "x": ""}),
        ("a=1,a=2", {"a": "2"}),
        ("a=b,,", {"a": "b"}),
        (",", {}),
    ],
)
def test_configs_are_split_outside_of_brackets(text: str, configs: dict[str, str]) -> None:
    """C12, C13."""
    assert read_added(text) == configs


@pytest.mark.parametrize("text", ["a==", "a,=b", "a=[b,c,d=e", "", "a", "a=b,,c=d"])
def test_a_part_that_is_not_a_key_and_a_value_is_refused(text: str) -> None:
    """C12."""
    with pytest.raises(AddedConfigsError):
        read_added(text)


def test_the_first_key_with_another_character_is_refused() -> None:
    """C14."""
    check_keys(dict.fromkeys(("a.b", "a_b", "a-b", "A9", "$a", ""), ""))
    with pytest.raises(ForbiddenCharacterError, match="Invalid character found for config key: a;c"):
        check_keys({"a": "", "a;c": "", "b/c": ""})


def test_deleted_names_are_trimmed() -> None:
    """C11."""
    assert read_deleted([" k1", "k2 ", " "]) == ["k1", "k2", ""]
