"""What the check has to say about two real releases: every finding, each group of them with its explanation.

A file such as ``kafka-3.9.2-to-4.3.1.txt`` has a line for each finding; the lines before it that begin with ``#``
explain it and all that follow until the next such lines. With ``--update-golden`` explanations stay where they are,
before the first finding that they explained.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.apache_kafka.prerequisites import lacking, program
from tests.apache_kafka.releases import REPOSITORY

from kafkawire.codegen.evolve.checking.accepted import read_accepted
from kafkawire.codegen.evolve.checking.result import CheckResult, check_sides
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.origin import load_side
from kafkawire.codegen.evolve.render.check_wording import BytesRow, bytes_rows, subject
from kafkawire.codegen.evolve.rules.catalogue import EVOLUTION_RULES
from kafkawire.codegen.evolve.side import OriginError

pytestmark = [pytest.mark.conformance, pytest.mark.usefixtures("no_cover")]

PAIRS = sorted(Path(__file__).parent.glob("kafka-*-to-*.txt"))

BYTES: dict[tuple[str, str], tuple[list[tuple[str, str, bool]], int]] = {
    ("kafka:3.9.2", "kafka:4.3.1"): (
        [("ReadShareGroupStateSummaryResponse", "0", True), ("ShareGroupMetadataValue", "0", False)],
        630,
    ),
    ("kafka:4.3.1", "kafka:4.4.0"): ([], 739),
}
"""Pair of releases to the versions whose bytes changed, and how many both have."""


@pytest.fixture(scope="module", params=PAIRS, ids=lambda path: path.stem)
def expected(request: pytest.FixtureRequest) -> Path:
    """The findings about a pair of releases, which the name of the file names."""
    assert isinstance(request.param, Path)
    return request.param


@pytest.fixture(scope="module")
def result(expected: Path) -> CheckResult:
    """The check of both releases, with what is accepted of it."""
    program("mvn")
    older, newer = expected.stem.removeprefix("kafka-").split("-to-")
    try:
        sides = load_side(f"kafka:{older}"), load_side(f"kafka:{newer}")
    except OriginError as error:
        if "Maven" in str(error):
            lacking(str(error))
        raise
    accepted = REPOSITORY / "docs" / "evolution" / f"{expected.stem}.toml"
    acceptances = read_accepted(accepted, EVOLUTION_RULES) if accepted.exists() else ()
    return check_sides(*sides, "kafkawire", acceptances)


def line_of(finding: EvolutionFinding) -> str:
    return f"{finding.severity} {finding.rule} {subject(finding)}: {finding.reason}"


def lines_of(result: CheckResult) -> list[str]:
    findings = sorted((judged.finding for judged in result.findings), key=lambda f: (_weight(f), f.rule, line_of(f)))
    return [*map(line_of, findings), *(f"bytes {row}" for row in bytes_rows(result))]


def _weight(finding: EvolutionFinding) -> int:
    return ("breaking", "risky", "safe").index(finding.severity)


def with_explanations(lines: list[str], before: str) -> Iterator[str]:
    """The lines, each after the comments on its finding; the reason of a finding may have changed."""
    comments: dict[str, list[str]] = {}
    waiting: list[str] = []
    for line in before.splitlines():
        waiting.append(line)
        if line and not line.startswith("#"):
            comments.setdefault(line.partition(": ")[0], []).extend(waiting[:-1])
            waiting = []
    for line in lines:
        yield from comments.pop(line.partition(": ")[0], ())
        yield line


def test_every_finding_is_expected(expected: Path, result: CheckResult, update_golden: bool) -> None:
    if update_golden:
        before = expected.read_text("utf-8")
        expected.write_text("".join(f"{line}\n" for line in with_explanations(lines_of(result), before)), "utf-8")
    lines = [line for line in expected.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    assert lines_of(result) == lines


def test_what_breaks_is_accepted_with_a_reason_and_nothing_else_is(result: CheckResult) -> None:
    assert [line_of(judged.finding) for judged in result.findings if judged.fails] == []
    assert {judged.finding.severity for judged in result.findings if judged.accepted} <= {"breaking"}
    assert result.unused == ()


def test_the_bytes_of_all_other_versions_are_the_same(result: CheckResult) -> None:
    rows: list[BytesRow] = list(bytes_rows(result))
    changed, compared = BYTES[result.older.name, result.newer.name]
    assert [(row.message, str(row.versions), row.unstable) for row in rows] == changed
    assert sum(len(message.versions) for message in result.bytes) == compared


def test_each_kind_of_finding_is_explained(expected: Path) -> None:
    explained = False
    kind = ""
    for line in expected.read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            explained = True
            continue
        fresh = " ".join(line.split()[: 1 if line.startswith("bytes") else 2])
        assert explained or fresh == kind, f"nothing explains: {line}"
        explained, kind = False, fresh
