"""Until when a dry run says that a token is valid."""

from __future__ import annotations

import pytest

from kafkawire.admin import DelegationToken
from kafkawire.cli.tokens.lifetimes import expired_at, renewed_until
from kafkawire.protocol.errors import DelegationTokenExpiredError

NOW = 1_000_000
TOKEN = DelegationToken("t", b"secret", "User:a", None, (), 0, NOW + 500, NOW + 2_000)
GONE = DelegationToken("t", b"secret", "User:a", None, (), 0, NOW - 1, NOW + 2_000)


@pytest.mark.parametrize(
    ("length", "longest", "until"),
    [
        (1_000, 1_500, NOW + 1_000),
        (1_600, 1_500, NOW + 1_500),
        (9_000, 8_000, NOW + 2_000),
        (9_000, None, NOW + 2_000),
        (None, 1_500, NOW + 1_500),
        (None, None, None),
    ],
)
def test_a_token_is_renewed_at_most_as_brokers_renew_and_until_its_longest_lifetime(
    length: int | None, longest: int | None, until: int | None
) -> None:
    assert renewed_until(TOKEN, length, NOW, longest) == until


@pytest.mark.parametrize(("length", "until"), [(1_000, NOW + 1_000), (9_000, NOW + 2_000), (None, NOW)])
def test_a_token_expires_at_once_or_after_a_time(length: int | None, until: int) -> None:
    assert expired_at(TOKEN, length, NOW) == until


def test_a_token_that_has_expired_can_only_be_removed() -> None:
    with pytest.raises(DelegationTokenExpiredError, match="it has expired at 1970-01-01T00:16:39Z; create a new one"):
        renewed_until(GONE, 1, NOW, 1)
    with pytest.raises(DelegationTokenExpiredError):
        expired_at(GONE, 1, NOW)
    assert expired_at(GONE, None, NOW) == NOW
