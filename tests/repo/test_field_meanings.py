"""Every field of Kafka's messages has a sentence that says what it means."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.codegen.check.sentences import struct_fields
from kafkawire.codegen.merge.meanings import fields_without_meaning
from kafkawire.codegen.specs_tree import LoadedSpecs, load_specs

LEAST_SHARE = 0.95
SHOWN = 40


@pytest.fixture(scope="module")
def specs(root: Path) -> LoadedSpecs:
    return load_specs(root / "specs")


def test_nearly_all_fields_have_a_meaning(specs: LoadedSpecs) -> None:
    total = sum(len(fields) for message in specs.messages for fields in struct_fields(message).values())
    missing = list(fields_without_meaning(specs.messages))

    shown = "\n  ".join([*missing[:SHOWN], *(["..."] if len(missing) > SHOWN else [])])
    assert len(missing) <= total * (1 - LEAST_SHARE), (
        f"{len(missing)} of {total} fields have no meaning; add sentences to specs/field-meanings.toml:\n  {shown}"
    )


def test_the_sentences_follow_their_rules(specs: LoadedSpecs) -> None:
    assert [finding for finding in specs.findings if finding.rule.startswith("meaning-")] == []
