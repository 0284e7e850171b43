"""Certificates made by ``openssl``: an authority, and what it signs; all as PEM, which Java and Python both read."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.apache_kafka.prerequisites import program

_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_DAYS = 2


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate and its key.

    Attributes:
        certificate: PEM file.
        key: PEM file, without a password.
        both: PEM file with the key and then the certificate: a key store for Kafka.
    """

    certificate: Path
    key: Path
    both: Path


class CertificateAuthority:
    """Signs certificates while a test lasts.

    Args:
        folder: an existing folder for its files.
        name: common name of its own certificate.
        file: name of its files.
        parent: the authority that signs its certificate; None for one that signs it itself.
        days: until its certificate expires; -1 for one that has expired.

    Attributes:
        certificate: PEM file with its own certificate: a trust store.
    """

    def __init__(
        self,
        folder: Path,
        name: str = "kafkawire tests",
        *,
        file: str = "authority",
        parent: CertificateAuthority | None = None,
        days: int = _DAYS,
    ) -> None:
        self.certificate = folder / f"{file}.crt"
        self._folder = folder
        self._key = folder / f"{file}.key"
        files = _written(self._key, self.certificate)
        if parent is None:
            _openssl("req", "-x509", *_NEW_KEY, "-days", str(days), "-subj", f"/CN={name}", *files)
        else:
            parent._sign(name, self._key, self.certificate, "basicConstraints=critical,CA:true\n", days)

    def issue(
        self, common_name: str, *, hosts: Sequence[str] = (), days: int = _DAYS, file: str | None = None
    ) -> Certificate:
        """A new certificate.

        Args:
            common_name: ``CN`` of its subject.
            hosts: subject alternative names as openssl writes them: ``DNS:localhost``, ``IP:127.0.0.1``.
            days: until it expires; -1 for one that has expired.
            file: name of its files; by default the common name.
        """
        issued = Certificate(*(self._folder / f"{file or common_name}.{kind}" for kind in ("crt", "key", "pem")))
        extensions = f"subjectAltName={','.join(hosts)}\n" if hosts else ""
        self._sign(common_name, issued.key, issued.certificate, extensions, days)
        issued.both.write_bytes(issued.key.read_bytes() + issued.certificate.read_bytes())
        return issued

    def _sign(self, common_name: str, key: Path, certificate: Path, extensions: str, days: int) -> None:
        request, extension_file = certificate.with_suffix(".csr"), certificate.with_suffix(".ext")
        extension_file.write_text(extensions, "utf-8")
        _openssl("req", "-new", *_NEW_KEY, "-subj", f"/CN={common_name}", *_written(key, request))
        _openssl(
            "x509", "-req", "-days", str(days), "-in", str(request), "-out", str(certificate),
            "-extfile", str(extension_file), "-CA", str(self.certificate), "-CAkey", str(self._key), "-CAcreateserial",
        )  # fmt: skip


def _written(key: Path, certificate: Path) -> tuple[str, ...]:
    return ("-keyout", str(key), "-out", str(certificate))


def _openssl(*arguments: str) -> None:
    done = subprocess.run([program("openssl"), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
