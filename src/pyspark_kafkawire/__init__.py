"""PySpark finds the data source ``kafka-log`` here: it imports each package whose name begins with ``pyspark_``.

PySpark does so in every session that uses a data source in Python, and a failing import would hide the sources of all
other packages. So this module imports only PySpark; kafkawire is imported when ``kafka-log`` is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from collections.abc import MutableMapping

__all__ = ["DefaultSource"]


class DefaultSource(DataSource):
    """The data source ``kafka-log``, see ``kafkawire.spark``.

    Raises:
        ImportError: PySpark is too old, or a library is missing; the message says which.
    """

    def __new__(cls, options: MutableMapping[str, str]) -> DataSource:  # type: ignore[misc] # another source
        """The source itself, in place of this class."""
        from kafkawire.spark import KafkaLogSource  # noqa: PLC0415 not before it is used

        return KafkaLogSource(options)

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "kafka-log"
