"""The examples in docstrings of the data source run on Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.made.docstring_examples import Example, errors_of, examples

WITH_A_LAKE = "spark.merging.merge_changes"
"""`test_lakes` runs it."""

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"


@pytest.mark.extended
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    "example",
    [each for each in examples() if each.owner.startswith("spark.") and each.owner != WITH_A_LAKE],
    ids=str,
)
async def test_an_example_runs(example: Example) -> None:
    stand_ins = {"/var/lib/kafka/data": str(LOGS)}
    assert await errors_of(example, stand_ins) == []
