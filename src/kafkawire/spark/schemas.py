"""Tables as Spark sees them: the schema of Arrow batches, and batches that are exactly what Spark expects."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

__all__ = ["as_spark_expects", "expected_by_spark", "spark_schema"]


def spark_schema(schema: pa.Schema) -> StructType:
    """The schema that a data source states for batches of a schema."""
    return from_arrow_schema(schema)


def expected_by_spark(schema: StructType) -> pa.Schema:
    """The schema that Spark wants the batches of a stated schema to have."""
    return to_arrow_schema(schema, timezone="UTC")


def as_spark_expects(batch: pa.RecordBatch, expected: pa.Schema) -> pa.RecordBatch:
    """The batch under the expected schema, to the letter: Spark names the elements of lists in its own way."""
    return batch if batch.schema.equals(expected, check_metadata=True) else batch.cast(expected)
