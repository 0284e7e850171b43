"""What calls with filters give back: an outcome for each filter, and all that was found together (KIP-140, KIP-888)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from kafkawire.admin.results import Results
from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter
from kafkawire.model.quotas.entities import ClientQuotaEntity, ClientQuotaFilter
from kafkawire.wire.kafka_errors import KafkaError

QuotaValues = Mapping[str, float]
"""The quotas of an entity: key to value."""


class DescribedAcls(Results[AclBindingFilter, tuple[AclBinding, ...]]):
    """The ACLs that each filter means, sorted: equal ACLs give equal results, however they were come by (F6, F7)."""

    __slots__ = ()

    def all_values(self) -> dict[AclBindingFilter, tuple[AclBinding, ...] | KafkaError]:
        """Every filter to its ACLs, or to what went wrong (KIP-888)."""
        return dict(self.items())

    def union(self) -> tuple[AclBinding, ...]:
        """The ACLs of all filters, each once (F8).

        Raises:
            ExceptionGroup: of every error, if a filter has one.
        """
        return tuple(sorted(set(chain.from_iterable(self.all().values()))))


class DeletedAcls(Results[AclBindingFilter, Results[AclBinding, None]]):
    """The ACLs that each filter meant: those that were deleted, and those that could not be (A20).

    ``results[wanted].values()`` has the deleted ones as its keys, ``results[wanted].errors()`` why the others were not.
    """

    __slots__ = ()

    def all(self) -> dict[AclBindingFilter, Results[AclBinding, None]]:
        """The outcomes of all filters.

        Raises:
            ExceptionGroup: of every error, of filters and of ACLs; a note of each names what it is about.
        """
        outcomes: dict[AclBindingFilter | AclBinding, object] = dict(self.items())
        for of_filter in self.values().values():
            outcomes.update(of_filter.items())
        Results(outcomes).all()
        return self.values()

    def deleted(self) -> tuple[AclBinding, ...]:
        """Every ACL that was deleted, once, whatever became of others."""
        return tuple(sorted({acl for of_filter in self.values().values() for acl in of_filter.values()}))


class DescribedQuotas(Results[ClientQuotaFilter, Mapping[ClientQuotaEntity, QuotaValues]]):
    """The entities that each filter means, and the quotas that are set for them."""

    __slots__ = ()

    def union(self) -> dict[ClientQuotaEntity, QuotaValues]:
        """The entities of all filters, each once (F8).

        Raises:
            ExceptionGroup: of every error, if a filter has one.
        """
        return {entity: values for described in self.all().values() for entity, values in described.items()}
