"""Some of endlessly many names, or all except some."""

from __future__ import annotations

import msgspec


class Selection(msgspec.Struct, frozen=True, gc=False, order=True):
    """Some principals, hosts, users, client ids or addresses, or all except some.

    Attributes:
        names: which.
        others: whether all others are meant instead.
    """

    names: tuple[str, ...] = ()
    others: bool = False

    def __contains__(self, name: object) -> bool:
        return (name in self.names) is not self.others


EVERY = Selection(others=True)
"""Every name."""
