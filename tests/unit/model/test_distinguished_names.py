"""Names in certificates as Java writes them: ``X500Principal.getName`` of Java 17 gave the texts here."""

from __future__ import annotations

import datetime as dt

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import NameOID

from kafkawire.model.distinguished_names import subject_of

TEXT, PRINTABLE, BMP = _ASN1Type.UTF8String, _ASN1Type.PrintableString, _ASN1Type.BMPString
IA5, NUMERIC = _ASN1Type.IA5String, _ASN1Type.NumericString


def certificate(*names: x509.RelativeDistinguishedName) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(names))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority")]))
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.DER)


def part(*attributes: x509.NameAttribute[str]) -> x509.RelativeDistinguishedName:
    return x509.RelativeDistinguishedName(attributes)


def named(kind: x509.ObjectIdentifier, value: str, encoding: _ASN1Type = TEXT) -> x509.NameAttribute[str]:
    return x509.NameAttribute(kind, value, _type=encoding)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([part(named(NameOID.COMMON_NAME, "alice"))], "CN=alice"),
        (
            [
                part(named(NameOID.COUNTRY_NAME, "DE", PRINTABLE)),
                part(named(NameOID.STATE_OR_PROVINCE_NAME, "Bayern")),
                part(named(NameOID.LOCALITY_NAME, "München")),
                part(named(NameOID.ORGANIZATION_NAME, "Kafka & Söhne")),
                part(named(NameOID.ORGANIZATIONAL_UNIT_NAME, "IT", BMP)),
                part(named(NameOID.COMMON_NAME, "alice")),
            ],
            "CN=alice,OU=\\00I\\00T,O=Kafka & Söhne,L=München,ST=Bayern,C=DE",
        ),
        ([part(named(NameOID.COMMON_NAME, 'a,b+c"d\\e<f>g;h=i#j'))], 'CN=a\\,b\\+c\\"d\\\\e\\<f\\>g\\;h\\=i\\#j'),
        ([part(named(NameOID.COMMON_NAME, "  two  blanks  "))], "CN=\\ \\ two  blanks\\ \\ "),
        ([part(named(NameOID.USER_ID, "u1"), named(NameOID.COMMON_NAME, "alice"))], "CN=alice+UID=u1"),
        (
            [part(named(NameOID.DOMAIN_COMPONENT, "org")), part(named(NameOID.STREET_ADDRESS, "Weg 1"))],
            "STREET=Weg 1,DC=org",
        ),
        (
            [part(x509.NameAttribute(NameOID.EMAIL_ADDRESS, "a@b.c")), part(named(NameOID.COMMON_NAME, "alice"))],
            "CN=alice,1.2.840.113549.1.9.1=#16056140622e63",
        ),
        ([part(named(NameOID.COMMON_NAME, "ascii", IA5))], "CN=ascii"),
        ([part(named(NameOID.COMMON_NAME, "12", NUMERIC))], "CN=#12023132"),
        ([part(named(NameOID.TITLE, "Dr")), part(named(NameOID.COMMON_NAME, " "))], "CN=\\ ,2.5.4.12=#0c024472"),
        ([], ""),
    ],
)
def test_a_subject_is_written_from_the_most_particular_part_on(
    names: list[x509.RelativeDistinguishedName], text: str
) -> None:
    assert subject_of(certificate(*names)) == text


def test_a_certificate_that_is_cut_off_is_refused() -> None:
    with pytest.raises(ValueError, match="truncated"):
        subject_of(certificate(part(named(NameOID.COMMON_NAME, "alice")))[:-10])
