"""The form of the state that each table leaves. Another form needs a higher ``FORM``."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from kafkawire.logs import read_changes
from kafkawire.logs.catalogue import table_named, table_names
from kafkawire.logs.folding.continued import ContinuedTable
from kafkawire.logs.folding.saved_state import FORM, SavedTable

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"
STATES = Path(__file__).parent / "states"


@pytest.mark.parametrize("name", [each for each in table_names() if isinstance(table_named(each), ContinuedTable)])
def test_the_state_has_the_form_of_its_number(name: str, tmp_path: Path, *, update_golden: bool) -> None:
    changes = read_changes(name, LOGS, tmp_path / "state")
    for _ in changes:
        pass
    changes.commit()
    saved = SavedTable.decode((tmp_path / "state").read_bytes())
    assert saved is not None
    folds = [_form(msgspec.msgpack.decode(log.fold)) for _, log in sorted(saved.logs.items())]
    text = "".join(f"{json.dumps(each)}\n" for each in _distinct(folds))
    expected = STATES / f"{name}-{FORM}.txt"
    if update_golden:
        STATES.mkdir(exist_ok=True)
        expected.write_text(text, "utf-8")
    assert expected.read_text("utf-8") == text, "raise FORM, and run pytest tests/golden --update-golden"


def _form(value: object) -> object:
    """Names of types in place of values; of equal neighbours the first."""
    match value:
        case list():
            return _distinct([_form(each) for each in value])
        case dict():
            return {"(key)": _distinct([_form(each) for each in value.values()])}
        case bytes() if value.startswith(b"\xff\xff\xff\xff"):
            return str(pa.ipc.open_stream(value).schema)
        case bytes():
            try:
                return {"(octets)": _form(msgspec.msgpack.decode(value))}
            except msgspec.DecodeError:
                return "bytes"
        case _:
            return type(value).__name__


def _distinct(forms: list[object]) -> list[object]:
    return [each for number, each in enumerate(forms) if not number or each != forms[number - 1]]
