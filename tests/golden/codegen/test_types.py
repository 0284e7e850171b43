"""Types as tested behaviour: generated packages under ``mypy --strict``, and what expressions with them are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.golden.codegen.conftest import GoldenPackage, Mypy

REVEALED = {
    "EveryType.decode(b'', 2)": "synthetic.protocol.every_type.EveryType",
    "EveryType.decode_from(b'', 0, 2)": "tuple[synthetic.protocol.every_type.EveryType, int]",
    "EveryType.VERSIONS": "range",
    "EveryType().encode(2)": "bytes",
    "EveryType().reason": "str | None",
    "EveryType().producer_id": "int",
    "EveryType().batch": "bytes | memoryview[int] | None",
    "EveryType().id": "kafkawire.layout.uuid.Uuid",
    "EveryArray().sizes": "typing.Sequence[int] | None",
    "EveryArray().numbers": "typing.Sequence[synthetic.protocol.every_array.EveryArray.Number]",
    "EveryArray().broker_ids[0]": "int",
    "EveryTag().leader": "synthetic.protocol.every_tag.EveryTag.Node",
    "EveryTag().unknown_tagged_fields": "tuple[tuple[int, bytes], ...]",
    "EveryTag.layouts()": "kafkawire.layout.messages.MessageLayouts",
    "from_json(EveryTag, {}, 2)": "synthetic.protocol.every_tag.EveryTag",
    "to_json(EveryTag(), 2)": "dict[str, object]",
    "message_class('EveryTag')": "type[kafkawire.wire.message.Message]",
    "strategies.every_tag(1)": "hypothesis.strategies._internal.strategies.SearchStrategy[Any]",
    "api_table.APIS[18].stable_versions": "range",
    "error_codes.ErrorCode(5).retriable": "bool",
    "errors.error_of(5, None)": "kafkawire.wire.kafka_errors.ApiError",
    "errors.NotLeaderError('').retriable": "bool",
}

REFUSED = {
    "EveryType(name=1)": "arg-type",
    "EveryType(nam='x')": "call-arg",
    "EveryType(name=None)": "arg-type",
    "EveryArray(names=(1,))": "arg-type",
    "EveryArray(numbers=(EveryArray.Pair(),))": "arg-type",
    "EveryType().encode('2')": "arg-type",
    "EveryType.decode('', 2)": "arg-type",
    "EveryType().nothing": "attr-defined",
    "from_json(int, {}, 2)": "type-var",
}

HEAD = """\
from synthetic.protocol import EveryArray, EveryTag, EveryType, from_json, message_class, to_json
from synthetic.protocol import api_table, error_codes, errors, strategies
"""


def test_generated_packages_and_their_tests_are_strictly_typed(golden: GoldenPackage, mypy: Mypy) -> None:
    assert mypy(golden.root, "-p", "synthetic.protocol") == []
    assert mypy(golden.root, *(str(path) for path in golden.tests.glob("*.py"))) == []


@pytest.fixture(scope="module")
def said(golden: GoldenPackage, mypy: Mypy) -> dict[str, str]:
    """What mypy says of each expression."""
    expressions = [*REVEALED, *REFUSED]
    lines = [f"reveal_type({text})" for text in REVEALED] + list(REFUSED)
    program = golden.root / "expressions.py"
    program.write_text(HEAD + "\n".join(lines) + "\n")
    try:
        lines = mypy(golden.root, program.name)
    finally:
        program.unlink()  # the folder is that of other tests too
    types: dict[str, str] = {}
    for line in lines:
        found = re.match(r"expressions\.py:(\d+): (.*)", line)
        if found:
            types.setdefault(expressions[int(found[1]) - 1 - HEAD.count("\n")], found[2])
    return types


@pytest.mark.parametrize("expression", REVEALED)
def test_the_type_of_an_expression(said: dict[str, str], expression: str) -> None:
    assert said[expression] == f'note: Revealed type is "{REVEALED[expression]}"'


@pytest.mark.parametrize("expression", [text for text, code in REFUSED.items() if code])
def test_a_wrong_expression_is_refused(said: dict[str, str], expression: str) -> None:
    assert said[expression].endswith(f"[{REFUSED[expression]}]")


def test_a_message_cannot_be_changed(golden: GoldenPackage, mypy: Mypy) -> None:
    program = Path(golden.root, "changes.py")
    program.write_text(HEAD + "EveryType().name = ''\n")
    try:
        lines = mypy(golden.root, program.name)
    finally:
        program.unlink()  # the folder is that of other tests too
    assert any("read-only" in line for line in lines)
