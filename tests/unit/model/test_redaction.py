"""Values with secrets show everything except the secrets."""

from __future__ import annotations

import pytest

from kafkawire.admin.connection.sasl.credentials import OAuthBearerCredentials, PlainCredentials, ScramCredentials
from kafkawire.admin.connection.tls import Tls
from kafkawire.admin.tokens import DelegationToken
from kafkawire.model.configs.resources import ConfigChange
from kafkawire.model.redaction import Redacted
from kafkawire.model.scram import ScramMechanism, ScramUpsertion

SECRET = "TOPSECRET"

KEEPERS: list[Redacted] = [
    PlainCredentials("alice", SECRET),
    ScramCredentials("alice", SECRET),
    OAuthBearerCredentials(SECRET, {"traceId": SECRET}),
    Tls(ca=SECRET, certificate=SECRET, key=SECRET, key_password=SECRET),
    ScramUpsertion("alice", ScramMechanism.SCRAM_SHA_256, SECRET, salt=SECRET.encode()),
    ConfigChange.set("ssl.key.password", SECRET),
    DelegationToken("id", SECRET.encode(), "User:alice", None, (), 1, 2, 3),
]


@pytest.mark.parametrize("keeper", KEEPERS, ids=lambda keeper: type(keeper).__name__)
def test_a_secret_is_in_no_representation(keeper: Redacted) -> None:
    """Rich does not ask for ``repr``."""
    assert SECRET not in f"{keeper!r} {keeper} {keeper.__rich_repr__()}"
    assert set(keeper.__struct_fields__) > keeper.UNSHOWN


def test_everything_else_is_shown() -> None:
    assert repr(PlainCredentials("alice", SECRET)) == "PlainCredentials(username='alice', authorization_id='')"
    shown = "Tls(verify_hostname=True, minimum_version='TLSv1.2', maximum_version=None)"
    assert repr(Tls(ca=SECRET)) == shown
