"""What a stream gets from a PySpark that lacks what streams need."""

from __future__ import annotations

from typing import NoReturn

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition


class UnsupportedStreamReader(DataSourceStreamReader):
    """Refuses when Spark asks for a position: an older PySpark covers errors of ``streamReader`` with one of its own.

    Args:
        reason: what is needed.
    """

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def initialOffset(self) -> NoReturn:  # noqa: N802 Spark's name
        """Refuse a new query.

        Raises:
            ImportError: always.
        """
        raise ImportError(self._reason)

    def latestOffset(self, *_: object, **__: object) -> NoReturn:  # noqa: N802 Spark's name
        """Refuse a query that is restarted.

        Raises:
            ImportError: always.
        """
        raise ImportError(self._reason)

    def read(self, partition: InputPartition) -> NoReturn:
        """Never called: a stream without positions has no partitions.

        Raises:
            ImportError: always.
        """
        raise ImportError(self._reason)
