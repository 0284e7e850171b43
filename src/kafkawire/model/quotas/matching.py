"""Which quota entities a filter matches: E1 to E5, as brokers decide it (KIP-546)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkawire.arguments.checks import checked
from kafkawire.model.quotas.entities import ClientQuotaEntity, ClientQuotaFilter, ClientQuotaFilterComponent, QuotaMatch

_Shape = tuple[bool, tuple[tuple[str, QuotaMatch], ...]]
_Names = tuple[str | None, ...]


def matches(wanted: ClientQuotaFilter, entity: ClientQuotaEntity) -> bool:
    """Whether a filter matches an entity."""
    if wanted.strict and len(entity) != len(wanted.components):
        return False
    return all(_agrees(component, entity) for component in wanted.components)


def _agrees(component: ClientQuotaFilterComponent, entity: ClientQuotaEntity) -> bool:
    if component.entity_type not in entity:
        return False
    name = entity[component.entity_type]
    match component.match_type:
        case QuotaMatch.EXACT:
            return name is not None and name == component.name
        case QuotaMatch.DEFAULT:
            return name is None
        case _:
            return component.match_type is QuotaMatch.ANY


class QuotaIndex:
    """An index of entities for many filters: equal to `matches` on each entity, without comparing each.

    The first filter of a form costs one pass over the entities, further ones that differ from it only in names cost
    only their results.

    Args:
        entities: the entities; answers keep their order.

    Example:
        ```python
        quotas = (await admin.describe_client_quotas()).union()
        index = QuotaIndex(quotas)
        for entity in index.matching(ClientQuotaFilter((ClientQuotaFilterComponent.any("user"),))):
            print(dict(entity), dict(quotas[entity]))
        ```
    """

    @checked
    def __init__(self, entities: Iterable[ClientQuotaEntity]) -> None:
        self.entities: Sequence[ClientQuotaEntity] = tuple(entities)
        self._by_shape: dict[_Shape, dict[_Names, list[ClientQuotaEntity]]] = {}

    def matching(self, wanted: ClientQuotaFilter) -> list[ClientQuotaEntity]:
        """The entities that a filter matches."""
        shape = (wanted.strict, tuple((c.entity_type, c.match_type) for c in wanted.components))
        by_names = self._by_shape.get(shape)
        if by_names is None:
            by_names = self._by_shape[shape] = self._of_shape(wanted)
        names = tuple(c.name for c in wanted.components if c.match_type is QuotaMatch.EXACT)
        return list(by_names.get(names, ())) if None not in names else []

    def _of_shape(self, wanted: ClientQuotaFilter) -> dict[_Names, list[ClientQuotaEntity]]:
        exact = [c.entity_type for c in wanted.components if c.match_type is QuotaMatch.EXACT]
        others = [c for c in wanted.components if c.match_type is not QuotaMatch.EXACT]
        found: dict[_Names, list[ClientQuotaEntity]] = {}
        for entity in self.entities:
            if wanted.strict and len(entity) != len(wanted.components):
                continue
            if all(entity_type in entity for entity_type in exact) and all(_agrees(c, entity) for c in others):
                found.setdefault(tuple(entity[entity_type] for entity_type in exact), []).append(entity)
        return found
