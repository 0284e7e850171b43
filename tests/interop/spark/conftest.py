"""What older releases of PySpark need."""

from __future__ import annotations

import pytest

from kafkawire.spark.releases import STREAMS, lacking


def pytest_itemcollected(item: pytest.Item) -> None:
    """They leave sockets open, of which Python warns."""
    if lacking(STREAMS):
        item.add_marker(pytest.mark.filterwarnings("ignore:.*unclosed <socket:ResourceWarning"))
        item.add_marker(pytest.mark.filterwarnings("ignore:.*:pytest.PytestUnraisableExceptionWarning"))
