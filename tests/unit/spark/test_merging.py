"""The page about lakes has the statement with which rows are merged."""

from __future__ import annotations

import pytest
from tests.pages.page import blocks
from tests.pages.proofs import ROOT

pytest.importorskip("pyspark")

from kafkawire.spark.merging import merge_statement

PAGE = (ROOT / "docs" / "how-to" / "keep-a-history-in-a-lake.md").read_text("utf-8")


def test_the_page_has_the_statement() -> None:
    (shown,) = [block.text for block in blocks(PAGE) if block.language == "sql"]
    assert " ".join(shown.split()) == merge_statement("lake.audit.acls", "changes")
