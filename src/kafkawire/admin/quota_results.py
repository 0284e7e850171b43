"""The results of calls for many filters of quotas."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from kafkawire.admin.results import Results
from kafkawire.model.quotas.entities import ClientQuotaEntity, ClientQuotaFilter

QuotaValues = Mapping[str, float]
"""The quotas of an entity: key to value."""


class DescribedQuotas(Results[ClientQuotaFilter, Mapping[ClientQuotaEntity, QuotaValues]]):
    """The entities that each filter means, and the quotas that are set for them."""

    __slots__ = ()

    def union(self) -> dict[ClientQuotaEntity, QuotaValues]:
        """The entities of all filters, each once (F8).

        Raises:
            ExceptionGroup: of every error, if a filter has one.

        Example:
            ```python
            results = await admin.describe_client_quotas()
            for entity, quotas in results.union().items():
                print(dict(entity), dict(quotas))
            ```
        """
        return {entity: values for described in self.all().values() for entity, values in described.items()}

    def entities(self) -> dict[ClientQuotaEntity, QuotaValues]:
        """The same as `union`, by the name that KIP-888 deprecates.

        Deprecated: call `values` for the entities of each filter, or `union` for those of all.

        Raises:
            ExceptionGroup: of every error, if a filter has one.
        """
        message = "entities() is deprecated (KIP-888): call values() for each filter, or union() for all of them"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.union()
