"""Apache Spark reads Kafka's own logs: ``register`` adds the data source ``kafka-log`` to a session."""

from __future__ import annotations

import pyspark
from pyspark.sql import SparkSession

_LEAST = (4, 2)
"""The first release whose Python data sources let a stream tell how much it reads at a time."""

if tuple(map(int, pyspark.__version__.split(".")[:2])) < _LEAST:
    least = ".".join(map(str, _LEAST))
    raise ImportError(f"kafkawire.spark needs PySpark {least} or newer, and {pyspark.__version__} is installed")

# An older release lacks what these import, and would be told by a name that means nothing to its user.
from kafkawire.spark.options import OptionError  # noqa: E402
from kafkawire.spark.source import KafkaLogSource  # noqa: E402

__all__ = ["KafkaLogSource", "OptionError", "register"]


def register(spark: SparkSession) -> None:
    """Make the format ``kafka-log`` known to a session."""
    spark.dataSource.register(KafkaLogSource)
