"""TLS contexts from PEM files or PEM texts. Other modules of the admin client use only the errors of ``ssl``."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Literal

from kafkawire.arguments.fields import check_fields
from kafkawire.model.redaction import Redacted

Pem = str | os.PathLike[str]
"""The path of a PEM file, or its content: a text with ``-----BEGIN``."""

_BEGIN = "-----BEGIN "
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


class Tls(Redacted, frozen=True, kw_only=True):
    """The parts of a TLS context, with verification of the broker's certificate.

    For anything else make a ``ssl.SSLContext`` yourself. Files are read whenever a context is made, so that renewed
    certificates are taken up by the next connection.

    Attributes:
        ca: certificates of the authorities to trust, and no others; those of the system if it is not given.
        certificate: this client's certificate with its chain, for brokers that want one.
        key: its private key; not needed if ``certificate`` holds both.
        key_password: of the key. Without it an encrypted key is refused; there is no prompt at the terminal.
        verify_hostname: whether the broker's certificate must be for the host that was connected to.
        minimum_version, maximum_version: of TLS; None for the highest that the Python at hand has.

    Raises:
        TypeError: for a value of another type.
        ValueError: for a key without a certificate, a version that is none, or a minimum above the maximum.

    Example:
        ```python
        admin = AdminClient(
            "broker-1.example.com:9093",
            tls=Tls(ca="/etc/kafka/ca.pem"),
            credentials=ScramCredentials("billing", "secret", "SCRAM-SHA-512"),
        )
        await admin.close()
        ```
    """

    UNSHOWN: ClassVar[frozenset[str]] = frozenset({"ca", "certificate", "key", "key_password"})

    ca: Pem | None = None
    certificate: Pem | None = None
    key: Pem | None = None
    key_password: str | None = None
    verify_hostname: bool = True
    minimum_version: Literal["TLSv1.2", "TLSv1.3"] = "TLSv1.2"
    maximum_version: Literal["TLSv1.2", "TLSv1.3"] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.certificate is None and self.key is not None:
            raise ValueError("key needs certificate: give both")
        for name, version in (("minimum_version", self.minimum_version), ("maximum_version", self.maximum_version)):
            if version is not None and version not in _VERSIONS:
                raise ValueError(f"{name} {version!r}: must be {' or '.join(_VERSIONS)}")
        if self.maximum_version is not None and self.minimum_version > self.maximum_version:
            raise ValueError(f"minimum_version {self.minimum_version} is above maximum_version {self.maximum_version}")

    def context(self) -> ssl.SSLContext:
        """A context for connections to brokers.

        Raises:
            ValueError: if a file cannot be read, or the parts do not match; the message names the part.
        """
        context = _trusting(self.ca)
        context.check_hostname = self.verify_hostname
        context.minimum_version = _VERSIONS[self.minimum_version]
        if self.maximum_version is not None:
            context.maximum_version = _VERSIONS[self.maximum_version]
        if self.certificate is not None:
            _load_chain(context, self.certificate, self.key, self.key_password or "")
        return context


def _trusting(ca: Pem | None) -> ssl.SSLContext:
    """A context with the authorities; see decision 0107.

    They are checked as Kafka's Java clients check them: a trusted authority need not be a root, and need not say what
    its key is for.
    """
    context = _with_authorities(ca)
    context.verify_flags = (context.verify_flags | ssl.VERIFY_X509_PARTIAL_CHAIN) & ~ssl.VERIFY_X509_STRICT
    return context


def _with_authorities(ca: Pem | None) -> ssl.SSLContext:
    if ca is None:
        return ssl.create_default_context()
    try:
        # Without any text the context would trust the authorities of the system.
        return ssl.create_default_context(cadata=_content(ca) or " ")
    except (OSError, ValueError) as error:
        raise ValueError(f"ca: {_name(ca)}: {error}") from error


def _load_chain(context: ssl.SSLContext, certificate: Pem, key: Pem | None, password: str) -> None:
    try:
        with _file(certificate) as chain, _file(certificate if key is None else key) as private:
            context.load_cert_chain(chain, private, password=password)
    except (OSError, ValueError) as error:
        named = _name(certificate) if key is None else f"{_name(certificate)}, key {_name(key)}"
        raise ValueError(f"certificate: {named}: {error}") from error


def _content(pem: Pem) -> str:
    if _is_content(pem):
        return str(pem)
    from pathlib import Path  # noqa: PLC0415 slow to import, and few need it

    return Path(pem).read_text("utf-8")


@contextmanager
def _file(pem: Pem) -> Iterator[str]:
    """OpenSSL reads chains from files only: a text is one for a moment, in a folder that only this user can open."""
    if not _is_content(pem):
        yield os.fspath(pem)
        return
    import tempfile  # noqa: PLC0415 slow to import, and few need it
    from pathlib import Path  # noqa: PLC0415 the same

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pem")
        file.touch(mode=0o600)
        file.write_text(str(pem), "utf-8")
        yield str(file)


def _is_content(pem: Pem) -> bool:
    return isinstance(pem, str) and _BEGIN in pem


def _name(pem: Pem) -> str:
    return "the text" if _is_content(pem) else str(pem)
