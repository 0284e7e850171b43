"""The prose of the repository is in plain words: constructions that readers had to decode do not come back.

Only prose is searched. In Markdown, blocks of code, text in backticks, addresses of links, and sections that a program
writes are left out; in Python, everything except docstrings, comments, and texts of several words: messages and help.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

COVERED = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "benchmarks",
    "docs",
    "examples",
    "generator",
    "src",
    "tests",
)
"""Files and folders whose prose is searched. Add a folder here after its prose has been rewritten."""

SOFTWARE = (
    r"(?:brokers?|clients?|controllers?|nodes?|servers?|generators?|kafkawire|libraries|library|packages?|classes|class"
    r"|codecs?|readers?|tables?|checkers?|drivers?|workers?|commands?|modules?|methods?|programs?)"
)


@dataclass(frozen=True)
class Construction:
    """A construction to avoid.

    Args:
        pattern: regular expression; a space stands between words, also at the end of a line.
        better: what to write.
        example: a sentence that has it.
    """

    pattern: str
    better: str
    example: str

    def found_in(self, text: str) -> Iterator[re.Match[str]]:
        return re.finditer(self.pattern.replace(" ", r"\s+"), text, flags=re.IGNORECASE)


CONSTRUCTIONS = [
    Construction(r"\b(?:tells?|telling|told)\b", "returns, prints, lists or reports", "An unused entry is told."),
    Construction(r"\bnobody\b", "no one, or the noun: no client, no reader", "A commit by nobody."),
    Construction(r"\bbut for\b", "except", "All rows but for the last."),
    Construction(
        r"\b(?:is|are|was|were) so(?= now\b| then\b| already\b| at\b|[.,;:])", "is valid", "What was so then."
    ),
    Construction(r"\bbehind\b(?! (?:TLS|mutual TLS|a proxy|a load balancer))", "after", "Reading goes on behind it."),
    Construction(r"\bof its own accord\b", "automatically", "It restarts of its own accord."),
    Construction(rf"\b{SOFTWARE} (?:knows?|knew)\b", "has, supports, or contains", "The table knows handshakes."),
    Construction(rf"\b{SOFTWARE} (?:asks?|asked)\b", "calls, queries or requests", "The broker asks a policy."),
    Construction(r"\b(?:is|are|was|were|not|never) asked\b", "is called, is queried", "The policy is asked last."),
    Construction(
        rf"\b{SOFTWARE} (?:believes?|thinks?|says? no)\b", "accepts, treats as, rejects", "A client believes it."
    ),
    Construction(r"\bso many\b", "the number: n bytes", "A size and so many bytes."),
    Construction(r"\bstands? for\b", "means, represents, replaces", "The name stands for the default."),
    Construction(r"\bheld against\b", "compared with", "A version is held against the one before."),
    Construction(r"\bwhoever\b", "the noun: a client that, a user who", "Whoever asks gets an answer."),
    Construction(r"\bbooks\b", "state, positions", "The fast path keeps no books."),
    Construction(r"\bmend(?:s|ed|ing)?\b", "repairs, fixes", "Old directories are mended."),
    Construction(r"\banew\b", "again", "The jar is fetched anew."),
    Construction(r"\blast word\b", "final authority", "The last word has Kafka."),
    Construction(r"\bin the words of\b", "with the names of, as in", "In the words of KIP-248."),
    Construction(r"\blooked (?:at|for|into|through)\b", "checked, searched, read", "The rest is not looked at."),
    Construction(r"\bwhat becomes? of\b|\bwhat became of\b", "how it is handled, the outcome", "What became of it."),
    Construction(r"\bwhere \w+ is due\b", "expected Y, got X", "X where Y is due."),
    Construction(r"\btakes? (?:it|them|this|that) for\b|\btaken for\b", "treats as", "It is taken for damage."),
    Construction(r"\bdo(?:es)? otherwise\b", "differs", "Where kafkawire does otherwise."),
]

NOT_PROSE = re.compile(
    r"^(?P<fence> *```+).*?^(?P=fence)[ ]*$"  # blocks of code
    r"|<!-- (?P<made>[\w ]+): made .*?<!-- end of (?P=made) -->"
    r"|``.+?``|`[^`]+`"
    r"|\]\([^)\s]+\)",
    flags=re.MULTILINE | re.DOTALL,
)


COMMENT_OR_TEXT = re.compile(
    r"(?P<comment>#[^\n]*)"
    r'|"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"'
    r"|'''(?:\\.|[^\\])*?'''|'(?:\\.|[^'\\\n])*'",
    flags=re.DOTALL,
)
"""Comments of Python, and texts, in which a number sign begins no comment; `tokenize` takes twenty times as long."""


def blanked(text: str, pattern: re.Pattern[str]) -> str:
    """The text with matches replaced by spaces, so that positions stay."""
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def prose_of_markdown(text: str) -> str:
    return blanked(text, NOT_PROSE)


def prose_of_python(text: str) -> str:
    """Docstrings, comments and texts of more than one word, each at its line, without their quotation marks."""
    kept, at = list[str](), 0
    for found in COMMENT_OR_TEXT.finditer(text):
        words = found[0].strip("\"'")
        kept += "\n" * text.count("\n", at, found.start()), words if " " in words.strip() else "\n" * words.count("\n")
        at = found.end()
    return blanked(" ".join(kept), re.compile(r"``.+?``|\{[^{}\n]*\}"))


def prose(path: Path) -> str:
    text = path.read_text("utf-8")
    return prose_of_markdown(text) if path.suffix == ".md" else prose_of_python(text)


def findings(text: str) -> list[str]:
    """A line for each construction to avoid."""
    return sorted(
        f"line {text.count(chr(10), 0, found.start()) + 1}: '{' '.join(found[0].split())}': write {each.better}"
        for each in CONSTRUCTIONS
        for found in each.found_in(text)
    )


@pytest.fixture(scope="module")
def covered_files(repository_files: list[Path], root: Path) -> list[Path]:
    places = [root / name for name in COVERED]
    return [
        file
        for file in repository_files
        if file.suffix in {".md", ".py"}
        and file != Path(__file__)
        and any(file == place or place in file.parents for place in places)
    ]


def test_the_prose_is_in_plain_words(covered_files: list[Path], root: Path) -> None:
    found = [f"{file.relative_to(root)}: {each}" for file in covered_files for each in findings(prose(file))]
    assert not found, "\n".join(found)


def test_every_place_has_files(covered_files: list[Path], root: Path) -> None:
    for name in COVERED:
        assert any(file == root / name or root / name in file.parents for file in covered_files), name


@pytest.mark.parametrize("construction", CONSTRUCTIONS, ids=lambda each: each.better)
def test_each_construction_is_found(construction: Construction) -> None:
    assert list(construction.found_in(construction.example))


def test_a_construction_is_found_across_lines_and_named_with_a_better_one() -> None:
    assert findings("Rows, but\nfor the last.") == ["line 1: 'but for': write except"]


@pytest.mark.parametrize(
    "text",
    [
        "```console\n$ kafkawire\nnobody is told\n```\n",
        "The column `told` is null.\n",
        "See [the page](what-nobody-told.md).\n",
        "<!-- rules: made from code -->\nnobody\n<!-- end of rules -->\n",
        "The next one is valid so that it can be read. The broker is behind a proxy.\n",
    ],
)
def test_code_and_plain_prose_have_no_findings(text: str) -> None:
    assert findings(prose_of_markdown(text)) == []


def test_docstrings_comments_and_messages_are_searched_and_code_is_not() -> None:
    source = '"""It is told to nobody."""\n\ntold = "nobody"  # behind it\nraise Error(f"{told} was told")\n'
    assert [each.partition(": write")[0] for each in findings(prose_of_python(source))] == [
        "line 1: 'nobody'",
        "line 1: 'told'",
        "line 3: 'behind'",
        "line 4: 'told'",
    ]
