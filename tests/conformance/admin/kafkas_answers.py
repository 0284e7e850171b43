"""Questions to Apache Kafka's own classes for ACLs and quotas, see ``AdminSemantics.java``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import newest_broker_release

from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter

_SOURCES: Final = Path(__file__).parent


def ask(folder: Path, questions: Iterable[Mapping[str, object]]) -> list[object]:
    """What Kafka answers, in the order of the questions; ``folder`` is for the question file."""
    file = folder / "questions.jsonl"
    file.write_bytes(msgspec.json.Encoder().encode_lines(list(questions)))
    release = newest_broker_release()
    answers = run_tool(release, "AdminSemantics", str(file), plugins=[compiled(release, _SOURCES)]).splitlines()
    return [msgspec.json.decode(answer) for answer in answers]


def row(of: AclBinding | AclBindingFilter) -> list[object]:
    codes = map(int, (of.resource_type, of.pattern_type, of.operation, of.permission_type))
    resource_type, pattern_type, operation, permission_type = codes
    return [resource_type, of.resource_name, pattern_type, of.principal, of.host, operation, permission_type]
