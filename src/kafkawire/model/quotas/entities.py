"""Client quotas as data (KIP-546, with the ip entities of KIP-612)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Self, TypeAlias

import msgspec

from kafkawire.arguments.fields import check_argument, check_fields, is_plain
from kafkawire.model.tolerant_enums import TolerantEnum

USER = "user"
CLIENT_ID = "client-id"
IP = "ip"

PRODUCER_BYTE_RATE = "producer_byte_rate"
"""Bytes a second that each broker lets a client produce; a whole number."""

CONSUMER_BYTE_RATE = "consumer_byte_rate"
"""Bytes a second that each broker lets a client fetch; a whole number."""

REQUEST_PERCENTAGE = "request_percentage"
"""Per cent of one thread's time that each broker spends for a client."""

CONTROLLER_MUTATION_RATE = "controller_mutation_rate"
"""Partitions a second that a client may create and delete."""

CONNECTION_CREATION_RATE = "connection_creation_rate"
"""Connections a second that each broker accepts from an address; a whole number."""

CLIENT_KEYS = (PRODUCER_BYTE_RATE, CONSUMER_BYTE_RATE, REQUEST_PERCENTAGE, CONTROLLER_MUTATION_RATE)
"""The keys of users and clients (E13)."""

IP_KEYS = (CONNECTION_CREATION_RATE,)
"""The keys of addresses (E13)."""


_Parts: TypeAlias = Mapping[str, str | None]
_Values: TypeAlias = Mapping[str, float | None]

_NAME_OR_DEFAULT: frozenset[type] = frozenset({str, type(None)})
_VALUE_OR_NONE: frozenset[type] = frozenset({int, float, type(None)})


class ClientQuotaEntity(Mapping[str, str | None]):
    """Whom a quota is for: a mapping of ``user``, ``client-id`` or ``ip`` to a name, or to None for the default.

    ``ClientQuotaEntity(user="alice", client_id=None)`` is every client of alice for which nothing nearer is set, and
    the same as ``ClientQuotaEntity({"user": "alice", "client-id": None})``. The order of its parts does not matter.

    Args:
        parts: types and names. Any type is taken, since a newer broker may have more of them.
        user: name of the principal, without ``User:``; None is the default user. Without it no user is meant.
        client_id: a client id; None is the default. Without it no client id is meant.
        ip: an address; None is the default. Without it no address is meant.

    Raises:
        TypeError: if there is neither a mapping nor a name, or both, or one is not text.
    """

    __slots__ = ("_hash", "_parts")

    def __init__(
        self,
        parts: Mapping[str, str | None] | msgspec.UnsetType = msgspec.UNSET,
        *,
        user: str | msgspec.UnsetType | None = msgspec.UNSET,
        client_id: str | msgspec.UnsetType | None = msgspec.UNSET,
        ip: str | msgspec.UnsetType | None = msgspec.UNSET,
    ) -> None:
        if isinstance(parts, msgspec.UnsetType):
            names = {USER: user, CLIENT_ID: client_id, IP: ip}
            parts = {type_: name for type_, name in names.items() if not isinstance(name, msgspec.UnsetType)}
            if not parts:
                raise TypeError('ClientQuotaEntity: give a name, user="alice", or a mapping, {"user": "alice"}')
        elif user is not msgspec.UNSET or client_id is not msgspec.UNSET or ip is not msgspec.UNSET:
            raise TypeError("ClientQuotaEntity: give names or a mapping, not both")
        if not is_plain(parts, _NAME_OR_DEFAULT):
            check_argument("ClientQuotaEntity", "parts", parts, _Parts)
        self._parts = dict(sorted(parts.items()))
        self._hash = hash(tuple(self._parts.items()))

    @classmethod
    def of_user(cls, name: str | None) -> Self:
        """A user, or with None the default user. The name is that of the principal, without ``User:``."""
        return cls({USER: name})

    @classmethod
    def of_client(cls, client_id: str | None) -> Self:
        """A client id, or with None the default."""
        return cls({CLIENT_ID: client_id})

    @classmethod
    def of_user_and_client(cls, name: str | None, client_id: str | None) -> Self:
        """A client id of a user; None is the default of either."""
        return cls({USER: name, CLIENT_ID: client_id})

    @classmethod
    def of_ip(cls, address: str | None) -> Self:
        """An address, or with None the default."""
        return cls({IP: address})

    def __getitem__(self, entity_type: str) -> str | None:
        return self._parts[entity_type]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ClientQuotaEntity):
            return self._parts == other._parts
        return NotImplemented

    def __reduce__(self) -> tuple[type[Self], tuple[dict[str, str | None]]]:
        return type(self), (self._parts,)  # made again: hashes of texts differ from process to process

    def __repr__(self) -> str:
        return f"ClientQuotaEntity({self._parts!r})"


class QuotaMatch(TolerantEnum):
    """How a component of a filter is compared with the part of an entity (E1)."""

    EXACT = 0
    DEFAULT = 1
    ANY = 2


class ClientQuotaFilterComponent(msgspec.Struct, frozen=True):
    """What a filter asks of one part of an entity.

    Attributes:
        entity_type: ``user``, ``client-id`` or ``ip``.
        match_type: ``EXACT`` for the name, ``DEFAULT`` for the default, ``ANY`` for both: every name and the default.
        name: what ``EXACT`` compares with; otherwise None.
    """

    entity_type: str
    match_type: QuotaMatch = QuotaMatch.ANY
    name: str | None = None

    @classmethod
    def exact(cls, entity_type: str, name: str) -> ClientQuotaFilterComponent:
        """The entities of this name."""
        return cls(entity_type, QuotaMatch.EXACT, name)

    @classmethod
    def default(cls, entity_type: str) -> ClientQuotaFilterComponent:
        """The default entity."""
        return cls(entity_type, QuotaMatch.DEFAULT)

    @classmethod
    def any(cls, entity_type: str) -> ClientQuotaFilterComponent:
        """All entities that have this type, the default too."""
        return cls(entity_type, QuotaMatch.ANY)


class ClientQuotaFilter(msgspec.Struct, frozen=True):
    """Which entities are meant: those that agree with every component. By default all are.

    Attributes:
        components: at most one for each type.
        strict: whether entities with further parts are left out; a strict filter without components means nothing.

    Raises:
        TypeError: for a value of another type.
    """

    components: tuple[ClientQuotaFilterComponent, ...] = ()
    strict: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def of_entity(cls, entity: ClientQuotaEntity) -> ClientQuotaFilter:
        """The filter that finds this entity and no other.

        Example:
            ```python
            wanted = ClientQuotaFilter.of_entity(ClientQuotaEntity(user="billing"))
            print((await admin.describe_client_quotas([wanted]))[wanted])
            ```
        """
        return cls(
            tuple(
                ClientQuotaFilterComponent.default(entity_type)
                if name is None
                else ClientQuotaFilterComponent.exact(entity_type, name)
                for entity_type, name in entity.items()
            ),
            strict=True,
        )


class ClientQuotaAlteration:
    """What is to change for an entity.

    Args:
        entity: whose quotas.
        values: the new value of each key, or None to remove it; keys that are not named stay as they are.

    Raises:
        TypeError: for a value of another type.
    """

    __slots__ = ("entity", "values")

    def __init__(self, entity: ClientQuotaEntity, values: Mapping[str, float | None]) -> None:
        if type(entity) is not ClientQuotaEntity or not is_plain(values, _VALUE_OR_NONE):
            check_argument("ClientQuotaAlteration", "entity", entity, ClientQuotaEntity)
            check_argument("ClientQuotaAlteration", "values", values, _Values)
        self.entity = entity
        self.values: Mapping[str, float | None] = MappingProxyType(dict(values))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ClientQuotaAlteration):
            return self.entity == other.entity and self.values == other.values
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.entity, frozenset(self.values.items())))

    def __reduce__(self) -> tuple[type[Self], tuple[ClientQuotaEntity, dict[str, float | None]]]:
        return type(self), (self.entity, dict(self.values))

    def __repr__(self) -> str:
        return f"ClientQuotaAlteration({self.entity!r}, {dict(self.values)!r})"
