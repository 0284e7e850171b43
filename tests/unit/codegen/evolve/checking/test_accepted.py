"""The file of accepted findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.codegen.definition import Span
from kafkawire.codegen.evolve.checking.accepted import MAXIMUM_SIZE, Acceptance, AcceptedError, read_accepted
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.versions import Versions

RULES = {"conv-order": "", "conv-type": ""}
ENTRY = '[[accepted]]\nrule = "conv-order"\nmessage = "Order"\nreason = "it is so"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "allow.toml"


def test_entries_are_read_with_their_lines(file: Path) -> None:
    file.write_text("# why\n\n" + ENTRY + "\n" + ENTRY + 'path = "Lines.Id"\nversions = "1-2"\n')
    assert read_accepted(file, RULES) == (
        Acceptance(3, "conv-order", "Order", "it is so"),
        Acceptance(8, "conv-order", "Order", "it is so", "Lines.Id", Versions(1, 2)),
    )


def test_an_empty_file_accepts_nothing(file: Path) -> None:
    file.write_text("# nothing\n")
    assert read_accepted(file, RULES) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ENTRY + "rule = 1\n", "not TOML"),
        (ENTRY + "[other]\n", ":5: unknown key 'other'"),
        (ENTRY + 'because = "so"\n', ":5: unknown key 'because'"),
        (ENTRY.replace("conv-order", "conv-odrer"), ":2: there is no rule 'conv-odrer'"),
        (ENTRY.replace('"Order"', "1"), ":3: message is not a string"),
        (ENTRY.replace("it is so", "  "), ":4: an entry needs reason"),
        (ENTRY + ENTRY.replace('reason = "it is so"\n', ""), ":5: an entry needs reason"),
        (ENTRY + 'versions = "x"\n', ":5: 'x' in 'x' is not a version number"),
        ('accepted = "all"\n', "not a list of tables"),
        ("accepted = [1]\n", "not a table"),
        ("accepted = " + "[" * 5000, "not TOML"),
    ],
)
def test_a_faulty_file_is_refused_with_the_line(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(AcceptedError) as refused:
        read_accepted(file, RULES)
    assert str(refused.value).startswith(str(file))
    assert message in str(refused.value)


def test_a_file_that_cannot_be_read_is_refused(file: Path) -> None:
    with pytest.raises(AcceptedError, match="No such file"):
        read_accepted(file, RULES)
    file.write_bytes(b"\xff")
    with pytest.raises(AcceptedError, match="not UTF-8 at byte 0"):
        read_accepted(file, RULES)
    file.write_bytes(b"#" * (MAXIMUM_SIZE + 1))
    with pytest.raises(AcceptedError, match="larger than"):
        read_accepted(file, RULES)


def finding(path: str = "Id") -> EvolutionFinding:
    span = Span(1, 1, 1, 1)
    return EvolutionFinding("conv-order", "breaking", "Order", path, Versions(1, 2), "", "Order.json", span)


@pytest.mark.parametrize(
    ("acceptance", "covers"),
    [
        (Acceptance(1, "conv-order", "Order", "so"), True),
        (Acceptance(1, "conv-order", "Order", "so", "Id", Versions(0, 2)), True),
        (Acceptance(1, "conv-type", "Order", "so"), False),
        (Acceptance(1, "conv-order", "Other", "so"), False),
        (Acceptance(1, "conv-order", "Order", "so", "Lines"), False),
        (Acceptance(1, "conv-order", "Order", "so", ""), False),
        (Acceptance(1, "conv-order", "Order", "so", "Id", Versions(2, 2)), False),
    ],
)
def test_an_entry_covers_no_more_than_it_says(acceptance: Acceptance, covers: bool) -> None:
    assert acceptance.covers(finding()) == covers


def test_an_entry_with_an_empty_path_covers_the_message_itself() -> None:
    assert Acceptance(1, "conv-order", "Order", "so", "").covers(finding(path=""))
