"""What pages show of Spark runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.apache_spark.installed import since
from tests.interop.spark.same_rows import LOGS
from tests.pages.commands import with_stand_ins
from tests.pages.proofs import IS_OF_SPARK, LEDGER, ROOT, RUN_ELSEWHERE, RUNS_WITH_SPARK, Proven
from tests.repo.test_documentation import run_in

from kafkawire.spark.releases import STREAMS

pytestmark = pytest.mark.extended

FIRST = "docs/how-to/spark.md"
PAGES = [page for page in RUN_ELSEWHERE if RUNS_WITH_SPARK in RUN_ELSEWHERE[page]]


@since(STREAMS)
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[] if page == FIRST else pytest.mark.nightly) for page in PAGES]
)
def test_the_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in(ROOT / page, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "proven", [each for each in LEDGER if each.test == IS_OF_SPARK], ids=lambda each: f"{each.page}:{each.block.line}"
)
def test_an_expression_with_a_session_runs(proven: Proven, spark: SparkSession) -> None:
    program = with_stand_ins(proven.block.text).replace('"data"', repr(str(LOGS)))
    namespace: dict[str, object] = {"spark": spark}
    exec(compile(program, proven.page, "exec", dont_inherit=True), namespace)  # noqa: S102 the page is ours
    frames = [value for value in namespace.values() if isinstance(value, DataFrame)]
    assert frames
    assert all(frame.count() for frame in frames)
