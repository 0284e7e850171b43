"""TLS from the ``ssl.*`` properties of Java's clients: PEM files and PEM texts (KIP-651)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from kafkawire.admin.connection.tls import Tls

_Version = Literal["TLSv1.2", "TLSv1.3"]
_NEWEST: Final[tuple[_Version, ...]] = ("TLSv1.2", "TLSv1.3")
_OLD: Final = frozenset({"SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1"})
_CONTEXTS: Final = frozenset({"TLS", *_NEWEST})

_PEM: Final = "PEM"
_JAVAS_DEFAULT: Final = "JKS"
_OWN_CONTEXT: Final = "pass tls=, an ssl.SSLContext"

_REFUSED: Final[Mapping[str, str]] = {
    "ssl.cipher.suites": f"it has Java's names: remove it, or {_OWN_CONTEXT}",
    "ssl.engine.factory.class": _OWN_CONTEXT,
    "ssl.provider": f"remove it, or {_OWN_CONTEXT}",
}

SSL_PROPERTIES: Final = frozenset({
    *_REFUSED, "ssl.enabled.protocols", "ssl.endpoint.identification.algorithm", "ssl.key.password",
    "ssl.keymanager.algorithm", "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.keystore.location",
    "ssl.keystore.password", "ssl.keystore.type", "ssl.protocol", "ssl.secure.random.implementation",
    "ssl.trustmanager.algorithm", "ssl.truststore.certificates", "ssl.truststore.location", "ssl.truststore.password",
    "ssl.truststore.type",
})  # fmt: skip
"""The properties that Java's clients have for TLS. Passwords of stores and names of Java's algorithms are not read."""

_BLOCK: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_LETTERS_OF_A_LINE: Final = 64


def tls_of(given: Mapping[str, str]) -> Tls:
    """The parts of a TLS context.

    Raises:
        ValueError: for a property that is invalid or cannot be honoured; names it, and says what to do.
    """
    for name, advice in _REFUSED.items():
        if given.get(name):
            raise ValueError(f"{name}: is not supported here: {advice}")
    if given.get("ssl.protocol", "TLS") not in _CONTEXTS:
        raise ValueError(f"ssl.protocol: must be one of {', '.join(sorted(_CONTEXTS))}")
    lowest, highest = _versions(given)
    certificate, key = _identity(given)
    return Tls(
        ca=_trusted(given), certificate=certificate, key=key,
        key_password=given.get("ssl.key.password") if certificate else None,
        verify_hostname=_verifies_names(given), minimum_version=lowest, maximum_version=highest,
    )  # fmt: skip


def _versions(given: Mapping[str, str]) -> tuple[_Version, _Version | None]:
    """The lowest and the highest version. What Java would allow below TLS 1.2 is not offered."""
    text = given.get("ssl.enabled.protocols")
    if not text:
        return _NEWEST[0], None
    names = {name.strip() for name in text.split(",")}
    unknown = sorted(names - _OLD - {*_NEWEST})
    enabled = [version for version in _NEWEST if version in names]
    if unknown or not enabled:
        said = f"{', '.join(unknown)} is unknown" if unknown else "all of them are older than TLS 1.2"
        raise ValueError(f"ssl.enabled.protocols: {said}: use {' or '.join(_NEWEST)}")
    return enabled[0], enabled[-1]


def _verifies_names(given: Mapping[str, str]) -> bool:
    algorithm = given.get("ssl.endpoint.identification.algorithm", "https").strip().lower()
    if algorithm not in {"https", ""}:
        raise ValueError("ssl.endpoint.identification.algorithm: must be https, or empty to verify no names")
    return bool(algorithm)


def _trusted(given: Mapping[str, str]) -> str | None:
    location, text = given.get("ssl.truststore.location"), given.get("ssl.truststore.certificates")
    if not location and not text:
        return None
    _refuse_two("ssl.truststore.location", location, "ssl.truststore.certificates", text)
    _require_pem(given, "ssl.truststore", location)
    return location or _lines("ssl.truststore.certificates", text or "")


def _identity(given: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The client's certificate and its key; None for the key if both are in one file."""
    location = given.get("ssl.keystore.location")
    chain, key = given.get("ssl.keystore.certificate.chain"), given.get("ssl.keystore.key")
    if not location and not chain and not key:
        return None, None
    _refuse_two("ssl.keystore.location", location, "ssl.keystore.key", key)
    _require_pem(given, "ssl.keystore", location)
    if location:
        return location, None
    if not chain or not key:
        missing = "ssl.keystore.key" if chain else "ssl.keystore.certificate.chain"
        raise ValueError(f"{missing}: is missing: the key and the chain of certificates belong together")
    return _lines("ssl.keystore.certificate.chain", chain), _lines("ssl.keystore.key", key)


def _refuse_two(one: str, location: str | None, other: str, text: str | None) -> None:
    if location and text:
        raise ValueError(f"{other}: {one} is set too: give a file or a text")


def _require_pem(given: Mapping[str, str], store: str, location: str | None) -> None:
    kind = given.get(f"{store}.type", _JAVAS_DEFAULT).strip().upper()
    if kind == _PEM:
        return
    if not location:
        raise ValueError(f"{store}.type: is {kind}: set it to PEM for certificates that are given as text")
    pem = str(Path(location).with_suffix(".pem"))
    source, target, between = map(shlex.quote, (location, pem, str(Path(location).with_suffix(".p12"))))
    if store == "ssl.truststore":
        command = f"keytool -list -rfc -keystore {source} > {target}"
    elif kind == "PKCS12":
        command = f"openssl pkcs12 -in {source} -out {target}"
    else:
        command = (
            f"keytool -importkeystore -srckeystore {source} -destkeystore {between} -deststoretype PKCS12"
            f" && openssl pkcs12 -in {between} -out {target}"
        )
    password = "" if store == "ssl.truststore" else ", and ssl.key.password to the PEM pass phrase that you chose"
    raise ValueError(
        f"{store}.type: a store of type {kind} cannot be read here, PEM can, here and by Kafka's own clients. Run\n"
        f"  {command}\n"
        f"then set {store}.type=PEM and {store}.location={pem}{password}; remove {store}.password"
    )


def _lines(name: str, text: str) -> str:
    """A PEM text in lines as OpenSSL wants them: in a properties file it may be on one."""
    blocks = _BLOCK.findall(text)
    if not blocks:
        raise ValueError(f"{name}: is no PEM text: it has no -----BEGIN ...----- with its -----END ...-----")
    return "".join(_block(label, content) for label, content in blocks)


def _block(label: str, content: str) -> str:
    if "\n" in content.strip():
        return f"-----BEGIN {label}-----{content}-----END {label}-----\n"
    letters = "".join(content.split())
    lines = [letters[at : at + _LETTERS_OF_A_LINE] for at in range(0, len(letters), _LETTERS_OF_A_LINE)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])
