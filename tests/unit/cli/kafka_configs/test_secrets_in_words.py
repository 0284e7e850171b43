"""Words are repeated without the passwords that they have."""

from __future__ import annotations

import pytest

from kafkawire.cli.kafka_configs.secrets_in_words import has_password, shown_words


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--alter", "--add-config", "retention.ms=1,a=b"], "--alter --add-config retention.ms=1,a=b"),
        (["--add-config", "SCRAM-SHA-256=[iterations=1,password=xyz]"], "--add-config SCRAM-SHA-256=[hidden]"),
        (["--add-config=SCRAM-SHA-256=[password=xyz],a=1"], "--add-config=SCRAM-SHA-256=[hidden],a=1"),
        (["-add-config", "ssl.key.password=xyz"], "-add-config ssl.key.password=[hidden]"),
        (
            ["-add-config", "listener.name.a.ssl.key.password=xyz"],
            "-add-config listener.name.a.ssl.key.password=[hidden]",
        ),
        (["--add-config", "my.secret=xyz"], "--add-config my.secret=[hidden]"),
        (["--add-config", "SCRAM-SHA-256=[password=xyz"], "--add-config [hidden]"),
        (["--add-config", "a=="], "--add-config a=="),
        (["--add-config"], "--add-config"),
    ],
)
def test_secrets_are_hidden(words: list[str], shown: str) -> None:
    assert shown_words(words) == shown
    assert "xyz" not in shown


def test_a_password_is_found() -> None:
    assert has_password("SCRAM-SHA-512=[password=x]")
    assert not has_password("producer_byte_rate=1")
    assert not has_password("a==")
