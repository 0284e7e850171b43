"""``kafkawire tokens list``, ``create``, ``renew`` and ``expire``."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, ClassVar, Final

import typer

from kafkawire.admin import BlockingAdminClient, DelegationToken
from kafkawire.cli.access.changes import OutcomeRow, Status, YesOption, confirm, print_outcomes
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.argument_texts import milliseconds_of
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.rows.times import time_of
from kafkawire.cli.tables.formats import STANDARD_OUTPUT
from kafkawire.column_roles import ColumnRole
from kafkawire.wire.kafka_errors import KafkaError

_ONLY_OWNER: Final = 0o600


class TokenRow(Row, frozen=True):
    """A delegation token, without its secret.

    Attributes:
        token_id: its id, the user name of a login.
        owner: the principal of clients with the token.
        expires: until when it is valid unless it is renewed.
        renewable_until: until when it can be renewed at most.
        renewers: who may renew it, beside the owner.
        issued: when it was created.
        requester: who has created it; None from brokers before 3.3.
    """

    token_id: str
    owner: str
    expires: datetime | None
    renewable_until: datetime | None
    renewers: tuple[str, ...]
    issued: datetime | None
    requester: str | None

    ROLES: ClassVar = {"issued": ColumnRole.DETAIL, "requester": ColumnRole.DETAIL}


OwnersOption = Annotated[
    list[str] | None, typer.Option("--owner", metavar="PRINCIPAL", help="Tokens of this owner; repeatable.")
]
OwnerOption = Annotated[
    str | None, typer.Option(metavar="PRINCIPAL", help="Owner of the token, such as User:alice; by default you.")
]
RenewersOption = Annotated[
    list[str] | None, typer.Option("--renewer", metavar="PRINCIPAL", help="Who else may renew it; repeatable.")
]
LifetimeOption = Annotated[
    str | None, typer.Option(metavar="DURATION", help="Longest lifetime, such as 7d; by default that of the brokers.")
]
SecretOption = Annotated[
    Path,
    typer.Option(metavar="FILE", help="File for the HMAC, the password of a login; only you can read it. - prints it."),
]
IdsArgument = Annotated[list[str], typer.Argument(metavar="TOKEN...", help="Ids of tokens.")]
PeriodOption = Annotated[
    str | None,
    typer.Option("--for", metavar="DURATION", help="From now on, such as 1d; by default the brokers decide."),
]
AfterOption = Annotated[
    str | None, typer.Option("--after", metavar="DURATION", help="From now on, such as 1h; by default at once.")
]


@cluster_command
def list_(cluster: Cluster, owner: OwnersOption = None, output: FormatOption = RowFormat.TABLE) -> None:
    """List the tokens that you own, may renew or may describe."""
    with cluster.connected() as client:
        found = client.describe_delegation_token(owner or None, timeout=cluster.options.timeout)
    print_rows([_row(each) for each in found], TokenRow, output, empty="no tokens")


@cluster_command
def create(
    cluster: Cluster,
    hmac_out: SecretOption,
    owner: OwnerOption = None,
    renewer: RenewersOption = None,
    max_lifetime: LifetimeOption = None,
    yes: YesOption = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Create a token; its secret, the HMAC, is written to a file."""
    lifetime = None if max_lifetime is None else milliseconds_of(max_lifetime, "--max-lifetime")
    to_output = hmac_out == STANDARD_OUTPUT
    if not to_output and hmac_out.exists():
        raise CommandError(f"--hmac-out: {hmac_out} exists; give the name of a new file", ExitCode.USAGE)
    confirm(cluster, "create a token", yes=yes, destructive=False)
    with cluster.connected() as client:
        token = client.create_delegation_token(
            owner=owner, renewers=renewer or (), max_lifetime_ms=lifetime, timeout=cluster.options.timeout
        )
    text = base64.b64encode(token.hmac).decode()
    if to_output:
        print(text)
        print(f"created token {token.token_id}", file=sys.stderr)
        return
    with open(hmac_out, "x", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, _ONLY_OWNER)) as file:
        file.write(f"{text}\n")
    print_rows([_row(token)], TokenRow, output)


@cluster_command
def renew(
    cluster: Cluster,
    tokens: IdsArgument,
    period: PeriodOption = None,
    yes: YesOption = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Renew tokens, at most until their longest lifetime."""
    milliseconds = None if period is None else milliseconds_of(period, "--for")
    confirm(cluster, f"renew {len(tokens)} tokens", yes=yes, destructive=False)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        rows = _changed(
            client,
            tokens,
            "renew",
            lambda token: client.renew_delegation_token(token.hmac, renew_period_ms=milliseconds, timeout=timeout),
            timeout,
        )
    print_outcomes(rows, output)


@cluster_command
def expire(
    cluster: Cluster,
    tokens: IdsArgument,
    after: AfterOption = None,
    yes: YesOption = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Expire tokens: no login with them works any more. Connections that are open stay."""
    milliseconds = None if after is None else milliseconds_of(after, "--after")
    confirm(cluster, f"expire {len(tokens)} tokens", yes=yes)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        rows = _changed(
            client,
            tokens,
            "expire",
            lambda token: client.expire_delegation_token(token.hmac, expiry_period_ms=milliseconds, timeout=timeout),
            timeout,
        )
    print_outcomes(rows, output)


def _changed(
    client: BlockingAdminClient,
    ids: Sequence[str],
    action: str,
    change: Callable[[DelegationToken], int],
    timeout: float,
) -> list[OutcomeRow]:
    """The outcome of each token; requests name tokens by their secrets, which only those that may see them get."""
    known = {token.token_id: token for token in client.describe_delegation_token(timeout=timeout)}
    rows = []
    for each in ids:
        if each not in known:
            reason = "you own no such token and may not renew or describe it"
            rows.append(OutcomeRow(each, "token", action, Status.FAILED, "DELEGATION_TOKEN_NOT_FOUND", reason))
            continue
        try:
            expires = time_of(change(known[each]))
        except KafkaError as error:
            rows.append(OutcomeRow.failed(each, "token", action, error))
        else:
            rows.append(OutcomeRow(each, "token", action, Status.DONE, reason=f"expires {expires:%Y-%m-%dT%H:%M:%SZ}"))
    return rows


def _row(token: DelegationToken) -> TokenRow:
    return TokenRow(
        token_id=token.token_id,
        owner=token.owner,
        expires=time_of(token.expiry_timestamp_ms),
        renewable_until=time_of(token.max_timestamp_ms),
        renewers=token.renewers,
        issued=time_of(token.issue_timestamp_ms),
        requester=token.requester,
    )
