"""The installed release of PySpark: `make test-spark` runs the tests with each that kafkawire supports."""

from __future__ import annotations

from typing import Final

import pyspark
import pytest

from kafkawire.spark.releases import lacking

SPARK: Final = ".".join(pyspark.__version__.split(".")[:2])
"""Such as ``4.1``."""


def since(release: tuple[int, int]) -> pytest.MarkDecorator:
    """Skip a test where the installed PySpark is older."""
    reason = lacking(release)
    return pytest.mark.skipif(reason is not None, reason=reason or "")
