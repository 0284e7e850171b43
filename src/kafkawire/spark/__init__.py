"""Apache Spark reads Kafka's own logs, with the data source ``kafka-log``.

Where kafkawire is installed, PySpark finds the data source by itself, in the package ``pyspark_kafkawire``.
"""

from __future__ import annotations

import pyspark
from pyspark.sql import SparkSession

_LEAST = (4, 2)
"""The first release whose Python data sources let a stream limit how much a micro-batch reads."""

if tuple(map(int, pyspark.__version__.split(".")[:2])) < _LEAST:
    least = ".".join(map(str, _LEAST))
    raise ImportError(f"kafkawire.spark needs PySpark {least} or newer, and {pyspark.__version__} is installed")

# With an older release these imports fail, with an error that does not mention the release.
from kafkawire.spark.options import OptionError  # noqa: E402
from kafkawire.spark.source import KafkaLogSource  # noqa: E402

__all__ = ["KafkaLogSource", "OptionError", "register"]


def register(spark: SparkSession) -> None:
    """Register the format ``kafka-log`` with a session, if kafkawire came as a zip and is not installed.

    Where it is installed, this replaces the source that PySpark has found with the same one.

    Example:
        ```python
        from pyspark.sql import SparkSession

        from kafkawire.spark import register

        spark = SparkSession.builder.getOrCreate()
        register(spark)
        spark.read.format("kafka-log").option("table", "topic").load("/var/lib/kafka/data").show()
        ```
    """
    spark.dataSource.register(KafkaLogSource)
