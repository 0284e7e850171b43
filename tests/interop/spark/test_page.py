"""The code blocks of the page on Spark run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.repo.test_documentation import ROOT, run_blocks

PAGE = ROOT / "docs" / "how-to" / "spark.md"


@pytest.mark.usefixtures("spark")
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_blocks(PAGE, tmp_path, monkeypatch)
