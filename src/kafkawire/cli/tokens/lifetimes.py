"""``kafkawire tokens renew`` and ``expire``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Final, TypeAlias

import typer

from kafkawire.admin import BlockingAdminClient, DelegationToken
from kafkawire.cli.access.broker_configs import configs_of_a_broker
from kafkawire.cli.access.changes import ChangeOptions, OutcomeRow, Status, confirm, print_outcomes
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.argument_texts import milliseconds_of
from kafkawire.cli.items import FromOption, given_names
from kafkawire.cli.rows.times import time_of
from kafkawire.codegen.report.text import counted
from kafkawire.protocol.errors import DelegationTokenExpiredError, DelegationTokenNotFoundError
from kafkawire.wire.kafka_errors import KafkaError

_SECOND: Final = 1000
_FIELD: Final = "token_id"
"""Of the rows of ``tokens list``."""

_NOT_FOUND: Final = "you own no such token and may not renew or describe it; kafkawire tokens list shows those"

Change: TypeAlias = Callable[[DelegationToken], int | None]
"""Changes until when a token is valid, in milliseconds since 1970; returns None if the brokers decide."""

IdsArgument = Annotated[list[str] | None, typer.Argument(metavar="TOKEN...", help="Ids of tokens.")]
PeriodOption = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="DURATION",
        help="From now on, such as 1d; by default, and at most, delegation.token.expiry.time.ms of the brokers.",
    ),
]
AfterOption = Annotated[
    str | None, typer.Option("--after", metavar="DURATION", help="From now on, such as 1h; by default at once.")
]


@cluster_command
def renew(
    cluster: Cluster,
    tokens: IdsArgument = None,
    file: FromOption = None,
    period: PeriodOption = None,
    *,
    options: ChangeOptions,
) -> None:
    """Renew tokens, at most until their longest lifetime.

    --dry-run is simulated: tokens must exist and be valid; whether you may renew each is not checked. A time that
    brokers do not let you read is left open.
    """
    dry_run, yes, output = options
    length = None if period is None else milliseconds_of(period, "--for")
    wanted = given_names("token", tokens, file, _FIELD)
    timeout = cluster.options.timeout
    if not dry_run:
        confirm(cluster, f"renew {counted(len(wanted), 'token')}", yes=yes, destructive=False)
    with cluster.connected() as client:
        longest = _longest_renewal(client, timeout) if dry_run else None

        def change(token: DelegationToken) -> int | None:
            if dry_run:
                return renewed_until(token, length, _now(), longest)
            return client.renew_delegation_token(token.hmac, renew_period_ms=length, timeout=timeout)

        rows = list(_outcomes(client, wanted, "renew", change, timeout, dry_run=dry_run))
    print_outcomes(rows, output)


@cluster_command
def expire(
    cluster: Cluster,
    tokens: IdsArgument = None,
    file: FromOption = None,
    after: AfterOption = None,
    *,
    options: ChangeOptions,
) -> None:
    """Expire tokens: no login with them works any more. Connections that are open stay.

    --dry-run is simulated: tokens must exist and be valid; whether you may expire each is not checked.
    """
    dry_run, yes, output = options
    length = None if after is None else milliseconds_of(after, "--after")
    wanted = given_names("token", tokens, file, _FIELD)
    timeout = cluster.options.timeout
    if not dry_run:
        confirm(cluster, f"expire {counted(len(wanted), 'token')}", yes=yes)
    with cluster.connected() as client:

        def change(token: DelegationToken) -> int | None:
            if dry_run:
                return expired_at(token, length, _now())
            return client.expire_delegation_token(token.hmac, expiry_period_ms=length, timeout=timeout)

        rows = list(_outcomes(client, wanted, "expire", change, timeout, dry_run=dry_run))
    print_outcomes(rows, output)


def _now() -> int:
    return int(time.time() * _SECOND)


def renewed_until(token: DelegationToken, length: int | None, now: int, longest: int | None) -> int | None:
    """Until when a token is valid after it is renewed; None if the brokers decide.

    Args:
        token: as it is.
        length: milliseconds from now on; None for as long as brokers renew.
        now: in milliseconds since 1970.
        longest: milliseconds for which brokers renew at most; None if unknown.

    Raises:
        DelegationTokenExpiredError: it is no longer valid.
    """
    _check_valid(token, now)
    known = [each for each in (length, longest) if each is not None]
    return min(now + min(known), token.max_timestamp_ms) if known else None


def _longest_renewal(client: BlockingAdminClient, timeout: float) -> int | None:
    _, configs = configs_of_a_broker(client, timeout)
    entry = None if configs is None else configs.get("delegation.token.expiry.time.ms")
    return None if entry is None or entry.value is None else int(entry.value)


def expired_at(token: DelegationToken, length: int | None, now: int) -> int:
    """When a token expires after it is expired.

    Args:
        token: as it is.
        length: milliseconds from now on; None for at once.
        now: in milliseconds since 1970.

    Raises:
        DelegationTokenExpiredError: it is no longer valid.
    """
    if length is None:
        return now
    _check_valid(token, now)
    return min(now + length, token.max_timestamp_ms)


def _check_valid(token: DelegationToken, now: int) -> None:
    until = min(token.expiry_timestamp_ms, token.max_timestamp_ms)
    if until < now:
        raise DelegationTokenExpiredError(f"it has expired at {_text(until)}; create a new one")


def _outcomes(
    client: BlockingAdminClient, ids: Sequence[str], action: str, change: Change, timeout: float, *, dry_run: bool
) -> Iterator[OutcomeRow]:
    """The outcome of each token; requests name tokens by their secrets, which only those that may see them get."""
    known = {token.token_id: token for token in client.describe_delegation_token(timeout=timeout)}
    status, begin = (Status.WOULD_BE_DONE, "simulated: would expire") if dry_run else (Status.DONE, "expires")
    for each in ids:
        if each not in known:
            yield OutcomeRow.failed(each, "token", action, DelegationTokenNotFoundError(_NOT_FOUND))
            continue
        try:
            until = change(known[each])
        except KafkaError as error:
            yield OutcomeRow.failed(each, "token", action, error)
        else:
            when = "when the brokers decide" if until is None else _text(until)
            yield OutcomeRow(each, "token", action, status, reason=f"{begin} {when}")


def _text(milliseconds: int) -> str:
    return f"{time_of(milliseconds):%Y-%m-%dT%H:%M:%SZ}"
