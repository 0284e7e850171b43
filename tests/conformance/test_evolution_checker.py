"""``schema check --profile upstream`` agrees with Kafka's own schema checker, stage by stage."""

from __future__ import annotations

import json
import random
import re
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from pathlib import Path, PurePosixPath
from typing import Final

import pytest
from tests.apache_kafka.releases import BROKER, REPOSITORY, class_path, newest_with, releases_with
from tests.apache_kafka.schema_checker import Verdict, ask_checker
from tests.conformance.definition_changes import changed, random_definition
from tests.made.release_jars import Json
from tests.made.schema_changes import EXAMPLES

from kafkawire.codegen.check import check_message
from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.upstream import UPSTREAM_RULES, upstream_findings
from kafkawire.codegen.parse.load import parse_message

pytestmark = [pytest.mark.conformance, pytest.mark.extended]

_RULES: Final = tuple(UPSTREAM_RULES)
MESSAGES: Final = frozenset(_RULES[:5])
OWN_VERSIONS: Final = frozenset(_RULES[5:9])
STRUCTS: Final = frozenset(_RULES[9:13])
FIELDS: Final = frozenset(_RULES[13:])
"""The stages of the checker, which are also called separately."""

_SYNTHETIC: Final = 200
_CHANGES_OF_SYNTHETIC: Final = 6
_CHANGES_OF_REAL: Final = 3

_RULE_OF_TEXT: Final = {
    r"Initial apiKey .* does not match": "evo-api-key",
    r"Initial type .* does not match": "evo-type",
    r"Initial flexibleVersions .* must be a subset": "evo-flexible-shrinks",
    r"Initial maximum valid version": "evo-max-version-lower",
    r"Initial minimum valid version": "evo-min-version-lower",
    r"Field \w+ in  \w+ has versions": "evo-field-never-valid",
    r"Field \w+ in  \w+ has nullableVersions": "evo-nullable-never-valid",
    r"Field \w+ in  \w+ has taggedVersions": "evo-tagged-never-valid",
    r"Field \w+ in  \w+ has flexibleVersions": "evo-override-never-valid",
    r"Can't process structure \w+: the first letter": "struct-common-capitalised",
    r"Common struct \w+ was specified twice": "struct-common-unique",
    r"Can't re-specify the common struct": "struct-common-respecified",
    r"Struct \w+ was specified twice": "struct-inline-unique",
    r"Field type for field2": "evo-type-differs",
    r"Maximum effective valid version": "evo-max-effective-lower",
    r"Minimum effective valid version": "evo-min-effective-differs",
    r"Maximum effective nullable version": "evo-max-nullable-lower",
    r"Minimum effective nullable version": "evo-min-nullable-differs",
    r"Flexible versions for field2": "evo-field-flexible-shrinks",
    r"Default for field2": "evo-default-differs",
    r"Tagged versions for field[12]": "evo-tagged-outside-flexible",
    r"Unable to locate a specification": "evo-struct-unknown",
    r"StackOverflowError": "evo-struct-endless",
    r"field1 \w+ is present in message1, but should not be": "evo-pair-old-misplaced",
    r"field2 \w+ is present in message2, but should not be": "evo-pair-new-misplaced",
    r"field2 \w+ should be present in message1": "evo-pair-missing-old",
}


def rule_of(refusal: str) -> str:
    (rule,) = {rule for pattern, rule in _RULE_OF_TEXT.items() if re.match(pattern, refusal)}
    return rule


@dataclass(frozen=True)
class Trial:
    """A pair with the verdict of Kafka's checker and our findings."""

    older: str
    newer: str
    verdict: Verdict
    findings: tuple[EvolutionFinding, ...]

    def of_stage(self, stage: frozenset[str]) -> list[EvolutionFinding]:
        return [found for found in self.findings if found.rule in stage]

    def __str__(self) -> str:
        return f"older: {self.older}\nnewer: {self.newer}\nKafka: {self.verdict}\nkafkawire: {self.findings}"


class Questions:
    """Pairs of definitions in groups; each text is sent once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._pairs: dict[str, dict[tuple[int, int], None]] = {}

    def add(self, group: str, older: str, newer: str) -> None:
        numbers = [self._numbers.setdefault(text, len(self._numbers)) for text in (older, newer)]
        self._pairs.setdefault(group, {})[numbers[0], numbers[1]] = None

    def ask(self) -> Answers:
        texts = list(self._numbers)
        pairs = [pair for group in self._pairs.values() for pair in group]
        readings, verdicts = ask_checker(newest_with("generator"), texts, pairs)
        unreadable = {text: reading.unreadable for text, reading in zip(texts, readings, strict=True)}
        said = iter(verdicts)
        groups = {
            name: [
                trial(texts[older], texts[newer], verdict)
                for (older, newer), verdict in zip(group, said, strict=False)
                if not (unreadable[texts[older]] or unreadable[texts[newer]])
            ]
            for name, group in self._pairs.items()
        }
        return Answers(groups, [text for text, why in unreadable.items() if why])


@dataclass(frozen=True)
class Answers:
    """Pairs of definitions that Kafka's parser accepts, by group, and the texts that it rejects."""

    groups: dict[str, list[Trial]]
    unreadable: list[str]

    @property
    def trials(self) -> Iterator[Trial]:
        return chain.from_iterable(self.groups.values())


def trial(older: str, newer: str, verdict: Verdict) -> Trial:
    return Trial(older, newer, verdict, upstream_findings(read(older, "older"), read(newer, "newer")))


@cache
def read(text: str, file: str) -> MessageDefinition:
    message, findings = parse_message(text, file)
    assert message is not None, (text, findings)
    return message


@cache
def definitions_of(release: str) -> dict[str, str]:
    """The texts of a release's definitions by message name, from its jars.

    The checker of 4.x cannot read the listener ``zkBroker``, which has nothing to do with what it compares.
    """
    by_name = {jar.name: jar for jar in class_path(release)}
    texts: dict[str, str] = {}
    for artifact in tomllib.loads((REPOSITORY / "specs" / "sources.toml").read_text("utf-8"))["artifacts"]:
        jar = by_name.get(f"{artifact['name']}-{release}.jar")
        for text in [] if jar is None else json_files(jar, artifact["folder"]):
            texts[read(text, "older").name] = text.replace("zkBroker", "broker")
    return texts


def json_files(jar: Path, folder: str) -> Iterator[str]:
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            path = PurePosixPath(name)
            if path.suffix == ".json" and str(path.parent) == folder:
                yield archive.read(name).decode("utf-8")


def without_comments(text: str) -> Json:
    """A real definition as JSON; only whole lines are comments in the files that are changed here."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("//"))
    made = json.loads("\n".join(lines))
    assert isinstance(made, dict)
    return made


@pytest.fixture(scope="module")
def answers() -> Answers:
    """The answers of Kafka's checker, from one process."""
    questions = Questions()
    for example in EXAMPLES:
        questions.add(f"broken {example.what}", json.dumps(example.older), json.dumps(example.broken))
        older = example.accepted_after or example.older
        questions.add(f"accepted {example.what}", json.dumps(older), json.dumps(example.accepted))
    _add_releases(questions)
    _add_changes(questions)
    return questions.ask()


def _add_releases(questions: Questions) -> None:
    for older, newer in sorted(successors()):
        questions.add("releases", older, newer)
        questions.add("releases backwards", newer, older)
    for release in releases_with(BROKER):
        for text in definitions_of(release).values():
            questions.add("themselves", text, text)


def successors() -> set[tuple[str, str]]:
    """The texts of a message in a release and in the next one."""
    return {
        (older[name], newer[name])
        for older, newer in pairwise(map(definitions_of, releases_with(BROKER)))
        for name in older.keys() & newer.keys()
    }


def _add_changes(questions: Questions) -> None:
    dice = random.Random("evolution")
    synthetic = [(random_definition(dice), _CHANGES_OF_SYNTHETIC) for _ in range(_SYNTHETIC)]
    real = [
        (without_comments(text), _CHANGES_OF_REAL)
        for text in definitions_of(newest_with("generator")).values()
        if "/*" not in text
    ]
    for definition, times in (*synthetic, *real):
        for _ in range(times):
            text, other = json.dumps(definition), json.dumps(changed(dice, definition))
            questions.add("changes", text, other)
            questions.add("changes", other, text)


def test_examples_are_true_of_kafka(answers: Answers) -> None:
    for example in EXAMPLES:
        (broken,) = answers.groups[f"broken {example.what}"]
        assert broken.verdict.refusal, broken
        assert rule_of(broken.verdict.refusal) == (example.first or example.rule), broken
        (accepted,) = answers.groups[f"accepted {example.what}"]
        assert accepted.verdict.refusal is None, accepted


def test_kafka_refuses_if_and_only_if_there_is_a_finding(answers: Answers) -> None:
    for trial in answers.trials:
        assert (trial.verdict.refusal is not None) == bool(trial.findings), trial


def test_rule_of_kafkas_error_is_that_of_the_first_finding(answers: Answers) -> None:
    for trial in answers.trials:
        if trial.verdict.refusal:
            assert rule_of(trial.verdict.refusal) == trial.findings[0].rule, trial


def test_each_stage_agrees_by_itself(answers: Answers) -> None:
    for trial in answers.trials:
        verdict = trial.verdict
        assert_agreement(trial, verdict.messages, trial.of_stage(MESSAGES))
        assert_agreement(trial, verdict.own_older or verdict.own_newer, trial.of_stage(OWN_VERSIONS))
        assert_agreement(trial, verdict.structs, trial.of_stage(STRUCTS))
        if not verdict.messages and not verdict.structs:
            # What follows from an earlier stage is left out, so the last one is comparable only without.
            assert_agreement(trial, verdict.fields, trial.of_stage(FIELDS))


def assert_agreement(trial: Trial, refusal: str | None, findings: Sequence[EvolutionFinding]) -> None:
    if refusal is None:
        assert not findings, trial
    else:
        assert rule_of(refusal) in {found.rule for found in findings}, trial


def test_pairs_are_many_and_of_all_kinds(answers: Answers) -> None:
    assert len(answers.groups["releases"]) == len(answers.groups["releases backwards"]) == len(successors())
    assert len(answers.groups["themselves"]) == len(
        {text for release in releases_with(BROKER) for text in definitions_of(release).values()}
    )
    assert len(answers.groups["changes"]) > 3_000
    refused = Counter(rule_of(trial.verdict.refusal) for trial in answers.trials if trial.verdict.refusal)
    found_by_stage = {rule_of(trial.verdict.fields) for trial in answers.trials if trial.verdict.fields}
    assert refused.keys() | found_by_stage == UPSTREAM_RULES.keys()
    assert sum(trial.verdict.refusal is None for trial in answers.groups["changes"]) > 500


def test_what_kafkas_parser_refuses_has_an_error(answers: Answers) -> None:
    assert answers.unreadable
    for text in answers.unreadable:
        message, findings = parse_message(text, "Sample.json")
        found = [*findings, *([] if message is None else check_message(message))]
        assert any(finding.severity == "error" for finding in found), text


def test_real_definitions_that_kafkas_checker_rejects_as_their_own_successors(answers: Answers) -> None:
    refused = {
        read(trial.newer, "newer"): trial.findings[0].rule
        for trial in answers.groups["themselves"]
        if trial.verdict.refusal
    }
    fields = {message.name: rule for message, rule in refused.items() if message.fields}
    assert set(fields.values()) == {
        "evo-field-never-valid",
        "evo-nullable-never-valid",
        "evo-override-never-valid",
        "evo-struct-unknown",
    }
    assert (
        fields.items()
        >= {
            "ConsumerGroupDescribeResponse": "evo-struct-unknown",
            "RequestHeader": "evo-override-never-valid",
            "ShareFetchRequest": "evo-field-never-valid",
            "ShareFetchResponse": "evo-nullable-never-valid",
            "StreamsGroupDescribeResponse": "evo-struct-unknown",
            "StreamsGroupHeartbeatRequest": "evo-struct-unknown",
            "StreamsGroupHeartbeatResponse": "evo-struct-unknown",
            "StreamsGroupMemberMetadataValue": "evo-struct-unknown",
        }.items()
    )
    assert {rule for message, rule in refused.items() if not message.fields} == {"evo-struct-unknown"}
