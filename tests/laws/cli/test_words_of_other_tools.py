"""Whatever the words are, they are read or refused with a message."""

from __future__ import annotations

import contextlib

from hypothesis import given, strategies as st

from kafkawire.cli.kafka_configs.kafka_words import OF_OLDER_RELEASES, OPTIONS, checked, read_words
from kafkawire.cli.kafka_configs.kip_248_words import OPTIONS as OPTIONS_OF_KIP_248, read_kip_248
from kafkawire.cli.kafka_configs.refusals import RefusedError
from kafkawire.cli.kafka_configs.secrets_in_words import shown_words
from kafkawire.cli.outcome import CommandError

VALUES = st.sampled_from(["users", "clients", "topics", "brokers", "groups", "a", "1", "", "-", "--", "=", "<default>"])
ADDED = st.text("ab=,[] ", max_size=8)


def words_with(options: set[str]) -> st.SearchStrategy[list[str]]:
    option = st.sampled_from(sorted(options))
    joined = st.tuples(option, VALUES).map("=".join)
    return st.lists(option | joined | VALUES | ADDED | st.text(max_size=4), max_size=10)


@given(words_with({f"--{option.name}" for option in (*OPTIONS, *OF_OLDER_RELEASES)} - {"--ip"}))
def test_words_of_kafka_configs_are_read_or_refused(words: list[str]) -> None:
    with contextlib.suppress(RefusedError):
        checked(read_words(words, older_options=True))


@given(words_with(set(OPTIONS_OF_KIP_248)))
def test_words_of_kip_248_are_read_or_refused(words: list[str]) -> None:
    with contextlib.suppress(CommandError):
        read_kip_248(words)


@given(st.lists(st.sampled_from(["--add-config", "--add-config=", "a=b"]) | ADDED))
def test_words_without_secrets_are_repeated_as_they_are(words: list[str]) -> None:
    assert shown_words(words) == " ".join(words)


@given(st.from_regex(r"[ ,=\[\]a]{0,8}", fullmatch=True), st.from_regex(r"[ ,=\[\]a]{0,8}", fullmatch=True))
def test_a_password_is_never_repeated(before: str, after: str) -> None:
    words = ["--add-config", f"{before},SCRAM-SHA-256=[password=xyz{after}"]
    assert "xyz" not in shown_words(words)
