"""The results of calls for many filters of ACLs."""

from __future__ import annotations

from itertools import chain

from kafkawire.admin.results import Results
from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter
from kafkawire.wire.kafka_errors import KafkaError


class DescribedAcls(Results[AclBindingFilter, tuple[AclBinding, ...]]):
    """The ACLs that each filter matches, sorted: equal ACLs give equal results, however they were fetched (F6, F7)."""

    __slots__ = ()

    def all_values(self) -> dict[AclBindingFilter, tuple[AclBinding, ...] | KafkaError]:
        """Every filter to its ACLs, or to what went wrong (KIP-888)."""
        return dict(self.items())

    def union(self) -> tuple[AclBinding, ...]:
        """The ACLs of all filters, each once (F8).

        Raises:
            ExceptionGroup: of every error, if a filter has one.

        Example:
            ```python
            results = await admin.describe_acls(
                [AclBindingFilter(principal="User:billing"), AclBindingFilter(ResourceType.TOPIC, "orders")]
            )
            for acl in results.union():
                print(acl.principal, acl.permission_type, acl.operation, acl.resource_name)
            ```
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
        """Every ACL that was deleted, once.

        Example:
            ```python
            results = await admin.delete_acls([AclBindingFilter(principal="User:billing")])
            print(len(results.deleted()), "ACLs deleted")
            ```
        """
        return tuple(sorted({acl for of_filter in self.values().values() for acl in of_filter.values()}))
