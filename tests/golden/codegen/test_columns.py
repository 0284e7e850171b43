"""Columns of a user's own messages: they hold what the classes hold, for definitions of every odd shape."""

from __future__ import annotations

from tests.golden.codegen.conftest import GoldenPackage
from tests.kafka_logs.column_rows import check_columns
from tests.made.packages import classes_of

from kafkawire.columns import MessageColumns


def test_columns_of_every_kind_of_field(golden: GoldenPackage) -> None:
    classes = list(classes_of(golden.module))
    assert len(classes) >= 7
    assert sum(check_columns(MessageColumns(each)) for each in classes) > 50
