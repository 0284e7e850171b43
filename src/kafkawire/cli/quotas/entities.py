"""The entities that options name: users, client ids and addresses, or the default of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Annotated, ClassVar, Final, NamedTuple

import msgspec
import typer

from kafkawire.admin import ClientQuotaEntity, ClientQuotaFilter, ClientQuotaFilterComponent
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole
from kafkawire.declared.wording import item_in_words

PANEL: Final = "Entities"

UsersOption = Annotated[
    list[str] | None,
    typer.Option("--user", metavar="NAME", help="A user, without User:; repeatable.", rich_help_panel=PANEL),
]
UserDefaultOption = Annotated[
    bool, typer.Option("--user-default", help="Users without a quota of their own.", rich_help_panel=PANEL)
]
ClientsOption = Annotated[
    list[str] | None,
    typer.Option("--client-id", metavar="ID", help="A client id; repeatable.", rich_help_panel=PANEL),
]
ClientDefaultOption = Annotated[
    bool, typer.Option("--client-id-default", help="Client ids without a quota of their own.", rich_help_panel=PANEL)
]
AddressesOption = Annotated[
    list[str] | None, typer.Option("--ip", metavar="ADDRESS", help="An address; repeatable.", rich_help_panel=PANEL)
]
AddressDefaultOption = Annotated[
    bool, typer.Option("--ip-default", help="Addresses without a quota of their own.", rich_help_panel=PANEL)
]


class QuotaRow(Row, frozen=True):
    """The quotas that are set for an entity; ``quotas set --from`` reads these rows.

    Attributes:
        name: the entity in words.
        entity: its parts, ``user``, ``client-id`` and ``ip``; null is the default.
        quotas: values by key.
    """

    name: str
    entity: Mapping[str, str | None]
    quotas: Mapping[str, float]

    ROLES: ClassVar = {"entity": ColumnRole.DETAIL}


class QuotaItem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entity of a file, in the form of a ``QuotaRow``.

    Attributes:
        entity: its parts; null is the default.
        quotas: values by key; null removes one.
        name: is not read.
    """

    entity: Mapping[str, str | None]
    quotas: Mapping[str, float | None] = {}
    name: str | None = None


def item_of_user(name: str) -> object:
    """A line of a file with nothing but a name is a user."""
    return {"entity": {"user": name}}


class EntityOptions(NamedTuple):
    """The options that name entities.

    Attributes:
        user, client_id, ip: names of each type.
        user_default, client_id_default, ip_default: whether the default of the type is meant.
    """

    user: UsersOption = None
    user_default: UserDefaultOption = False
    client_id: ClientsOption = None
    client_id_default: ClientDefaultOption = False
    ip: AddressesOption = None
    ip_default: AddressDefaultOption = False

    @property
    def by_type(self) -> Mapping[str, Sequence[str | None]]:
        """The names of each type that is named; None is the default."""
        names = {
            "user": [*(self.user or ()), *[None] * self.user_default],
            "client-id": [*(self.client_id or ()), *[None] * self.client_id_default],
            "ip": [*(self.ip or ()), *[None] * self.ip_default],
        }
        if any(name == "" for given in names.values() for name in given):
            raise CommandError("an entity has an empty name; use --user-default and such for defaults", ExitCode.USAGE)
        if names["ip"] and (names["user"] or names["client-id"]):
            message = "Kafka does not combine addresses with users and client ids; give --ip alone"
            raise CommandError(message, ExitCode.USAGE)
        return {entity_type: given for entity_type, given in names.items() if given}

    @property
    def entities(self) -> list[ClientQuotaEntity]:
        """All combinations of the names: each user with each client id."""
        by_type = self.by_type
        combined = product(*by_type.values())
        return [ClientQuotaEntity(dict(zip(by_type, names, strict=True))) for names in combined] if by_type else []

    @property
    def filters(self) -> list[ClientQuotaFilter]:
        """What finds the entities that have these parts, and perhaps others; all entities if nothing is named."""
        return [
            ClientQuotaFilter(
                tuple(
                    ClientQuotaFilterComponent.default(entity_type)
                    if name is None
                    else ClientQuotaFilterComponent.exact(entity_type, name)
                    for entity_type, name in entity.items()
                )
            )
            for entity in self.entities
        ] or [ClientQuotaFilter()]


def in_order(entity: ClientQuotaEntity) -> tuple[tuple[bool, str], ...]:
    """Users before addresses before client ids, each with the default last."""
    return tuple((name is None, name or "") for _, name in sorted(entity.items(), reverse=True))


def quota_row(entity: ClientQuotaEntity, quotas: Mapping[str, float]) -> QuotaRow:
    """The row of an entity."""
    parts = dict(sorted(entity.items(), reverse=True))
    return QuotaRow(item_in_words(entity), parts, dict(sorted(quotas.items())))
