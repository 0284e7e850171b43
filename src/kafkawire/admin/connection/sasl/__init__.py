"""Logging in: credentials, and the exchanges of tokens that show them to a broker (RFC 4616, 5802, 7628, 7677)."""

from __future__ import annotations

from kafkawire.admin.connection.sasl.credentials import (
    Credentials,
    CredentialsCallback,
    CredentialsSource,
    OAuthBearerCredentials,
    PlainCredentials,
    ScramCredentials,
)

__all__ = [
    "Credentials",
    "CredentialsCallback",
    "CredentialsSource",
    "OAuthBearerCredentials",
    "PlainCredentials",
    "ScramCredentials",
]
