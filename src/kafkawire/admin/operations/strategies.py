"""How a broker is queried for many filters: in one request, in one each, or by a listing of everything (KIP-888)."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection
from typing import Any, Generic, Literal, TypeAlias

import msgspec

from kafkawire.admin.engine.operation import K, Operation, V

Strategy: TypeAlias = Literal["automatic", "batch", "pipelined", "listing"]
"""How a broker is queried for filters; all strategies have the same results.

``batch``: one request with all filters, where a broker offers it (KIP-888) and the settings allow ``proposals``.
``pipelined``: one request for each filter, many of them on their way at once.
``listing``: one request for everything, which the client filters.
``automatic``: ``batch`` where it is possible; otherwise ``pipelined`` for few filters and ``listing`` for many.
"""

LISTING_FROM = 24
"""The number of filters from which one listing is faster than a request for each; see decision 0013."""


class OperationByStrategy(msgspec.Struct, Generic[K, V], frozen=True):
    """The operation for each strategy.

    Attributes:
        batch: takes the fallback for brokers without it, or None to fail there.
        pipelined, listing: for every broker.
    """

    batch: Callable[[Operation[K, V, Any] | None], Operation[K, V, Any]]
    pipelined: Callable[[], Operation[K, V, Any]]
    listing: Callable[[], Operation[K, V, Any]]

    def chosen(self, strategy: Strategy, filters: Collection[K], *, proposals: bool) -> Operation[K, V, Any]:
        """The operation for some filters.

        Args:
            strategy: the requested strategy.
            filters: the filters.
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
        raise ValueError(f"{strategy!r} is not a strategy: give automatic, batch, pipelined or listing")


def warn_of_single_filter(method: str) -> None:
    """Warn of the deprecated form of a method, at the calling line outside of this package."""
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").startswith("kafkawire."):  # noqa: SLF001
        level += 1
    warnings.warn(
        f"{method} with a single filter is deprecated; give a collection: {method}([filter])",
        DeprecationWarning,
        stacklevel=level + 1,
    )
