"""What a change of quotas means: whom it affects, and which limits hold for them then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from kafkawire.declared.wording import number_in_words
from kafkawire.model.quotas.entities import CLIENT_ID, IP, USER, ClientQuotaEntity

Quotas: TypeAlias = Mapping[ClientQuotaEntity, Mapping[str, float | None]]

_NAMED: Final = 3
_NAME: Final = "\0"
"""In a sentence: the place of names."""

_Shape: TypeAlias = frozenset[tuple[str, bool]]
"""The types of an entity, and whether each is named."""


class _Effect(NamedTuple):
    """What several entities have in common."""

    subject: str
    key: str
    before: str
    after: str
    exceptions: int
    nearer: str


def quota_effects(before: Quotas, after: Quotas) -> list[str]:
    """What a change of the quotas of a cluster means, a sentence for each group of entities that it means the same for.

    Args:
        before, after: all quotas before and after the change.

    Example:
        ```python
        from kafkawire.admin import ClientQuotaEntity
        from kafkawire.declared import quota_effects

        alice, others = ClientQuotaEntity(user="alice"), ClientQuotaEntity(user=None)
        before = {alice: {"producer_byte_rate": 2048.0}, others: {"producer_byte_rate": 512.0}}
        assert quota_effects(before, {others: {"producer_byte_rate": 512.0}}) == [
            "user alice: producer_byte_rate is 512 (of the default user), was 2048"
        ]
        ```
    """
    nearer = _Nearer(after)
    names_of: dict[_Effect, list[str]] = {}
    for entity in sorted({*before, *after}, key=lambda each: repr(sorted(each.items(), key=repr))):
        old, new = before.get(entity, {}), after.get(entity, {})
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                effect, name = _effect(entity, key, before, after, nearer)
                names_of.setdefault(effect, []).append(name)
    return [_sentence(effect, names) for effect, names in names_of.items()]


def _effect(entity: ClientQuotaEntity, key: str, before: Quotas, after: Quotas, nearer: _Nearer) -> tuple[_Effect, str]:
    subject, name = _subject(entity)
    exceptions, what = nearer.of(entity, key)
    return _Effect(subject, key, _limit(entity, key, before), _limit(entity, key, after), exceptions, what), name


def _sentence(effect: _Effect, names: list[str]) -> str:
    subject = effect.subject.replace(_NAME, _names(names))
    if effect.before == effect.after:
        change = f"{effect.key} stays {effect.after}"
    else:
        change = f"{effect.key} is {effect.after}, was {effect.before}"
    exceptions = f"; not for {effect.exceptions} {effect.nearer}" if effect.exceptions else ""
    return f"{subject}: {change}{exceptions}"


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _subject(entity: ClientQuotaEntity) -> tuple[str, str]:
    """An entity in words, with a place for its name."""
    types = set(entity)
    if types == {USER, CLIENT_ID}:
        user, client = entity[USER], entity[CLIENT_ID]
        if user is None:
            of = "each user without quotas of its own"
            return (f"each client id of {of}", "") if client is None else (f"client id {_NAME} of {of}", client)
        return (f"each client id of user {_NAME}", user) if client is None else (
            f"client id {client} of user {_NAME}", user,
        )  # fmt: skip
    (type_,) = types if len(types) == 1 else ("entity",)
    name = entity.get(type_)
    word = {CLIENT_ID: "client id", IP: "address"}.get(type_, type_)
    return (f"each {word} without quotas of its own", "") if name is None else (f"{word} {_NAME}", name)


def _limit(entity: ClientQuotaEntity, key: str, quotas: Quotas) -> str:
    """The limit that holds for an entity: its own, or that of the nearest entity that covers all of it."""
    own = quotas.get(entity, {}).get(key)
    if own is not None:
        return number_in_words(own)
    for wider in _wider(entity):
        value = quotas.get(wider, {}).get(key)
        if value is not None:
            return f"{number_in_words(value)} (of {_owner(wider)})"
    return "unlimited"


def _owner(entity: ClientQuotaEntity) -> str:
    words = {USER: "user", CLIENT_ID: "client id", IP: "address"}
    parts = [
        f"the default {words.get(type_, type_)}" if name is None else f"{words.get(type_, type_)} {name}"
        for type_, name in entity.items()
    ]
    return " of ".join(parts)


def _wider(entity: ClientQuotaEntity) -> Iterator[ClientQuotaEntity]:
    """The entities that cover all of an entity, the nearest first, as Kafka's precedence has them."""
    if IP in entity:
        if entity[IP] is not None:
            yield ClientQuotaEntity.of_ip(None)
        return
    users = dict.fromkeys((entity[USER], None)) if USER in entity else {None: None}
    clients = dict.fromkeys((entity[CLIENT_ID], None)) if CLIENT_ID in entity else {None: None}
    found: list[ClientQuotaEntity] = []
    for user in users:
        found += (ClientQuotaEntity.of_user_and_client(user, client) for client in clients)
        found.append(ClientQuotaEntity.of_user(user))
    found += map(ClientQuotaEntity.of_client, clients)
    at = found.index(entity)
    yield from found[at + 1 :]


class _Nearer:
    """How many entities have quotas that come before those of a wider one."""

    def __init__(self, quotas: Quotas) -> None:
        self._clients_of: Counter[tuple[str | None, str]] = Counter()
        self._named: Counter[tuple[_Shape, str]] = Counter()
        for entity, values in quotas.items():
            for key, value in values.items():
                if value is None:
                    continue
                if set(entity) == {USER, CLIENT_ID}:
                    self._clients_of[entity[USER], key] += 1
                self._named[_shape(entity), key] += 1

    def of(self, entity: ClientQuotaEntity, key: str) -> tuple[int, str]:
        """How many, and what they are."""
        types = set(entity)
        if types == {USER} and entity[USER] is not None:
            return self._clients_of[entity[USER], key], "of its client ids, which have quotas of their own"
        if len(types) == 1 and entity[next(iter(types))] is None:
            (type_,) = types
            what = {USER: "users", CLIENT_ID: "client ids", IP: "addresses"}.get(type_, type_)
            return self._named[frozenset({(type_, True)}), key], f"{what} with quotas of their own"
        return 0, ""


def _shape(entity: ClientQuotaEntity) -> _Shape:
    return frozenset((type_, name is not None) for type_, name in entity.items())
