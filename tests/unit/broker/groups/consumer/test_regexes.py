"""Regular expressions take little time, whatever they are; ``tests/interop`` compares what they match with RE2/J."""

from __future__ import annotations

import time

import pytest

from kafkawire.broker.groups.consumer.regexes.matching import Regex

LONGEST_NAME = "a" * 249


@pytest.mark.parametrize("text", ["(a*)*b", "(a|a)*b", "(a|aa)+b", "(.*.*.*.*)*b", "(a?){200}b", "((a{1,10}){1,10})*b"])
def test_expressions_that_take_others_forever_take_a_moment(text: str) -> None:
    begun = time.perf_counter()
    regex = Regex(text)
    assert not regex.matches(LONGEST_NAME)
    assert regex.matches("ab")
    assert time.perf_counter() - begun < 5


def test_large_regular_expressions_are_refused() -> None:
    with pytest.raises(ValueError, match="4096 at most"):
        Regex("a" * 4097)
    with pytest.raises(ValueError, match="2000 states at most"):
        Regex("(a{100}){100}")
    with pytest.raises(ValueError, match="groups inside of each other"):
        Regex("(" * 100 + ")" * 100)
    with pytest.raises(ValueError, match="unsupported character class Greek"):
        Regex(r"\p{Greek}")


def test_an_error_says_what_and_where() -> None:
    with pytest.raises(ValueError, match=r"`orders\(` is not .* missing closing \), at character 6"):
        Regex("orders(")
