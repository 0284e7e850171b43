"""``kafkawire quotas list`` and ``describe``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafkawire.admin import ClientQuotaEntity, ClientQuotaFilter, Results
from kafkawire.cli.access.changes import failures_printed
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.items import FromOption, given_items
from kafkawire.cli.quotas.entities import (
    EntityOptions,
    QuotaItem,
    QuotaRow,
    in_order,
    item_of_user,
    quota_row,
)
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.declared.wording import item_in_words
from kafkawire.protocol.errors import ResourceNotFoundError

_EMPTY: Final = "no quotas"


@cluster_command
def list_(
    cluster: Cluster,
    *,
    named: EntityOptions,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """List quotas: all, or those of entities that have the parts that the options name, and perhaps others."""
    filters = named.filters
    with cluster.connected() as client:
        found = client.describe_client_quotas(filters, timeout=cluster.options.timeout).union()
    rows = [quota_row(entity, found[entity]) for entity in sorted(found, key=in_order)]
    print_rows(rows, QuotaRow, output, empty=_EMPTY)


@cluster_command
def describe(
    cluster: Cluster,
    *,
    named: EntityOptions,
    file: FromOption = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Describe the quotas of just the entities that are named, or of all. quotas set --from reads -o json and yaml.

    A name on a line of --from is a user.
    """
    wanted = named.entities
    items = given_items(file, QuotaItem, item_of_user) if file else []
    wanted = list(dict.fromkeys([*wanted, *(ClientQuotaEntity(each.entity) for each in items)]))
    filters = [ClientQuotaFilter.of_entity(each) for each in wanted] or [ClientQuotaFilter()]
    with cluster.connected() as client:
        described = client.describe_client_quotas(filters, timeout=cluster.options.timeout).union()
    outcomes = {
        item_in_words(each): described.get(each) or ResourceNotFoundError("it has no quotas") for each in wanted
    }
    listed = [each for each in wanted if each in described] if wanted else sorted(described, key=in_order)
    with failures_printed(Results[str, Mapping[str, float]](outcomes)):
        print_rows([quota_row(each, described[each]) for each in listed], QuotaRow, output, empty=_EMPTY)
