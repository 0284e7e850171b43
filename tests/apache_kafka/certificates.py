"""Certificates made by ``openssl``: an authority, and what it signs; all as PEM, which Java and Python both read."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.apache_kafka.prerequisites import program

_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_DAYS = ("-days", "2")


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

    Attributes:
        certificate: PEM file with its own certificate: a trust store.
    """

    def __init__(self, folder: Path, name: str = "kafkawire tests") -> None:
        self.certificate = folder / "authority.crt"
        self._folder = folder
        self._key = folder / "authority.key"
        _openssl("req", "-x509", *_NEW_KEY, *_DAYS, "-subj", f"/CN={name}", *_written(self._key, self.certificate))

    def issue(self, common_name: str, *, hosts: Sequence[str] = ()) -> Certificate:
        """A new certificate.

        Args:
            common_name: ``CN`` of its subject, and name of its files.
            hosts: subject alternative names as openssl writes them: ``DNS:localhost``, ``IP:127.0.0.1``.
        """
        issued = Certificate(*(self._folder / f"{common_name}.{kind}" for kind in ("crt", "key", "pem")))
        request, extensions = self._folder / f"{common_name}.csr", self._folder / f"{common_name}.ext"
        extensions.write_text(f"subjectAltName={','.join(hosts)}\n" if hosts else "", "utf-8")
        _openssl("req", "-new", *_NEW_KEY, "-subj", f"/CN={common_name}", *_written(issued.key, request))
        _openssl(
            "x509", "-req", *_DAYS, "-in", str(request), "-out", str(issued.certificate), "-extfile", str(extensions),
            "-CA", str(self.certificate), "-CAkey", str(self._key), "-CAcreateserial",
        )  # fmt: skip
        issued.both.write_bytes(issued.key.read_bytes() + issued.certificate.read_bytes())
        return issued


def _written(key: Path, certificate: Path) -> tuple[str, ...]:
    return ("-keyout", str(key), "-out", str(certificate))


def _openssl(*arguments: str) -> None:
    done = subprocess.run([program("openssl"), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
