"""Arrow's types without their parameters, which only matter where values are looked at."""

from __future__ import annotations

from typing import TypeAlias

import pyarrow as pa

__all__ = ["ArrowField"]

ArrowField: TypeAlias = "pa.Field[pa.DataType]"
"""A column of any type."""
