"""Schemas of Spark for Arrow batches, and batches with exactly the schema that Spark expects."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

__all__ = ["as_spark_expects", "expected_by_spark", "spark_schema"]


def spark_schema(schema: pa.Schema) -> StructType:
    """The schema that a data source declares for batches of an Arrow schema."""
    return from_arrow_schema(schema)


def expected_by_spark(schema: StructType) -> pa.Schema:
    """The Arrow schema that Spark expects for a declared schema."""
    return to_arrow_schema(schema, timezone="UTC")


def as_spark_expects(batch: pa.RecordBatch, expected: pa.Schema) -> pa.RecordBatch:
    """The batch with exactly the expected schema: Spark has its own names for the elements of lists."""
    return batch if batch.schema.equals(expected, check_metadata=True) else batch.cast(expected)
