"""What a change of quotas means: whom it affects, and the limits that hold for them before and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kafkawire.arguments.checks import checked
from kafkawire.model.quotas.effective import precedence
from kafkawire.model.quotas.entities import CLIENT_ID, IP, USER, ClientQuotaEntity
from kafkawire.model.selections import EVERY, Selection

_Described = Mapping[ClientQuotaEntity, Mapping[str, float]]
_Limit = tuple[float | None, ClientQuotaEntity | None]
"""A value, and the entity that has it."""

_UNNAMED: Final = "\0"
"""Equal to no name of an entity."""


class QuotaEffect(msgspec.Struct, frozen=True, kw_only=True):
    """A limit that changes for some clients, or for some addresses.

    Attributes:
        key: which quota.
        users, client_ids: whose clients; None for a quota of addresses.
        addresses: which addresses; None for a quota of clients.
        before: the limit before; None for none.
        before_entity: the entity that had it.
        after: the limit after; None for none.
        after_entity: the entity that has it.
    """

    key: str
    users: Selection | None = None
    client_ids: Selection | None = None
    addresses: Selection | None = None
    before: float | None
    before_entity: ClientQuotaEntity | None
    after: float | None
    after_entity: ClientQuotaEntity | None


@checked
def quota_effects(
    before: Mapping[ClientQuotaEntity, Mapping[str, float]], after: Mapping[ClientQuotaEntity, Mapping[str, float]]
) -> list[QuotaEffect]:
    """For whom limits change if the quotas of a cluster change, as Kafka's own callback resolves them.

    All users, client ids or addresses without quotas of their own are one. The change of a quota that others
    override for everyone is not in the result.

    Args:
        before: all quotas of the cluster before the change.
        after: all quotas after it.

    Example:
        ```python
        from kafkawire.admin import ClientQuotaEntity, quota_effects, quota_effects_in_words

        default = {ClientQuotaEntity(user=None): {"producer_byte_rate": 1000.0}}
        change = quota_effects(default, {**default, ClientQuotaEntity(user="alice"): {"producer_byte_rate": 5000.0}})
        assert quota_effects_in_words(change) == [
            "user alice: producer_byte_rate 1000 (default user) → 5000 (its own)"
        ]
        ```
    """
    changed: dict[str, set[ClientQuotaEntity]] = {}
    for entity in before.keys() | after.keys():
        old, new = before.get(entity, {}), after.get(entity, {})
        for key in old.keys() | new.keys():
            if old.get(key) != new.get(key):
                changed.setdefault(key, set()).add(entity)
    found: list[QuotaEffect] = []
    for key in sorted(changed):
        of_key = [{entity: values[key] for entity, values in each.items() if key in values} for each in (before, after)]
        found += _OfClients(key, of_key[0], of_key[1]).effects(changed[key])
        found += _of_addresses(key, of_key[0], of_key[1])
    return found


class _OfClients:
    """The limits of a key for users and client ids."""

    def __init__(
        self, key: str, before: Mapping[ClientQuotaEntity, float], after: Mapping[ClientQuotaEntity, float]
    ) -> None:
        self._key = key
        self._sets = (before, after)
        self._own: dict[str, set[str]] = {}
        """User to the client ids that have a quota with it."""
        self._shared: set[str] = set()
        """Client ids that have a quota without a user, or with the default one."""
        self._alone: set[str] = set()
        """Users whose own quotas leave nothing to others, before and after."""
        for entity in before.keys() | after.keys():
            user, client_id = entity.get(USER), entity.get(CLIENT_ID)
            if user is not None:
                self._own.setdefault(user, set())
                if client_id is not None:
                    self._own[user].add(client_id)
                elif entity in before and entity in after:
                    self._alone.add(user)
            elif client_id is not None:
                self._shared.add(client_id)

    def effects(self, changed: Iterable[ClientQuotaEntity]) -> Iterator[QuotaEffect]:
        """The limits that change if some entities do."""
        of_clients = [entity for entity in changed if IP not in entity]
        named = {user for user in (entity.get(USER) for entity in of_clients) if user is not None}
        if any(entity.get(USER) is None for entity in of_clients):
            named |= self._own.keys() - self._alone
            yield from self._of_users(_UNNAMED, Selection(tuple(sorted(self._own)), others=True), self._shared)
        for user in sorted(named):
            others = frozenset[str]() if user in self._alone else self._shared
            yield from self._of_users(user, Selection((user,)), self._own[user] | others)

    def _of_users(self, user: str, users: Selection, client_ids: Iterable[str]) -> Iterator[QuotaEffect]:
        others = self._limits(user, _UNNAMED)
        differing: dict[tuple[_Limit, _Limit], list[str]] = {}
        for client_id in sorted(client_ids):
            limits = self._limits(user, client_id)
            if limits != others:
                differing.setdefault(limits, []).append(client_id)
        excepted = tuple(sorted(name for names in differing.values() for name in names))
        for limits, parties in [
            (others, Selection(excepted, others=True)),
            *((each, Selection(tuple(names))) for each, names in differing.items()),
        ]:
            (before, before_entity), (after, after_entity) = limits
            if before != after:
                yield QuotaEffect(
                    key=self._key,
                    users=users,
                    client_ids=parties,
                    before=before,
                    before_entity=before_entity,
                    after=after,
                    after_entity=after_entity,
                )

    def _limits(self, user: str, client_id: str) -> tuple[_Limit, _Limit]:
        entities = [entity for entity, _ in precedence(user, client_id)]
        before, after = self._sets
        return _first(entities, before), _first(entities, after)


def _first(entities: Sequence[ClientQuotaEntity], values: Mapping[ClientQuotaEntity, float]) -> _Limit:
    for entity in entities:
        if entity in values:
            return values[entity], entity
    return None, None


def _of_addresses(
    key: str, before: Mapping[ClientQuotaEntity, float], after: Mapping[ClientQuotaEntity, float]
) -> Iterator[QuotaEffect]:
    names = sorted({name for entity in before.keys() | after.keys() if (name := entity.get(IP)) is not None})
    for name in [_UNNAMED, *names]:
        entities = [ClientQuotaEntity.of_ip(name), ClientQuotaEntity.of_ip(None)]
        (old, old_entity), (new, new_entity) = _first(entities, before), _first(entities, after)
        if old != new:
            yield QuotaEffect(
                key=key,
                addresses=Selection(tuple(names), others=True) if name == _UNNAMED else Selection((name,)),
                before=old,
                before_entity=old_entity,
                after=new,
                after_entity=new_entity,
            )


def quota_effects_in_words(effects: Iterable[QuotaEffect], *, longest: int = 3) -> list[str]:
    """A sentence for each group of effects that differ only in the name of the user or of the address.

    Args:
        effects: what `quota_effects` returns.
        longest: how many names a list has at most; it says how many more there are.
    """
    groups: dict[tuple[str, Selection | None, str, str, bool], list[QuotaEffect]] = {}
    for effect in effects:
        before = _limit(effect, effect.before, effect.before_entity)
        after = _limit(effect, effect.after, effect.after_entity)
        is_of_all = _subjects(effect).others
        groups.setdefault((effect.key, effect.client_ids, before, after, is_of_all), []).append(effect)
    found = []
    for (key, client_ids, before, after, is_of_all), alike in groups.items():
        names = tuple(name for effect in alike for name in _subjects(effect).names)
        noun = ("address", "addresses") if alike[0].users is None else ("user", "users")
        who = _selected(*noun, Selection(names, is_of_all), longest)
        if client_ids is not None and client_ids != EVERY:
            who += f" with {_selected('client id', 'client ids', client_ids, longest)}"
        found.append(f"{who}: {key} {before} → {after}")
    return found


def _subjects(effect: QuotaEffect) -> Selection:
    return effect.addresses or effect.users or EVERY


def _limit(effect: QuotaEffect, value: float | None, entity: ClientQuotaEntity | None) -> str:
    """A limit and the entity that has it, in which the only name of the effect is ``its own``."""
    if value is None or entity is None:
        return "no limit"
    subjects = _subjects(effect)
    number = str(int(value)) if value.is_integer() else str(value)
    parts = []
    for kind in (USER, CLIENT_ID, IP):
        if kind in entity:
            name = entity[kind]
            is_own = kind != CLIENT_ID and not subjects.others and name is not None
            parts.append(f"default {kind}" if name is None else "its own" if is_own else f"{kind} {name}")
    return f"{number} ({', '.join(parts)})"


def _selected(noun: str, plural: str, selection: Selection, longest: int) -> str:
    shown = ", ".join(selection.names[:longest])
    if len(selection.names) > longest:
        shown += f" and {len(selection.names) - longest} more"
    if not selection.others:
        return f"{noun if len(selection.names) == 1 else plural} {shown}"
    return f"all {plural}" + (f" except {shown}" if selection.names else "")
