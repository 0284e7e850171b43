"""The page about lakes has the statement and the keys with which rows are merged."""

from __future__ import annotations

import re

import pytest
from tests.pages.page import blocks
from tests.pages.proofs import ROOT

pytest.importorskip("pyspark")

from kafkawire.logs import table_named
from kafkawire.logs.history_tables import HISTORIES
from kafkawire.spark.merging import same_interval

PAGE = (ROOT / "docs" / "how-to" / "keep-a-history-in-a-lake.md").read_text()
KEYS = re.findall(r"^\| `(\w+_(?:history|commits))` \| (.*) \|$", PAGE, flags=re.MULTILINE)


def test_the_page_has_the_statement() -> None:
    (statement,) = [block.text for block in blocks(PAGE) if block.language == "sql"]
    shown = " ".join(statement.split()).partition(" ON ")[2].partition(" WHEN ")[0]
    assert shown == same_interval("acl_history", table_named("acl_history").schema.names).replace("`", "")


@pytest.mark.parametrize(("history", "keys"), KEYS)
def test_the_page_names_the_key_of_a_history(history: str, keys: str) -> None:
    names = re.findall(r"`(\w+)`", keys)
    own = HISTORIES[history].ids or HISTORIES[history].keys
    place = ("log_offset",) if "log_offset" in table_named(history).schema.names else ()
    assert names == [*own, *place]
