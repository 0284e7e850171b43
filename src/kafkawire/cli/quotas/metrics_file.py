"""The file in which a running broker lists the use of its quotas, for other processes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from kafkawire.broker.quotas.metrics import QuotaMetric
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole

EVERY: Final = 1.0
"""Seconds from one writing of the file to the next: a window of Kafka's quotas."""

_log = logging.getLogger(__name__)


class QuotaMetricRow(Row, frozen=True):
    """The use of a client quota by the clients that share it.

    Attributes:
        quota: key of the quota, such as ``producer_byte_rate``; rate and limit are in its unit.
        tags: which clients: ``user`` and ``client-id``, or what a quota callback returns.
        limit: the limit; None if there is none.
        rate: the use per second.
        throttle_ms: average throttle time of the responses that had one, in milliseconds.
    """

    quota: str
    tags: dict[str, str]
    limit: float | None
    rate: float
    throttle_ms: float

    ROLES: ClassVar = {"tags": ColumnRole.KEY}


def read_metrics(path: Path) -> list[QuotaMetricRow]:
    """The rows of a file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no such file.
    """
    decoder = msgspec.json.Decoder(QuotaMetricRow)
    return [decoder.decode(line) for line in path.read_bytes().splitlines()]


def write_metrics(path: Path, metrics: Iterable[QuotaMetric]) -> None:
    """Replace a file; a reader never sees a part of it.

    Raises:
        OSError: it cannot be written.
    """
    rows = (
        QuotaMetricRow(each.quota_type.value, dict(each.tags), each.limit, each.rate, each.throttle_ms)
        for each in metrics
    )
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    part.replace(path)


async def keep_written(path: Path, metrics: Callable[[], Sequence[QuotaMetric]]) -> None:
    """Write a file every second, until the task is cancelled.

    Args:
        path: the file.
        metrics: returns what to write.
    """
    has_failed = False
    while True:
        try:
            await asyncio.to_thread(write_metrics, path, metrics())
            has_failed = False
        except Exception:  # noqa: BLE001 - of the disk, or of a user's quota callback
            if not has_failed:
                _log.exception("%s: the use of quotas cannot be written", path)
            has_failed = True
        await asyncio.sleep(EVERY)
