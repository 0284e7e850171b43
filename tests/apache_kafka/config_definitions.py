"""Which configurations a release has, by its own classes; ``python -m tests.apache_kafka.config_definitions`` writes
them where the broker of this project reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import REPOSITORY

from kafkawire.broker.served_apis import RELEASE
from kafkawire.model.configs import checks
from kafkawire.model.configs.definitions import ConfigDefinition, Definitions

DATA = REPOSITORY / "src" / "kafkawire" / "model" / "configs" / "definitions.json"
SOURCES = Path(__file__).parents[1] / "conformance" / "broker" / "configurations"

_COMPRESSION_LEVEL_OF_GZIP = "[1,...,9] or -1"
_NEEDS_NODES = {"ControllerQuorumBootstrapServersValidator", "ControllerQuorumVotersValidator"}
"""For clusters of many nodes, which the embedded broker is not."""

Validator = Mapping[str, Any]


class _KafkasDefinition(msgspec.Struct, frozen=True):
    type: str
    importance: str
    required: bool
    internal: bool
    default: str | None = None
    validator: dict[str, Any] | None = None


class _KafkasDefinitions(msgspec.Struct, frozen=True):
    broker: dict[str, _KafkasDefinition]
    broker_dynamic_only: dict[str, _KafkasDefinition]
    topic: dict[str, _KafkasDefinition]
    group: dict[str, _KafkasDefinition]
    client_metrics: dict[str, _KafkasDefinition]
    update_modes: dict[str, str]
    of_listeners_only: tuple[str, ...]
    topic_synonyms: dict[str, dict[str, int]]
    group_synonyms: dict[str, str | None]
    broker_synonyms: dict[str, tuple[str, ...]]


def definitions_of(release: str) -> Definitions:
    """What Kafka's classes define, in the form of this project."""
    printed = run_tool(release, "configurations.ConfigDefinitions", plugins=[compiled(release, SOURCES)])
    kafkas = msgspec.json.decode(printed.splitlines()[-1], type=_KafkasDefinitions)
    return msgspec.convert(
        {
            "broker": _all(kafkas.broker),
            "broker_dynamic_only": _all(
                {name: one for name, one in kafkas.broker_dynamic_only.items() if name not in kafkas.broker}
            ),
            "topic": _all(kafkas.topic),
            "group": _all(kafkas.group),
            "client_metrics": _all(kafkas.client_metrics),
            "update_modes": kafkas.update_modes,
            "of_listeners_only": kafkas.of_listeners_only,
            "topic_synonyms": kafkas.topic_synonyms,
            "group_synonyms": kafkas.group_synonyms,
            "broker_synonyms": kafkas.broker_synonyms,
        },
        Definitions,
    )


def as_data(definitions: Definitions) -> bytes:
    """The content of the data file: JSON with a line for each name."""
    sections = (f"{_json(name)}: {_section(content)}" for name, content in msgspec.to_builtins(definitions).items())
    return ("{\n" + ",\n".join(sections) + "\n}\n").encode()


def _section(content: Mapping[str, object] | Sequence[str]) -> str:
    if not isinstance(content, Mapping):
        return _json(sorted(content))
    return "{\n" + ",\n".join(f"{_json(name)}: {_json(one)}" for name, one in sorted(content.items())) + "\n}"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _all(kafkas: Mapping[str, _KafkasDefinition]) -> dict[str, ConfigDefinition]:
    return {name: _definition(one) for name, one in kafkas.items()}


def _definition(kafkas: _KafkasDefinition) -> ConfigDefinition:
    return msgspec.convert(
        {
            "type": kafkas.type,
            "importance": kafkas.importance,
            "default": kafkas.default,
            "is_required": kafkas.required,
            "is_internal": kafkas.internal,
            "check": None if kafkas.validator is None else msgspec.to_builtins(_check(kafkas.validator)),
        },
        ConfigDefinition,
    )


def _check(validator: Validator) -> checks.Check | None:
    match validator["kind"]:
        case "Range":
            return checks.Range(validator["min"], validator["max"])
        case "ValidString":
            return checks.OneOf(tuple(validator["validStrings"]))
        case "CaseInsensitiveValidString":
            return checks.OneOf(tuple(validator["validStrings"]), ignoring_case=True)
        case "ValidList":
            words = tuple(validator["validString"]["validStrings"])
            return checks.Entries(words, validator["isEmptyAllowed"], validator["isNullAllowed"])
        case "NonNullValidator":
            return checks.NotNull()
        case "NonEmptyString":
            return checks.NotEmpty()
        case "ThrottledReplicaListValidator":
            return checks.ThrottledReplicas()
        case "LambdaValidator" if validator["text"] == _COMPRESSION_LEVEL_OF_GZIP:
            return checks.RangeOr(1, 9, -1)
        case "Validator" if "by_duration" in validator["text"]:
            return checks.OffsetReset()
        case kind if kind in _NEEDS_NODES:
            return None
    raise AssertionError(f"an unsupported validator: {validator}")


if __name__ == "__main__":
    DATA.write_bytes(as_data(definitions_of(RELEASE)))
