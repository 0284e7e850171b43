"""``kafkawire quotas effective``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Annotated, ClassVar

import typer

from kafkawire.admin import CONNECTION_CREATION_RATE, ClientQuotaEntity, EffectiveQuotas
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.quotas.entities import AddressesOption, ClientsOption, UsersOption
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole
from kafkawire.declared.wording import item_in_words

KeysOption = Annotated[list[str] | None, typer.Option("--key", metavar="KEY", help="Only this quota; repeatable.")]

_ANONYMOUS = "ANONYMOUS"


class EffectiveQuotaRow(Row, frozen=True, kw_only=True):
    """The quota that is in effect for a client or an address.

    Attributes:
        key: which quota.
        user, client_id: the client; null for an address.
        ip: the address; null for a client.
        value: the limit; null for none.
        set_for: the entity that has it, in words; null without a limit.
        level: the precedence of that entity, 1 to 8 as in Kafka's documentation; null for addresses.
        bucket: the tags of the clients that share the quota on a broker; empty names are shared by all.
        entity: the parts of the entity; null without a limit.
    """

    key: str
    user: str | None = None
    client_id: str | None = None
    ip: str | None = None
    value: float | None
    set_for: str | None
    level: int | None = None
    bucket: Mapping[str, str] | None = None
    entity: Mapping[str, str | None] | None

    ROLES: ClassVar = {
        "user": ColumnRole.KEY,
        "client_id": ColumnRole.KEY,
        "ip": ColumnRole.KEY,
        "set_for": ColumnRole.KEY,
        "bucket": ColumnRole.KEY,
        "entity": ColumnRole.DETAIL,
    }
    OPTIONAL: ClassVar = frozenset({"user", "client_id", "ip", "level", "bucket"})


@cluster_command
def run(
    cluster: Cluster,
    user: UsersOption = None,
    client_id: ClientsOption = None,
    ip: AddressesOption = None,
    key: KeysOption = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Show the quotas in effect for clients: the value, the entity that has it, and the bucket that clients share.

    Without --user the user is ANONYMOUS, as on listeners without a login; without --client-id the id is empty.
    """
    if not (user or client_id or ip):
        raise CommandError("no client is named; give --user, --client-id or --ip", ExitCode.USAGE)
    with cluster.connected() as client:
        described = client.describe_client_quotas(timeout=cluster.options.timeout).union()
    quotas = EffectiveQuotas(described)
    clients = product(user or [_ANONYMOUS], client_id or [""]) if user or client_id else ()
    rows = [row for name, each in clients for row in _of_client(quotas, name, each)]
    rows += [_of_address(quotas, described, each) for each in ip or ()]
    print_rows([row for row in rows if not key or row.key in key], EffectiveQuotaRow, output, empty="no such quota")


def _of_client(quotas: EffectiveQuotas, user: str, client_id: str) -> Iterator[EffectiveQuotaRow]:
    for key, quota in quotas.of_client(user, client_id).items():
        yield EffectiveQuotaRow(
            key=key,
            user=user,
            client_id=client_id,
            value=quota.value,
            set_for=None if quota.entity is None else item_in_words(quota.entity),
            level=quota.level,
            bucket={"user": quota.bucket.user, "client-id": quota.bucket.client_id},
            entity=None if quota.entity is None else dict(quota.entity),
        )


def _of_address(
    quotas: EffectiveQuotas, described: Mapping[ClientQuotaEntity, Mapping[str, float]], address: str
) -> EffectiveQuotaRow:
    try:
        rate = quotas.connection_rate(address)
    except ValueError as error:
        raise CommandError(f"--ip: {error}", ExitCode.USAGE) from None
    own = (each for each in described if each.get("ip") and _has_rate(each, described[each], address))
    entity = next(own, ClientQuotaEntity.of_ip(None))
    return EffectiveQuotaRow(
        key=CONNECTION_CREATION_RATE,
        ip=address,
        value=rate,
        set_for=None if rate is None else item_in_words(entity),
        entity=None if rate is None else dict(entity),
    )


def _has_rate(entity: ClientQuotaEntity, values: Mapping[str, float], address: str) -> bool:
    """Whether an entity is that of an address, perhaps in another spelling."""
    return EffectiveQuotas({entity: values}).connection_rate(address) is not None
