"""Damaged JSON, and JSON of another version: what we accept Kafka accepts with the same meaning, and the other way.

Reading and writing are judged together: it makes no difference which of the two refuses.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Sequence

import pytest
from tests.apache_kafka.fixtures import Oracles
from tests.apache_kafka.oracle import Answer, Encode
from tests.conformance.test_json import WITHOUT_JSON
from tests.conformance.trials import by_message, trials
from tests.made.example_messages import random_instance

from kafkawire.codegen.merge.released_versions import ReleasedVersion
from kafkawire.layout.kinds import NOT_FINITE
from kafkawire.protocol import from_json, message_class, to_json
from kafkawire.wire import DecodeError, EncodeError, Message

pytestmark = pytest.mark.conformance

DAMAGED = 10
OF_ANOTHER_VERSION = 3
"""Trials of each version."""

_WRONG: tuple[object, ...] = (
    None, True, -129, -128, -1, 0, 1, 127, 128, 200, 256, 257, 32768, 65536, 2**31, 2**32, 2**63, 1.0, 1.5, 1e3,
    "", "a", "AA==", "AA=", "A A=", "-_-_", "NaN", "AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAB==",
    [], [1], ["a"], [None], [{}], {}, {"x": 1},
)  # fmt: skip
"""Values that are right in some places and wrong in most."""


@pytest.mark.parametrize("rows", by_message(without=WITHOUT_JSON))
def test_kafka_agrees_about_damaged_json(rows: Sequence[ReleasedVersion], oracles: Oracles) -> None:
    message = message_class(rows[0].merged_message)
    unexplained: list[str] = []
    for row in rows:
        if row.relation != "same":
            continue
        rng = random.Random(f"damaged JSON {message.NAME} {row.merged_version}")
        texts = _texts(rng, message, row, _versions_of(row.release, message))
        answers = oracles(row.release).ask([Encode(row.message, row.version, text) for text in texts])
        unexplained += [
            f"{row.message} {row.version} of {row.release}: {text}: {difference}; Kafka says {answer}"
            for text, answer in zip(texts, answers, strict=True)
            if (difference := _unexplained_difference(message, row.merged_version, text, answer))
        ]
    assert not unexplained, "\n".join(unexplained)


def _versions_of(release: str, message: type[Message]) -> list[int]:
    return [row.merged_version for row in trials()[message.NAME] if (row.release, row.relation) == (release, "same")]


def _unexplained_difference(message: type[Message], version: int, text: object, answer: Answer) -> str | None:
    try:
        written = from_json(message, text, version).encode(version).hex()
    except (DecodeError, EncodeError) as error:
        explained = answer.error or _is_an_int8_above_127(error) or _is_client_id_in_header_0(error)
        return None if explained else f"we refuse it ({error})"
    if written == answer.hex or (answer.error and _has_a_number_that_json_lacks(text)):
        return None
    return f"we make {written} of it"


def _is_an_int8_above_127(error: DecodeError | EncodeError) -> bool:
    """json-read-int: Kafka takes 128 to 256 for an int8 and subtracts 128."""
    number = re.match(r"(\d+) is outside int8\b", error.reason)
    return number is not None and 128 <= int(number[1]) <= 256


def _has_a_number_that_json_lacks(text: object) -> bool:
    """json-read-float: Kafka writes such a word for a float64, and refuses to read it."""
    return any(f'"{word}"' in json.dumps(text) for word in NOT_FINITE)


def _is_client_id_in_header_0(error: DecodeError | EncodeError) -> bool:
    """encode-ignorable: 3.9.2 drops it; the newest definition, which governs, no longer allows that."""
    return (error.message_name, error.version, error.kind) == ("RequestHeader", 0, "unsupported_field")


def _texts(
    rng: random.Random, message: type[Message], row: ReleasedVersion, versions: Sequence[int]
) -> list[dict[str, object]]:
    damaged = [_damaged(rng, _random_json(rng, message, row.merged_version)) for _ in range(DAMAGED)]
    return damaged + [_random_json(rng, message, rng.choice(versions)) for _ in range(OF_ANOTHER_VERSION)]


def _random_json(rng: random.Random, message: type[Message], version: int) -> dict[str, object]:
    layout = message.layouts().of_version(version)
    return to_json(random_instance(rng, message, layout, unknown_tags=False), version)


def _damaged(rng: random.Random, json: dict[str, object]) -> dict[str, object]:
    """One key or element replaced or taken out, or an unknown key put in."""
    made = copy.deepcopy(json)
    places = list(_places(made))
    if not places:
        return {"unknownKey": rng.choice(_WRONG)}
    container, key = rng.choice(places)
    chance = rng.random()
    if chance < 0.15:
        del container[key]  # type: ignore[arg-type]  # a key of the container, whichever it is
    elif chance < 0.2 and isinstance(container, dict):
        container["unknownKey"] = rng.choice(_WRONG)
    else:
        container[key] = rng.choice(_WRONG)  # type: ignore[index]
    return made


def _places(json: object) -> list[tuple[dict[str, object] | list[object], str | int]]:
    """All places inside a JSON value: container and key, or list and index."""
    inside: list[tuple[dict[str, object] | list[object], str | int, object]] = []
    if isinstance(json, dict):
        inside = [(json, key, value) for key, value in json.items()]
    elif isinstance(json, list):
        inside = [(json, index, value) for index, value in enumerate(json)]
    return [place for container, key, value in inside for place in ((container, key), *_places(value))]
