"""Who is at the other end of a connection."""

from __future__ import annotations

from typing import Final

from kafkawire.wire.message import Struct

__all__ = ["ANONYMOUS", "Principal", "Session"]


class Principal(Struct, frozen=True, gc=False):
    """Who makes requests, as authorizers, quotas and policies see it.

    Attributes:
        name: ``alice``; any text.
        kind: ``User`` for all that the built-in logins make.
    """

    name: str
    kind: str = "User"

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


ANONYMOUS: Final = Principal("ANONYMOUS")
"""Whoever has not logged in, as on listeners without SASL."""


class Session(Struct, frozen=True, gc=False):
    """What a request is made as.

    Attributes:
        principal: who.
        host: the client's address, ``127.0.0.1``.
        listener: name of the listener that the client came to, ``PLAINTEXT``.
        software: name and version of the client's software, ``apache-kafka-java 4.3.1``; empty if the client does not
            send them (KIP-511).
    """

    principal: Principal
    host: str
    listener: str
    software: str = ""
