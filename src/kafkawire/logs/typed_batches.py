"""Arrow's record batches as type checkers see them.

pyarrow has no types of its own. With the package pyarrow-stubs a batch is a ``pyarrow.RecordBatch`` and has all of its
members. Without that package everything of pyarrow is unknown to type checkers, which pyright reports in strict mode
wherever it is used; the members below are known then, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

if TYPE_CHECKING:

    class RecordBatch(pa.RecordBatch):
        """A ``pyarrow.RecordBatch``: rows of a table, column by column."""

        @property
        def num_rows(self) -> int:
            """The number of rows."""

        @property
        def num_columns(self) -> int:
            """The number of columns."""

        @property
        def column_names(self) -> list[str]:
            """The names of the columns."""

        @property
        def nbytes(self) -> int:
            """The size of the values in bytes."""

        def to_pylist(self, *, maps_as_pydicts: Literal["lossy", "strict"] | None = None) -> list[dict[str, Any]]:
            """The rows, each as column to value."""

        def to_pydict(self, *, maps_as_pydicts: Literal["lossy", "strict"] | None = None) -> dict[str, list[Any]]:
            """The columns, each as name to values."""

else:
    RecordBatch = pa.RecordBatch
