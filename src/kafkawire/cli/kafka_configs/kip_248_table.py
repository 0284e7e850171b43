"""The table of configs that KIP-248 shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_HEADINGS: Final = ("Name", "Value", "Sensitive", "Read-only", "Default")


class DescribedConfig(NamedTuple):
    """A row.

    Attributes:
        name: of the config.
        value: empty if there is none, or it is a secret.
        is_sensitive: whether it is a secret.
        is_read_only: whether it cannot be altered.
        is_default: whether nothing is set.
    """

    name: str
    value: str
    is_sensitive: bool
    is_read_only: bool
    is_default: bool


def table(heading: str, configs: Sequence[DescribedConfig]) -> Iterator[str]:
    """The lines of a table: its heading, the names of the columns, a line for each config.

    Args:
        heading: whose configs they are.
        configs: the rows.
    """
    yield f"CONFIGS FOR {heading}"
    rows = [_HEADINGS, *map(_cells, configs)]
    name, value, sensitive, read_only, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    for at, row in enumerate(rows):
        sign = " = " if at else "   "
        yield (f"{row[0]:<{name}}{sign}{row[1]:<{value}}  {row[2]:<{sensitive}}  {row[3]:<{read_only}}  {row[4]}")


def _cells(config: DescribedConfig) -> tuple[str, str, str, str, str]:
    sensitive, read_only, default = ("true" if each else "false" for each in config[2:])
    return config.name, config.value, sensitive, read_only, default
