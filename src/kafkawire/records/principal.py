"""The principal that a broker forwards in an Envelope request, as the default builder encodes it (blob-principal)."""

from __future__ import annotations

from kafkawire.protocol import DefaultPrincipalData
from kafkawire.records.version_prefix import decode_prefixed, encode_prefixed
from kafkawire.wire.message import Octets


def decode_principal(request_principal: Octets) -> DefaultPrincipalData:
    """The principal.

    Raises:
        DecodeError: kind ``version``, or the error of the body.

    Example:
        ```python
        from kafkawire.protocol import DefaultPrincipalData
        from kafkawire.records.principal import decode_principal, encode_principal

        principal = DefaultPrincipalData(type="User", name="billing")
        assert decode_principal(encode_principal(principal)) == principal
        ```
    """
    return decode_prefixed(DefaultPrincipalData, request_principal)[0]


def encode_principal(principal: DefaultPrincipalData, version: int = 0) -> bytes:
    """The bytes for ``EnvelopeRequest.request_principal``.

    Raises:
        UnsupportedVersionError, EncodeError: as ``Message.encode``.
    """
    return encode_prefixed(principal, version)
