"""User names inside tokens."""

from __future__ import annotations


def escaped(name: str) -> str:
    """A name in which ``=`` and ``,`` cannot be taken for syntax (RFC 5802, ``saslname``)."""
    return name.replace("=", "=3D").replace(",", "=2C")
