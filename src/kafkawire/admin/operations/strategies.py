"""How many filters are asked about: in one request, in one each, or by a listing of everything (KIP-888)."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection
from typing import Any, Generic, Literal, TypeAlias

import msgspec

from kafkawire.admin.engine.operation import K, Operation, V

Strategy: TypeAlias = Literal["automatic", "batch", "pipelined", "listing"]
"""How filters are asked about; all ways give the same results.

``batch``: one request with all filters, where a broker offers it (KIP-888) and the settings allow ``proposals``.
``pipelined``: one request for each filter, many of them on their way at once.
``listing``: one request for everything, which is filtered here.
``automatic``: ``batch`` where it can be had; otherwise ``pipelined`` for few filters and ``listing`` for many.
"""

LISTING_FROM = 24
"""The number of filters from which one listing is quicker than a request for each; see decision 0013."""


class OperationByStrategy(msgspec.Struct, Generic[K, V], frozen=True):
    """The operations that ask about filters in each way.

    Attributes:
        batch: given what to do where it is not offered, or None to fail there.
        pipelined, listing: for every broker.
    """

    batch: Callable[[Operation[K, V, Any] | None], Operation[K, V, Any]]
    pipelined: Callable[[], Operation[K, V, Any]]
    listing: Callable[[], Operation[K, V, Any]]

    def chosen(self, strategy: Strategy, filters: Collection[K], *, proposals: bool) -> Operation[K, V, Any]:
        """The operation for some filters.

        Args:
            strategy: what the caller wants.
            filters: what is asked about.
            proposals: whether versions that are not final may be used.

        Raises:
            ValueError: if there is no such strategy.
        """
        match strategy:
            case "batch":
                return self.batch(None)
            case "pipelined":
                return self.pipelined()
            case "listing":
                return self.listing()
            case "automatic":
                released = self.listing() if len(set(filters)) >= LISTING_FROM else self.pipelined()
                return self.batch(released) if proposals else released
        raise ValueError(f"{strategy!r} is no strategy; automatic, batch, pipelined and listing are")


def warn_of_single_filter(method: str) -> None:
    """Say that a method was called in its deprecated form, at the line outside this package that did so."""
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").startswith("kafkawire."):  # noqa: SLF001
        level += 1
    warnings.warn(
        f"{method} with a single filter is deprecated; give a collection: {method}([filter])",
        DeprecationWarning,
        stacklevel=level + 1,
    )
