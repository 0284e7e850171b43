"""Apache Spark reads Kafka's own logs: ``register`` adds the data source ``kafka-log`` to a session."""

from __future__ import annotations

from pyspark.sql import SparkSession

from kafkawire.spark.options import OptionError
from kafkawire.spark.source import KafkaLogSource

__all__ = ["KafkaLogSource", "OptionError", "register"]


def register(spark: SparkSession) -> None:
    """Make the format ``kafka-log`` known to a session."""
    spark.dataSource.register(KafkaLogSource)
