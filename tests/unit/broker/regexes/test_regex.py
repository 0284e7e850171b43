"""Regular expressions take a bounded time, whatever they are; ``tests/interop`` compares what they match with RE2/J."""

from __future__ import annotations

import random
import time

import pytest

from kafkawire.broker.regexes.regex import Regex

LONGEST_NAME = "a" * 249
MATCHES = [
    ("", [""], ["a"]),
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
    ("ä.[^b]", ["äüß", "äx\U0001f600"], ["a\u0308üß", "äxb"]),
    ("[\u03b1-ω]+", ["λ", "\u03c3"], ["Σ", "x"]),
    (r"\W\D\S[[:^alpha:]]\P{Lu}", ["äöüéß"], ["äöüaß", "äöüéÄ"]),
    ("(?i)straße-Ä[ς]", ["STRAẞE-äΣ", "\u017ftraße-Ä\u03c3"], ["strasse-Ä\u03c3"]),
    (r"(?i)\w\W", ["\u017f-", "\u212aä"], ["ä\u017f", "-k"]),
    (r"(?i)[^k]\P{Lu}", ["x1"], ["\u212a1", "xa"]),
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
    with pytest.raises(ValueError, match="`"):
        Regex(pattern)


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|aa)+$b", "(x+x+)+y", "((((a?)*)?)*)*b"])
def test_no_expression_goes_back(pattern: str) -> None:
    began = time.process_time()
    assert not Regex(pattern).matches("a" * 10_000 + "x" * 10_000)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("text", ["(a*)*b", "(a|a)*b", "(a|aa)+b", "(.*.*.*.*)*b", "(a?){200}b", "((a{1,10}){1,10})*b"])
def test_expressions_that_take_others_forever_take_a_moment(text: str) -> None:
    began = time.process_time()
    regex = Regex(text)
    assert not regex.matches(LONGEST_NAME)
    assert regex.matches("ab")
    assert time.process_time() - began < 5


@pytest.mark.usefixtures("no_cover")
@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("(a|b)*a(a|b){300}", "".join(random.Random(1).choices("ab", k=16_000))),
        (f"[^{'a-b' * 1300}]*", "".join(map(chr, range(256, 30_000)))),
        (f"(?:[{'a-b' * 1300}]?){{900}}", "ab"),
    ],
)
def test_matches_that_take_too_long_are_given_up(pattern: str, name: str) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match=r"^`.*` takes too long\.$"):
        Regex(pattern).matches(name)
    assert time.process_time() - began < 5


@pytest.mark.usefixtures("no_cover")
def test_many_names_cost_little() -> None:
    regex = Regex("orders-.*[0-9]")
    assert sum(regex.matches(f"orders-{number}") for number in range(100_000)) == 100_000


def test_large_regular_expressions_are_refused() -> None:
    with pytest.raises(ValueError, match="4096 at most"):
        Regex("a" * 4097)
    with pytest.raises(ValueError, match="2000 states at most"):
        Regex("(a{100}){100}")
    with pytest.raises(ValueError, match="20000 parts at most"):
        Regex("(((){1000}){1000}){1000}")
    with pytest.raises(ValueError, match="20000 parts at most"):
        Regex(f"({'|' * 1000}){{1000}}")
    with pytest.raises(ValueError, match="groups inside of each other"):
        Regex("(" * 100 + ")" * 100)
    with pytest.raises(ValueError, match="unsupported character class Greek"):
        Regex(r"\p{Greek}")


def test_an_error_says_what_and_where() -> None:
    with pytest.raises(ValueError, match=r"^`orders\(` is not .* missing closing \), at character 6"):
        Regex("orders(")
