"""What the installed release of PySpark lets a data source in Python do: later releases let it do more."""

from __future__ import annotations

from typing import Final

import pyspark

BATCH: Final = (4, 0)
"""The first release with data sources in Python."""

PUSHDOWN: Final = (4, 1)
"""The first release that passes the filters of a query to them."""

CHOSEN_PARTITIONS: Final = (4, 1)
"""The first release in which a column of a DataFrame can be the number of the partition."""

STREAMS: Final = (4, 2)
"""The first release that lets them limit how much a micro-batch reads."""


def lacking(least: tuple[int, int]) -> str | None:
    """What to say where the installed release is older than this one; None where it is not.

    Args:
        least: major and minor number of the release that is needed.
    """
    if tuple(map(int, pyspark.__version__.split(".")[:2])) >= least:
        return None
    return f"needs PySpark {'.'.join(map(str, least))} or newer, and {pyspark.__version__} is installed"
