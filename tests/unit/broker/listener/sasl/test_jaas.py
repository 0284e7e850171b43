"""JAAS entries in properties."""

from __future__ import annotations

import pytest

from kafkawire.model.jaas import JaasError, jaas_options

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("options", "read"),
    [
        ("", {}),
        ('user_alice="secret"', {"user_alice": "secret"}),
        ('username="a" \n password = "b" ', {"username": "a", "password": "b"}),
        ("user_a=plain-word user_b='single ; quotes'", {"user_a": "plain-word", "user_b": "single ; quotes"}),
        (r'user_a="say \"hi\" \\ \t \101 \z"', {"user_a": 'say "hi" \\ \t A z'}),
        ('user_a="=;" user_b=""', {"user_a": "=;", "user_b": ""}),
        ('// who may log in\n user_a="b"', {"user_a": "b"}),
        ('user_a="first" user_a="last"', {"user_a": "last"}),
    ],
)
def test_options_are_read(options: str, read: dict[str, str]) -> None:
    assert jaas_options(f"{MODULE} required {options};") == read
    assert jaas_options(f" {MODULE}\tREQUIRED\n{options} ; ") == read


@pytest.mark.parametrize(
    "entry",
    [
        "",
        ";",
        MODULE,
        f'{MODULE} user_alice="secret";',
        f'{MODULE} required user_alice="secret"',
        f'{MODULE} required user_alice="secret;',
        f"{MODULE} required user_alice;",
        f"{MODULE} required user_alice=;",
        f"{MODULE} required user_alice = = x;",
        f'{MODULE} required user_alice="secret"; {MODULE} required;',
    ],
)
def test_invalid_entries_are_refused_without_being_shown(entry: str) -> None:
    with pytest.raises(JaasError) as raised:
        jaas_options(entry)
    assert "secret" not in str(raised.value)
    assert "alice" not in str(raised.value)
