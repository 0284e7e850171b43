"""Each field type, in every place where it may be, with examples of its bytes in ``types/NAME.json``."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.made.field_types import check_field_type

from kafkawire.layout import FIELD_TYPES

EXAMPLES = Path(__file__).parent / "types"


def test_every_type_has_examples_and_each_file_has_a_type() -> None:
    assert {path.stem for path in EXAMPLES.iterdir()} == set(FIELD_TYPES)


@pytest.mark.parametrize("name", FIELD_TYPES)
def test_the_type_has_the_bytes_of_its_examples_in_every_place(name: str, tmp_path: Path) -> None:
    golden = (EXAMPLES / f"{name}.json").read_text("utf-8")
    assert check_field_type(FIELD_TYPES[name], golden, tmp_path, f"places_of_{name}") > 1
