"""Apache Kafka's own schema checker as an oracle: does it accept one definition as the successor of another?"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from tests.apache_kafka.prerequisites import java
from tests.apache_kafka.releases import REPOSITORY, class_path

_PROJECT: Final = Path(__file__).with_name("schema_checker.pom.xml")
_PROGRAM: Final = REPOSITORY / "tests" / "conformance" / "schema_checker" / "SchemaChecker.java"
_FAST_START: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx1g")
_SECONDS: Final = 120


class Verdict(msgspec.Struct, frozen=True):
    """What the checker says about a pair: why it refuses, or None.

    Attributes:
        refusal: as a whole; the stages follow.
        messages: of key, type and versions of the messages.
        own_older, own_newer: of the versions of the fields of each side.
        structs: of the structs of both sides.
        fields: of structs and fields compared.
    """

    refusal: str | None
    messages: str | None
    own_older: str | None
    own_newer: str | None
    structs: str | None
    fields: str | None


class Reading(msgspec.Struct, frozen=True):
    """Why Kafka's parser refuses a definition, or None."""

    unreadable: str | None


def ask_checker(
    release: str, definitions: Sequence[str], pairs: Sequence[tuple[int, int]]
) -> tuple[list[Reading], list[Verdict]]:
    """What Kafka's checker says, all in one process.

    Args:
        release: of Apache Kafka, from 4.0 on.
        definitions: texts of definition files.
        pairs: an older and a newer definition each, by their index.
    """
    questions: list[dict[str, str] | dict[str, int]] = [{"definition": text} for text in definitions]
    questions += [{"older": older, "newer": newer} for older, newer in pairs]
    jars = os.pathsep.join(map(str, class_path(release, _PROJECT)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "questions.jsonl"
        file.write_bytes(msgspec.json.Encoder().encode_lines(questions))
        command = [java(), *_FAST_START, "-cp", jars, str(_PROGRAM), str(file)]
        done = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    lines = done.stdout.splitlines()
    readings, verdicts = lines[: len(definitions)], lines[len(definitions) :]
    return (
        [msgspec.json.decode(line, type=Reading) for line in readings],
        [msgspec.json.decode(line, type=Verdict) for line in verdicts],
    )
