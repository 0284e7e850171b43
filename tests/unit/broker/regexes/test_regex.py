"""Regular expressions of clients: RE2's syntax, and no expression that takes forever."""

from __future__ import annotations

import time

import pytest

from kafkawire.broker.regexes.regex import Regex

MATCHES = [
    ("", ["", *[]], ["a"]),
    ("abc", ["abc"], ["ab", "abcd", "xabc"]),
    ("a.c", ["abc", "a.c"], ["a\nc", "ac"]),
    ("(?s)a.c", ["a\nc"], []),
    ("a|bc|", ["a", "bc", ""], ["abc"]),
    ("(ab)*c+d?", ["c", "ababccd"], ["abab"]),
    ("a{2}b{1,}c{0,2}", ["aab", "aabbbcc"], ["ab", "aabccc"]),
    ("a{,2}", ["a{,2}"], ["aa"]),
    ("a*?b+?c??", ["b", "aabbc"], ["a"]),
    ("[a-c-]x[^a-c]", ["ax-", "-xd"], ["dx-", "axa"]),
    ("[]a]", ["]", "a"], ["b"]),
    (r"[\d\-x]+", ["12-x"], ["a"]),
    (r"\d\D\w\W\s\S", ["1ab- x"], ["1ab-xx"]),
    (r"\.\\\-", [".\\-"], [".\\x"]),
    (r"\x41\x{1F600}\101\n\t", ["A\U0001f600A\n\t"], []),
    (r"\Qa.b*\E.", ["a.b*x"], ["axb*x"]),
    (r"[[:alpha:]]+[[:^digit:]]", ["abc", "ab-"], ["ab1", "a"]),
    (r"\p{Lu}\pL\P{Lu}", ["Äbc"], ["äbc", "ÄbC"]),
    ("(?i)ab[c-d]", ["AbD"], ["abe"]),
    ("a(?i:b)c", ["aBc", "abc"], ["ABc"]),
    ("(?P<name>a)(?<other>b)(?:c)", ["abc"], []),
    ("^a$", ["a"], ["a\n"]),
    (r"\Aa\z", ["a"], ["aa"]),
    (r"(?m)a$\n^b", ["a\nb"], ["ab"]),
    (r"a\b-\Bx?", ["a-"], ["a-x"]),
    ("orders-[0-9]+|payments", ["orders-17", "payments"], ["orders-", "payments-1"]),
]
"""Expressions with what they match, and what they do not."""


@pytest.mark.parametrize(("pattern", "good", "bad"), MATCHES)
def test_what_is_matched(pattern: str, good: list[str], bad: list[str]) -> None:
    regex = Regex(pattern)
    assert [text for text in good if not regex.matches(text)] == []
    assert [text for text in bad if regex.matches(text)] == []


@pytest.mark.parametrize(
    "pattern",
    [
        "(", ")", "a)", "[", "[a", "*", "+a", "?", "a**", "a{2}{3}", "a{3,2}", "a{1001}", "(?=a)", "(?!a)", "(?<=a)",
        r"\1", r"\k", r"\8", "(?P<a>x)(?P<a>y)", "(?P<>x)", r"[b-a]", r"\x{110000}", r"\p{Nope}", "\\", "(?z)", r"\C",
        "(?P=a)", "x" * 20_000, "(" * 200 + ")" * 200, "((a{500}){2}b){2}",
    ],
)  # fmt: skip
def test_what_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="expression"):
        Regex(pattern)


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|aa)+$b", "(x+x+)+y", "((((a?)*)?)*)*b"])
def test_no_expression_goes_back(pattern: str) -> None:
    began = time.perf_counter()
    assert not Regex(pattern).matches("a" * 10_000 + "x" * 10_000)
    assert time.perf_counter() - began < 5
